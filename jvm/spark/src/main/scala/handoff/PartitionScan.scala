package org.apache.spark.sql.keyroute.handoff

import org.apache.spark.TaskContext
import org.apache.spark.sql.keyroute.state.{FamilyRouter, RawState, StoreKeys}

import io.keyroute.core.table.GroupTable

/** Finds the rows of one store of one partition that a change of tables sends elsewhere.
  *
  * @param source
  *   the partition
  * @param from
  *   the table by which the rows lie
  * @param to
  *   the table by which they shall lie
  */
final class PartitionScan(keys: StoreKeys, source: Int, from: GroupTable, to: GroupTable) {

  /** Writes what moves.
    * @return
    *   rows seen
    * @throws CannotMove
    *   if a family is not known, or a row does not lie where the old table says
    * @throws org.apache.spark.TaskKilledException
    *   soon after the task was killed: it must not outlive its job */
  def run(state: RawState, writer: HandoffWriter): Long = {
    val known = keys.families.map(_.family).toSet
    val unknown = state.families.diff(known) - Default
    if (unknown.nonEmpty) throw new CannotMove(
      s"operator ${keys.operator} has state in families whose layout is not known: " +
        unknown.toSeq.sorted.mkString(", ")
    )
    val context = Option(TaskContext.get())
    var seen = 0L
    keys.families.filter(f => state.families.contains(f.family)).foreach { family =>
      val router = new FamilyRouter(keys, family)
      state.foreach(family.family) { (key, value) =>
        if ((seen & PollMask) == 0) context.foreach(_.killTaskIfInterrupted())
        seen += 1
        router.take(key)
        val now = router.router.partition(from)
        if (now != source) throw new CannotMove(
          s"a row of family ${family.family} of operator ${keys.operator} lies in partition " +
            s"$source but belongs to $now: state and routing tables do not match"
        )
        val target = router.router.partition(to)
        if (target != source) writer.add(target, family.family, key, value)
      }
    }
    seen
  }

  private val PollMask = 0x3ffL
  private val Default = org.apache.spark.sql.execution.streaming.state.StateStore
    .DEFAULT_COL_FAMILY_NAME
}
