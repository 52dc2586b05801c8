package io.keyroute.core.table

import org.scalacheck.Gen

/** Shapes and tables for tests. */
object Shapes {

  def shape(group: Long = 0, partitions: Int = 3, stable: Boolean = true): GroupShape =
    GroupShape(
      group,
      operators = Seq(group, group + 1),
      partitions,
      GroupShape.defaultSlots(partitions),
      routingOrdinals = Seq(0),
      keyNames = Seq("tailnum", "window"),
      keyTypes = Seq("STRING", "STRUCT<start: TIMESTAMP, end: TIMESTAMP>"),
      stable
    )

  val genEntries: Gen[Map[Long, Int]] = for {
    fingerprints <- Gen.listOf(
      Gen.oneOf(Gen.long, Gen.chooseNum(-3L, 3L), Gen.oneOf(Long.MinValue, Long.MaxValue))
    )
    targets <- Gen.listOfN(fingerprints.size, Gen.chooseNum(0, 1 << 20))
  } yield fingerprints.zip(targets).toMap

  def genTable(group: Long, partitions: Int): Gen[GroupTable] = for {
    entries <- genEntries
    moved <- Gen.oneOf(true, false)
    base = shape(group, partitions)
    owners <- Gen.listOfN(if (moved) base.slots else 0, Gen.chooseNum(0, partitions - 1))
  } yield table(base, entries.view.mapValues(_ % partitions).toMap, owners.toArray)

  val genTables: Gen[RoutingTables] = for {
    partitions <- Gen.chooseNum(1, 9)
    groups <- Gen.someOf(Seq(0L, 2L, 4L))
    tables <- Gen.sequence[List[GroupTable], GroupTable](groups.map(genTable(_, partitions)))
    withParts <- Gen.oneOf(true, false)
    version <- Gen.chooseNum(0L, Long.MaxValue)
  } yield RoutingTables(
    version,
    "query",
    tables,
    if (withParts) (0 until partitions).reverse else Nil
  )

  def table(
      shape: GroupShape,
      entries: Map[Long, Int],
      owners: Array[Int] = Array.empty[Int]
  ): GroupTable = {
    val fingerprints = entries.keys.toArray.sorted
    GroupTable.build(shape, fingerprints, fingerprints.map(entries), owners)
  }
}
