package io.keyroute.bench

import java.util.concurrent.TimeUnit

import scala.util.Random

import org.openjdk.jmh.annotations._

import io.keyroute.core.table.KeyTable

/** The look-up that each routed row pays; half of the keys have an entry. */
@State(Scope.Thread)
@BenchmarkMode(Array(Mode.AverageTime))
@OutputTimeUnit(TimeUnit.NANOSECONDS)
class KeyTableBench {

  @Param(Array("1000", "1000000"))
  var entries: Int = _

  private var table: KeyTable = _
  private var probes: Array[Long] = _
  private var next = 0

  @Setup
  def setUp(): Unit = {
    val random = new Random(7)
    val fingerprints = Array.fill(entries)(random.nextLong()).distinct.sorted
    table = KeyTable.build(fingerprints, fingerprints.map(_ => random.nextInt(64)))
    probes = Array.tabulate(1 << 16) { i =>
      if (i % 2 == 0) fingerprints(random.nextInt(fingerprints.length)) else random.nextLong()
    }
  }

  @Benchmark
  def lookup(): Int = {
    next = (next + 1) & (probes.length - 1)
    table.lookup(probes(next))
  }
}
