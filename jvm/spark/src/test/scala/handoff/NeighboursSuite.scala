package org.apache.spark.sql.keyroute.handoff

import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.functions.{count, lit}

/** Scenario 7: what has state and nothing to route goes on beside an operator whose table is in force:
  * a check that every store must have been planned for would stop it. */
class NeighboursSuite extends SwitchCells {
  import SwitchTest.spark

  private val Limit = 75

  private def beside(name: String, mode: String)(neighbour: DataFrame => DataFrame)(
      model: (Int, Int) => Seq[String]
  ): Workload = Workload(
    name,
    mode,
    rocksDbOnly = false,
    in => neighbour(Workloads.deduplication.query(in)),
    () => {
      val fresh = Workloads.deduplication.model()
      var before = 0
      events => {
        val now = fresh(events).size
        before += now
        model(before, now)
      }
    }
  )

  private val workloads = Seq(
    beside("a global aggregate", "complete")(_.groupBy().agg(count(lit(1)))) { (all, _) =>
      Seq(s"[$all]")
    },
    beside("a global limit", "append")(_.limit(Limit).selectExpr("1")) { (all, now) =>
      Seq.fill(math.max(0, math.min(now, Limit - (all - now))))("[1]")
    },
    beside("one partition", "append")(_.coalesce(1))((_, _) => Nil)
      .copy(model = Workloads.deduplication.model)
  )

  for {
    workload <- workloads
    storage <- Seq(Storage.plain, Storage.hdfs)
  } test(s"${workload.name} behind a routed operator, through a switch and a restart, $storage") {
    val query = new TestQuery(workload, storage)
    query.start()
    query.feed(2)
    TestDesk.want(TestTables.random(7L, Workloads.Keys))
    query.feed(2)
    assert(TestDesk.switches.map(s => (s.batch, s.toVersion)) == Seq((2L, 7L)))
    assert(TestDesk.switches.head.rowsMoved > 0)
    // A reader of state has no plan of a batch, and needs none.
    val rows = spark.read.format("statestore").option("operatorId", routed)
      .load(query.checkpoint.toString).count()
    assert(rows >= Workloads.Keys.size)
    query.stop()
    TestDesk.wantNothing()
    query.start()
    query.feed(1)
    query.stop()
    assert(query.wrong == Nil)
  }

  private def routed: String =
    TestDesk.started.head.groups.head.operators.head.toString

  test("n = 1 under a coalesce: there is one place for all, with and without a table") {
    val workload = Workloads.deduplication.copy(query =
      in =>
        in.coalesce(1).selectExpr("if(v % 6 = 0, concat(k, '-', v), k) as k").dropDuplicates("k")
    )
    val before = spark.conf.get("spark.sql.shuffle.partitions")
    spark.conf.set("spark.sql.shuffle.partitions", "1")
    try {
      val query = new TestQuery(workload, Storage.plain)
      query.start()
      query.feed(2)
      TestDesk.want(TestTables.random(7L, Workloads.Keys))
      query.feed(2)
      query.stop()
      TestDesk.wantNothing()
      query.start()
      query.feed(1)
      query.stop()
      assert(query.wrong == Nil)
      assert(TestDesk.switches.map(s => (s.toVersion, s.rowsMoved)) == Seq((7L, 0L)))
    } finally spark.conf.set("spark.sql.shuffle.partitions", before)
  }
}
