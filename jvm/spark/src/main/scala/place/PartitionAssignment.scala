package org.apache.spark.sql.keyroute.place

/** Which executor each part lives on: evenly, a part's partitions together, and as few moves as
  * evenness allows. Pure. */
object PartitionAssignment {

  /** @param parts
    *   part of each partition
    * @param executors
    *   that live, at least one
    * @param current
    *   executor of each partition until now, as far as it has one
    * @return
    *   executor of each partition
    */
  def assign(
      parts: IndexedSeq[Int],
      executors: Seq[String],
      current: Map[Int, String]
  ): IndexedSeq[String] = {
    val members = parts.indices.groupBy(parts).toSeq.sortBy(_._1)
    val sorted = executors.sorted
    val kept = keep(members, sorted, current)
    val homes = members.foldLeft(kept) { case (chosen, (part, _)) =>
      if (chosen.of.contains(part)) chosen
      else chosen.put(part, sorted.minBy(chosen.loads))
    }
    parts.map(homes.of)
  }

  // A part stays where most of its partitions are, the surest first, as long as the executor takes
  // no more than its share.
  private def keep(
      members: Seq[(Int, IndexedSeq[Int])],
      executors: Seq[String],
      current: Map[Int, String]
  ): Homes = {
    val live = executors.toSet
    val wishes = for {
      (part, partitions) <- members
      (executor, here) <- partitions.flatMap(current.get).groupBy(identity).toSeq.sortBy(_._1)
      if live(executor)
    } yield (part, executor, here.size)
    val share = members.size / executors.size
    // So many executors take one part more than the others.
    val larger = members.size % executors.size
    wishes.sortBy { case (part, executor, partitions) => (-partitions, part, executor) }
      .foldLeft(Homes(Map.empty, executors.map(_ -> 0).toMap)) {
        case (chosen, (part, executor, _)) =>
          val mine = chosen.loads(executor)
          def others = chosen.loads.valuesIterator.count(_ > share)
          def room = mine < share || (mine == share && others < larger)
          if (chosen.of.contains(part) || !room) chosen else chosen.put(part, executor)
      }
  }

  /** Executor of each part that has one so far, and how many parts each executor has. */
  private final case class Homes(of: Map[Int, String], loads: Map[String, Int]) {
    def put(part: Int, executor: String): Homes =
      Homes(of.updated(part, executor), loads.updated(executor, loads(executor) + 1))
  }
}
