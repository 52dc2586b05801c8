package org.apache.spark.sql.keyroute.stress

import org.apache.spark.sql.keyroute.publish.RunningQuery

import io.keyroute.core.table.{GroupShape, GroupTable, RoutingTables}

/** Random tables for a query. Where a slot or a key goes depends on the seed, the query's name, the
  * version, the group, and the slot or key itself: on nothing that differs when a test is run again,
  * but that the keys which statistics know by then may.
  */
private[stress] final class StressTables(seed: Long) {
  import StressTables._

  /** Tables of a version, most of which move most keys.
    *
    * @param keys
    *   fingerprints of keys of a group
    */
  def draw(query: RunningQuery, version: Long, keys: GroupShape => Seq[Long]): RoutingTables = {
    val name = Option(query.name).getOrElse("").hashCode.toLong
    val groups = query.groups.map { shape =>
      if (version % EmptyEvery == 0) GroupTable.empty(shape)
      else new Draw(shape, Seq(name, version, shape.group)).table(keys(shape))
    }
    RoutingTables(version, query.queryId.toString, groups, Nil)
  }

  private final class Draw(shape: GroupShape, of: Seq[Long]) {
    // Some versions move few slots, so that others stay where they are.
    private val share = if (below(2, Share) == 0) Percent else below(Percent + 1, Share, 1)

    def table(keys: Seq[Long]): GroupTable = {
      val chosen =
        if (shape.routingOrdinals.isEmpty) Array.empty[Long]
        else keys.filter(below(Percent, Choice, _) < ExplicitPercent).distinct.sorted.toArray
      val owners =
        if (shape.stableSlots) Array.tabulate(shape.slots)(owner) else Array.empty[Int]
      GroupTable.build(shape, chosen, chosen.map(below(shape.partitions, Target, _)), owners)
    }

    private def owner(slot: Int): Int =
      if (below(Percent, SlotChoice, slot.toLong) >= share) slot % shape.partitions
      else below(shape.partitions, SlotOwner, slot.toLong)

    private def below(bound: Int, what: Long*): Int =
      Math.floorMod((of ++ what).foldLeft(mixed(seed))((all, n) => mixed(all ^ n)), bound)
  }
}

private[stress] object StressTables {

  /** Each version that is a multiple of it is the empty one. */
  val EmptyEvery: Long = 5

  private val ExplicitPercent = 60
  private val Percent = 100

  // What is drawn: each is independent of the others.
  private val Share = 1L
  private val Choice = 2L
  private val Target = 3L
  private val SlotChoice = 4L
  private val SlotOwner = 5L

  /** SplitMix64's finalizer (Steele et al., Fast Splittable Pseudorandom Number Generators, 2014). */
  private def mixed(number: Long): Long = {
    val a = number + 0x9e3779b97f4a7c15L
    val b = (a ^ (a >>> 30)) * 0xbf58476d1ce4e5b9L
    val c = (b ^ (b >>> 27)) * 0x94d049bb133111ebL
    c ^ (c >>> 31)
  }
}
