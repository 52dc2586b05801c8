package org.apache.spark.sql.keyroute.handoff

import scala.collection.mutable

import org.apache.spark.sql.keyroute.handoff.TimedWorkloads.TimedModel

/** What a group keeps. */
final case class Seen(rows: Long, sum: Long) {
  def and(vs: Seq[Long]): Seen = Seen(rows + vs.size, sum + vs.sum)
}

/** What it tells with each batch that has rows of it, and at its end. */
final case class Told(k: String, rows: Long, sum: Long, end: Boolean)

/** Groups of [[TimedWorkloads.some]] rows. */
abstract class GroupModel extends TimedModel(0) {
  protected val groups: mutable.Map[String, Seen] = mutable.Map.empty
  private val last = mutable.Map.empty[String, Long]
  override def stateRows: Long = groups.size.toLong

  /** Groups that end in this batch, without rows. */
  protected def ended: Seq[String]

  /** Groups whose last rows are of a time or before it. */
  protected def idleSince(time: Long): Seq[String] =
    last.collect { case (k, t) if t <= time => k }.toSeq

  override protected def step(events: Seq[Event]): Seq[String] = {
    val rows = events.groupMap(_.k)(_.v).toSeq.map { case (k, vs) =>
      groups(k) = groups.getOrElse(k, Seen(0, 0)).and(vs)
      last(k) = now
      told(k, groups(k), end = false)
    }
    val over = ended
    over.foreach(last.remove)
    rows ++ over.map(k => told(k, groups.remove(k).get, end = true))
  }

  protected def told(k: String, s: Seen, end: Boolean): String = s"[$k,${s.rows},${s.sum},$end]"
}

/** Groups never end. */
final class LastingModel extends GroupModel {
  override protected def ended: Seq[String] = Nil
}

/** A group that has no rows in a batch ends. */
final class ClockModel extends GroupModel {
  override protected def ended: Seq[String] = idleSince(now - 60)
}

/** A group ends when the watermark is more than half a minute after its last rows: in the second
  * batch without any.
  *
  * @param initial
  *   what groups start with; they do not end before they had rows
  * @param asked
  *   whether groups without rows tell what they start with
  */
final class EventTimeModel(initial: Seq[(String, Seen)], asked: Boolean) extends GroupModel {
  private var first = true

  override protected def ended: Seq[String] = idleSince(watermark - 31)

  override protected def step(events: Seq[Event]): Seq[String] = {
    val idle =
      if (first) {
        groups ++= initial
        initial.filterNot { case (k, _) => events.exists(_.k == k) }
      } else Nil
    first = false
    super.step(events) ++ (if (asked) idle.map { case (k, s) => told(k, s, end = false) } else Nil)
  }
}

/** What a batch keeps of its keys is gone in the next. */
final class ForgettingModel extends TimedModel(0) {
  private var rows = 0L
  override def stateRows: Long = rows

  override protected def step(events: Seq[Event]): Seq[String] = {
    val sums = events.groupMapReduce(_.k)(_.v)(_ + _)
    rows = sums.size.toLong
    sums.toSeq.map { case (k, sum) => s"[$k,0,$sum,false]" }
  }
}

/** A key has another group in each batch; those of the first start with something. */
final class ByTimeModel(initial: Map[String, Seen]) extends TimedModel(0) {
  private var start = initial
  private var rows = 0L
  override def stateRows: Long = rows

  override protected def step(events: Seq[Event]): Seq[String] = {
    val values = events.groupMap(_.k)(_.v)
    val keys = (start.keySet ++ values.keySet).toSeq
    val told = keys.map { k =>
      val seen = start.getOrElse(k, Seen(0, 0)).and(values.getOrElse(k, Nil))
      s"[$k,${seen.rows},${seen.sum},false]"
    }
    start = Map.empty
    rows += keys.size
    told
  }
}

object GroupModels {

  /** Half of the feed's keys, and some that have no rows. */
  val Initial: Seq[(String, Seen)] =
    (Workloads.Keys.take(30) ++ (0 until 10).map(i => s"idle-$i")).map(_ -> Seen(1000, 1))
}
