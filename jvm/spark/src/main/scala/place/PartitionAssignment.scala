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
      if (chosen.contains(part)) chosen
      else chosen.updated(part, sorted.minBy(load(chosen)))
    }
    parts.map(homes)
  }

  // A part stays where most of its partitions are, the surest first, as long as the executor takes
  // no more than its share.
  private def keep(
      members: Seq[(Int, IndexedSeq[Int])],
      executors: Seq[String],
      current: Map[Int, String]
  ): Map[Int, String] = {
    val wishes = for {
      (part, partitions) <- members
      (executor, here) <- partitions.flatMap(current.get).groupBy(identity).toSeq.sortBy(_._1)
      if executors.contains(executor)
    } yield (part, executor, here.size)
    val share = members.size / executors.size
    // So many executors take one part more than the others.
    val larger = members.size % executors.size
    wishes.sortBy { case (part, executor, partitions) => (-partitions, part, executor) }
      .foldLeft(Map.empty[Int, String]) { case (chosen, (part, executor, _)) =>
        val mine = load(chosen)(executor)
        val others = executors.count(e => e != executor && load(chosen)(e) > share)
        val room = mine < share || (mine == share && others < larger)
        if (chosen.contains(part) || !room) chosen else chosen.updated(part, executor)
      }
  }

  private def load(chosen: Map[Int, String])(executor: String): Int =
    chosen.valuesIterator.count(_ == executor)
}
