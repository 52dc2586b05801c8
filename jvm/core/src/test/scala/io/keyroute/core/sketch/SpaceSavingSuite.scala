package io.keyroute.core.sketch

import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

import io.keyroute.proto.v1.{KeySketch, PairSketch}

class SpaceSavingSuite extends AnyFunSuite with ScalaCheckPropertyChecks {

  implicit override val generatorDrivenConfig: PropertyCheckConfiguration =
    PropertyCheckConfiguration(minSuccessful = 300, sizeRange = 400)

  private type Offers = List[(Long, Long)]

  /** Skewed keys, some of them heavy, some weights above 1. */
  private val genOffers: Gen[Offers] = Gen.listOf(for {
    range <- Gen.oneOf(3L, 20L, 200L, Long.MaxValue)
    key <- Gen.chooseNum(0L, range)
    weight <- Gen.frequency(9 -> Gen.const(1L), 1 -> Gen.chooseNum(1L, 50L))
  } yield key -> weight)

  private val genCapacity: Gen[Int] = Gen.oneOf(Gen.chooseNum(1, 12), Gen.chooseNum(1, 300))

  private def sketchOf(capacity: Int, offers: Offers): LongSpaceSaving = {
    val sketch = new LongSpaceSaving(capacity)
    offers.foreach { case (key, weight) => sketch.offer(key, weight) }
    sketch
  }

  private def merged(left: LongSpaceSaving, right: LongSpaceSaving): LongSpaceSaving = {
    val sum = LongSpaceSaving.fromProto(left.toProto)
    sum.merge(right)
    sum
  }

  private def truth(offers: Offers): Map[Long, Long] = offers.groupMapReduce(_._1)(_._2)(_ + _)

  /** All that SpaceSaving promises about a stream. */
  private def assertLaws(sketch: LongSpaceSaving, offers: Offers): Unit =
    assertLaws(sketch, truth(offers))

  private def assertLaws(sketch: LongSpaceSaving, exact: Map[Long, Long]): Unit = {
    val entries = sketch.entries
    assert(sketch.rows === exact.values.sum)
    assert(entries.size === sketch.size)
    assert(entries.size <= SketchSize.mostTold(sketch.capacity))
    assert(entries.map(_.key).distinct.size === entries.size)
    // Sums as large as they may be: floor * m and all counts above it.
    assert(BigInt(sketch.floor) * sketch.capacity +
      entries.map(e => BigInt(math.max(e.count - sketch.floor, 0))).sum <= sketch.rows)
    assert(entries.map(e => e.count - e.error).sum <= sketch.rows)
    entries.lazyZip(entries.drop(1)).foreach((a, b) => assert(a.count >= b.count))
    entries.foreach { e =>
      val count = exact.getOrElse(e.key, 0L)
      assert(e.count - e.error <= count && count <= e.count, s"true count $count of $e")
      assert(e.error >= 0 && e.error < e.count && e.error <= sketch.floor)
    }
    val counted = entries.map(_.key).toSet
    exact.foreach { case (key, count) =>
      val mustBeThere = BigInt(count) * sketch.capacity > sketch.rows
      assert(!mustBeThere || counted(key), s"$key with $count of ${sketch.rows} rows is missing")
      assert(count <= sketch.floor || counted(key), s"$key with $count is above ${sketch.floor}")
    }
  }

  test("counts are bounded and heavy keys are there") {
    forAll(genCapacity, genOffers) { (m, offers) => assertLaws(sketchOf(m, offers), offers) }
  }

  test("below its capacity it is exact") {
    forAll(genOffers) { offers =>
      val exact = truth(offers)
      val sketch = sketchOf(math.max(exact.size, 1), offers)
      assert(sketch.entries.map(e => e.key -> e.count).toMap === exact)
      assert(sketch.entries.forall(_.error == 0))
    }
  }

  test("a merge keeps the bounds of the joined streams, and so does what is offered after it") {
    forAll(genCapacity, genOffers, genOffers, genOffers) { (m, first, second, third) =>
      val sum = merged(sketchOf(m, first), sketchOf(m, second))
      assertLaws(sum, first ++ second)
      third.foreach { case (key, weight) => sum.offer(key, weight) }
      assertLaws(sum, first ++ second ++ third)
    }
  }

  test("sketches of different capacities merge within the bounds of the smaller") {
    forAll(genCapacity, genCapacity, genOffers, genOffers) { (m, k, first, second) =>
      val sum = merged(sketchOf(m, first), sketchOf(k, second))
      assert(sum.capacity === m || sum.capacity === math.min(m, k))
      assertLaws(sum, first ++ second)
    }
  }

  test("merging commutes and associates within the bounds") {
    forAll(genCapacity, genOffers, genOffers, genOffers) { (m, first, second, third) =>
      val (a, b, c) = (sketchOf(m, first), sketchOf(m, second), sketchOf(m, third))
      val all = first ++ second ++ third
      Seq(merged(merged(a, b), c), merged(a, merged(b, c)), merged(merged(c, a), b))
        .foreach(assertLaws(_, all))
    }
  }

  test("where nothing is forgotten, merging commutes and associates exactly") {
    forAll(genOffers, genOffers, genOffers) { (first, second, third) =>
      val (a, b, c) = (sketchOf(2000, first), sketchOf(2000, second), sketchOf(2000, third))
      assert(merged(a, b).entries === merged(b, a).entries)
      assert(merged(merged(a, b), c).entries === merged(a, merged(b, c)).entries)
      assert(merged(a, b).entries === sketchOf(2000, first ++ second).entries)
    }
  }

  test("a merge leaves the other alone, and a sketch may be merged with itself") {
    forAll(genCapacity, genOffers) { (m, offers) =>
      val (sketch, other) = (sketchOf(m, offers), sketchOf(m, offers))
      val before = other.toProto
      sketch.merge(other)
      assert(other.toProto === before)
      other.merge(other)
      assertLaws(other, offers ++ offers)
    }
  }

  test("a sketch goes through its message and back, and counts on as before") {
    forAll(genCapacity, genOffers, genOffers) { (m, offers, later) =>
      val sketch = sketchOf(m, offers)
      val copy = LongSpaceSaving.fromProto(KeySketch.parseFrom(sketch.toProto.toByteArray))
      assert(copy.toProto === sketch.toProto)
      assert(copy.entries === sketch.entries)
      later.foreach { case (key, weight) => copy.offer(key, weight) }
      assertLaws(copy, offers ++ later)
    }
  }

  test("the slot of a key goes with it: through eviction, merges, cuts and messages") {
    def slotOf(key: Long): Int = Math.floorMod(key * 31, 1024)
    forAll(genCapacity, genOffers, genOffers, Gen.chooseNum(1, 20)) { (m, first, second, most) =>
      def slotted(offers: Offers): LongSpaceSaving = {
        val sketch = new LongSpaceSaving(m)
        offers.foreach { case (key, weight) => sketch.offer(key, weight, slotOf(key)) }
        sketch
      }
      val sum = slotted(first)
      sum.merge(LongSpaceSaving.fromProto(slotted(second).toProto))
      sum.entries.foreach(e => assert(e.slot === slotOf(e.key)))
      val cut = sum.heaviest(most)
      assert(cut.getSlotsCount === cut.getFingerprintsCount)
      LongSpaceSaving.fromProto(cut).entries.foreach(e => assert(e.slot === slotOf(e.key)))
    }
  }

  test("where the slot of one key is not known, the message has none") {
    val sketch = new LongSpaceSaving(2)
    sketch.offer(1, 5, 7)
    assert(sketch.toProto.getSlotsList === java.util.List.of(7))
    sketch.offer(2)
    assert(sketch.toProto.getSlotsCount === 0)
    assert(sketch.heaviest(1).getSlotsList === java.util.List.of(7))
  }

  test("pairs count as keys do") {
    forAll(genCapacity, genOffers, genOffers) { (m, first, second) =>
      // Keys below 2^16 become pairs, so that both halves vary; the map back is exact.
      def pairs(offers: Offers): PairSpaceSaving = {
        val sketch = new PairSpaceSaving(m)
        offers.foreach { case (k, w) => sketch.offer(k >> 4, k & 15, w) }
        sketch
      }
      val sum = pairs(first)
      sum.merge(PairSpaceSaving.fromProto(PairSketch.parseFrom(pairs(second).toProto.toByteArray)))
      val exact = truth(first ++ second)
      assert(sum.rows === exact.values.sum)
      sum.entries.foreach { e =>
        val count = exact.getOrElse((e.upstream << 4) | e.downstream, 0L)
        assert(e.count - e.error <= count && count <= e.count)
      }
      val counted = sum.entries.map(e => (e.upstream << 4) | e.downstream).toSet
      exact.foreach { case (key, count) => assert(count * m <= sum.rows || counted(key)) }
      assert(PairSpaceSaving.fromProto(sum.toProto).entries === sum.entries)
    }
  }

  test("the halves of a pair are told apart") {
    val sketch = new PairSpaceSaving(10)
    sketch.offer(1, 2)
    sketch.offer(2, 1, 5)
    assert(sketch.entries === Seq(PairCount(2, 1, 5, 0), PairCount(1, 2, 1, 0)))
  }

  test("empty sketches merge, and count on") {
    val sketch = new LongSpaceSaving(5)
    sketch.merge(new LongSpaceSaving(1))
    sketch.merge(sketch)
    val offers = List.tabulate(9)(i => i.toLong -> 1L)
    offers.foreach { case (key, weight) => sketch.offer(key, weight) }
    assert(sketch.capacity === 5)
    assertLaws(sketch, offers)
  }

  test("a heavy stream of many keys keeps the laws") {
    val random = new scala.util.Random(7)
    val offers = List.fill(200000)((1 / (random.nextDouble() + 1e-5)).toLong -> 1L)
    val (sketch, other) = (sketchOf(500, offers), sketchOf(500, offers.take(50000)))
    assertLaws(sketch, offers)
    sketch.merge(other)
    assertLaws(sketch, offers ++ offers.take(50000))
  }

  /** What a sketch goes through on executors and driver. */
  private val genStep
      : Gen[(LongSpaceSaving, Map[Long, Long]) => (LongSpaceSaving, Map[Long, Long])] = {
    type Counted = (LongSpaceSaving, Map[Long, Long])
    def added(exact: Map[Long, Long], offers: Offers): Map[Long, Long] =
      truth(exact.toList ++ offers)
    Gen.frequency(
      5 -> genOffers.map(offers =>
        (sketch: LongSpaceSaving, exact: Map[Long, Long]) => {
          offers.foreach { case (key, weight) => sketch.offer(key, weight) }
          (sketch, added(exact, offers)): Counted
        }
      ),
      3 -> Gen.zip(genCapacity, genOffers, Gen.oneOf(true, false)).map { case (m, offers, into) =>
        (sketch: LongSpaceSaving, exact: Map[Long, Long]) => {
          val other = sketchOf(m, offers)
          val (sum, more) = if (into) (sketch, other) else (other, sketch)
          sum.merge(more)
          (sum, added(exact, offers)): Counted
        }
      },
      1 -> Gen.const { (sketch: LongSpaceSaving, exact: Map[Long, Long]) =>
        (LongSpaceSaving.fromProto(sketch.toProto), exact): Counted
      },
      1 -> Gen.const { (sketch: LongSpaceSaving, exact: Map[Long, Long]) =>
        sketch.merge(sketch)
        (sketch, exact.map { case (key, count) => key -> 2 * count }): Counted
      }
    )
  }

  test("through offers, merges of merges and messages in any order the laws hold") {
    forAll(genCapacity, Gen.listOfN(8, genStep)) { (m, steps) =>
      steps.foldLeft((new LongSpaceSaving(m), Map.empty[Long, Long])) { (counted, step) =>
        val (sketch, exact) = step(counted._1, counted._2)
        assertLaws(sketch, exact)
        (sketch, exact)
      }
    }
  }

  test("where all keys weigh the same, storms of new ones keep the laws and cost no more") {
    forAll(genCapacity, Gen.chooseNum(1, 4), Gen.chooseNum(1L, 3L)) { (m, rounds, weight) =>
      val offers = List.tabulate(m * 5 * rounds)(i => (i % (m * 5)).toLong -> weight)
      val sketch = sketchOf(m, offers)
      assertLaws(sketch, offers)
      // A key that comes all the time stays, whatever storms around it.
      val steady = offers.flatMap(offer => List(offer, -1L -> weight))
      assert(sketchOf(math.max(m, 3), steady).entries.head.key === -1)
    }
  }

  test("counts and errors of more than 31 bits are as right as small ones") {
    val genLarge = Gen.listOf(Gen.zip(
      Gen.chooseNum(0L, 40L),
      Gen.oneOf(Gen.chooseNum(1L, 9L), Gen.chooseNum(1L << 30, 1L << 33), Gen.const(1L << 52))
    ))
    forAll(genCapacity, genLarge, genLarge) { (m, first, second) =>
      val sum = merged(sketchOf(m, first), sketchOf(m, second))
      assertLaws(sum, first ++ second)
      second.foreach { case (key, weight) => sum.offer(key, weight) }
      assertLaws(sum, first ++ second ++ second)
    }
  }

  test("more rows than a long can hold are refused, and nothing is counted") {
    val sketch = sketchOf(2, List(1L -> Long.MaxValue))
    intercept[InvalidSketch](sketch.offer(1))
    intercept[InvalidSketch](sketch.offer(2))
    intercept[InvalidSketch](sketch.merge(sketchOf(2, List(2L -> 1L))))
    assertLaws(sketch, List(1L -> Long.MaxValue))
  }

  test("a sketch takes no more memory than it may") {
    val bytes = 1 << 20
    val sketch = new PairSpaceSaving(PairSpaceSaving.capacityFor(bytes))
    val random = new scala.util.Random(7)
    (1 to 200000).foreach(_ => sketch.offer(random.nextLong(), random.nextLong()))
    val places = sketch.counts.length
    assert(sketch.places.groups * 8 + places * 24 <= bytes)
    assert(places > sketch.size && sketch.size > sketch.capacity)
  }

  test("the heaviest only: counts that are surely their keys' own, of a sketch that merges") {
    val random = new scala.util.Random(7)
    val offers = List.fill(20000)((1 / (random.nextDouble() + 1e-5)).toLong)
    val truth = offers.groupBy(identity).map { case (key, all) => key -> all.size.toLong }
    val (keys, pairs) = (new LongSpaceSaving(300), new PairSpaceSaving(300))
    offers.foreach { key =>
      keys.offer(key)
      pairs.offer(-key, key)
    }
    assert(LongSpaceSaving.fromProto(keys.heaviest(300)).toProto === keys.toProto)
    assert(PairSpaceSaving.fromProto(pairs.heaviest(300)).toProto === pairs.toProto)
    val few = LongSpaceSaving.fromProto(keys.heaviest(20))
    assert(few.entries.size === 20 && few.capacity === 300 && few.rows === 20000)
    assert(few.floor === 0)
    assert(few.entries.forall(e => e.error == 0 && e.count <= truth(e.key)))
    assert(few.entries.map(_.key).take(10) === (1L to 10L))
    val fewPairs = PairSpaceSaving.fromProto(pairs.heaviest(20))
    assert(fewPairs.entries.map(e => (-e.upstream, e.count)) ===
      few.entries.map(e => (e.key, e.count)))
    few.merge(LongSpaceSaving.fromProto(keys.heaviest(5)))
    assert(few.rows === 40000 && few.capacity === 300 && few.entries.size === 20)
  }

  test("two mebibytes hold at least 30,000 pairs") {
    assert(PairSpaceSaving.capacityFor(2L << 20) === 62553)
    assert(LongSpaceSaving.capacityFor(2L << 20) === 74387)
    assert(LongSpaceSaving.capacityFor(0) === 1)
  }

  test("a sketch of no counters, a weight of nothing and a damaged message are refused") {
    intercept[InvalidSketch](new LongSpaceSaving(0))
    intercept[InvalidSketch](new LongSpaceSaving(1).offer(1, 0))
    val good = sketchOf(4, List(1L -> 5L, 2L -> 3L)).toProto
    def refused(change: KeySketch.Builder => KeySketch.Builder): String =
      intercept[InvalidSketch](LongSpaceSaving.fromProto(change(good.toBuilder).build())).getMessage
    assert(refused(_.addCounts(1)).contains("do not match"))
    assert(refused(c =>
      (1 to 5).foldLeft(c.setCapacity(1)) { (more, key) =>
        more.addFingerprints(key + 2L).addCounts(1).addErrors(0)
      }
    ).contains("7 keys in 1 counters"))
    assert(refused(_.setCapacity(-1)).contains("4294967295"))
    assert(refused(_.setRows(7)).contains("exceed the 7 rows"))
    assert(refused(_.setErrors(0, 5)).contains("the error 5"))
    assert(refused(_.setErrors(0, 1)).contains("the floor 0"))
    assert(refused(_.setFloor(3)).contains("the floor 3 is too high for 8 rows"))
    assert(refused(_.setFloor(2)).contains("exceed the 8 rows"))
    assert(refused(_.setFloor(-1)).contains("too high"))
    assert(refused(_.setFingerprints(1, 1)).contains("key 1 twice"))
    assert(refused(_.addSlots(3)).contains("2 keys with 1 slots"))
    assert(refused(_.addSlots(3).addSlots(-1)).contains("2 slots"))
  }
}
