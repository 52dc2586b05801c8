package org.apache.spark.sql.keyroute.handoff

import org.apache.spark.sql.keyroute.state.StoreKeys

/** The parts of a stream-stream join's state. Each side has two, which make no sense without each
  * other: values and how many there are (state formats 1 to 3), or values by time and an index of the
  * times (4). Formats 1 and 2 keep each part in a store of its own, 3 and 4 in column families of one
  * store. */
private[handoff] object JoinStores {
  private val Counted = Set("keyToNumValues", "keyWithIndexToValue")
  private val ByTime = Set("keyWithTsToValues", "tsWithKey")

  def withFamilies(format: Option[Int]): Boolean = format.exists(_ >= 3)

  /** Why a join with these stores cannot be moved: a part that is missed would be split from its keys'
    * other parts. */
  def problem(stores: Seq[StoreKeys]): Option[String] = {
    val format = stores.headOption.flatMap(_.stateFormatVersion)
    val found =
      if (withFamilies(format)) stores.flatMap(_.families.map(_.family)) else stores.map(_.store)
    format match {
      case Some(1 | 2 | 3) => difference(found, Counted)
      case Some(4) => difference(found, ByTime)
      case other =>
        Some(s"the state format of its join is ${other.fold("not known")(_.toString)}")
    }
  }

  private def difference(found: Seq[String], kinds: Set[String]): Option[String] = {
    val wanted = for (side <- Set("left", "right"); kind <- kinds) yield s"$side-$kind"
    Option.unless(found.size == wanted.size && found.toSet == wanted)(
      s"the state of its join consists of ${found.sorted.mkString(", ")}, not of " +
        wanted.toSeq.sorted.mkString(", ")
    )
  }
}
