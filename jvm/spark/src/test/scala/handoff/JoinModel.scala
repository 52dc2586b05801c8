package org.apache.spark.sql.keyroute.handoff

import scala.collection.mutable

/** Which rows of one key join, and how long they wait for each other; all by an event's seconds.
  *
  * @param leftEnds
  *   the watermark beyond which a left row has gone; as `rightEnds`
  */
final case class JoinTimes(
    near: (Long, Long) => Boolean,
    leftEnds: Long => Double,
    rightEnds: Long => Double
)

object JoinTimes {

  /** Right rows from 100.5 s before to 60.5 s after the left one. No event has such a time, so that
    * nothing hangs on a bound being open or closed. */
  val range: JoinTimes = JoinTimes(
    (l, r) => r >= l - 100.5 && r <= l + 60.5,
    _ + 60.5,
    _ + 100.5
  )

  /** In the same three minutes. */
  val window: JoinTimes = JoinTimes(_ / 180 == _ / 180, end(_), end(_))

  private def end(v: Long): Double = (v / 180 + 1) * 180.0
}

/** What a stream-stream join emits in each batch and what it keeps, by plain Scala.
  *
  * @param kind
  *   as `Dataset.join` takes it
  * @param pick
  *   which left rows of each batch reach the join
  */
final class JoinModel(
    kind: String,
    times: JoinTimes = JoinTimes.range,
    pick: Seq[Event] => Seq[Event] = identity
) {
  import JoinModel._

  private final class Kept(val event: Event, var matched: Boolean)

  private val keepsLeft = Set("left_outer", "full_outer")(kind)
  private val keepsRight = Set("right_outer", "full_outer")(kind)
  private val semi = kind == "left_semi"
  private var left = Seq.empty[Kept]
  private var right = Seq.empty[Kept]
  // Of the batches before, in seconds: Spark evicts by it at the end of a batch.
  private var watermark = 0L

  /** The rows of the next batch. */
  def step(events: Seq[Event]): Seq[String] = {
    val newLeft = pick(events.filter(isLeft)).map(new Kept(_, false))
    val newRight = events.filter(isRight).map(new Kept(_, false))
    left ++= newLeft
    right ++= newRight
    val pairs =
      for {
        l <- left
        r <- right if l.event.k == r.event.k && times.near(l.event.v, r.event.v)
      } yield (l, r)
    val fresh = (newLeft ++ newRight).toSet
    val joined =
      if (semi) pairs.map(_._1).distinct.map(l => s"[${l.event.k},${l.event.v}]")
      else pairs.collect {
        case (l, r) if fresh(l) || fresh(r) => s"[${l.event.k},${l.event.v},${r.event.v}]"
      }
    pairs.foreach { case (l, r) =>
      l.matched = true
      r.matched = true
    }
    if (semi) left = left.filterNot(_.matched) // emitted for good
    val (lostLeft, keptLeft) = left.partition(k => times.leftEnds(k.event.v) < watermark)
    val (lostRight, keptRight) = right.partition(k => times.rightEnds(k.event.v) < watermark)
    left = keptLeft
    right = keptRight
    watermark = math.min(events.filter(isLeft).map(_.v).max, events.filter(isRight).map(_.v).max)
    def alone(lost: Seq[Kept]) = lost.filterNot(_.matched).map(_.event)
    joined ++
      (if (keepsLeft) alone(lostLeft).map(e => s"[${e.k},${e.v},null]") else Nil) ++
      (if (keepsRight) alone(lostRight).map(e => s"[null,null,${e.v}]") else Nil)
  }

  /** Events in a side's state, after the batches so far. */
  def kept(side: String): Seq[Event] = (if (side == "left") left else right).map(_.event)
}

object JoinModel {

  /** Each key has one row a batch on either side, but some rows are left out. Not by their keys: Spark
    * would leave out the partners, too. */
  def isLeft(e: Event): Boolean = e.v % 4 < 2 && e.v / 4 % 3 != 0
  def isRight(e: Event): Boolean = e.v % 4 >= 2 && e.v / 4 % 5 != 0

  /** The first of each key, ever. */
  def firsts(key: Event => Any): Seq[Event] => Seq[Event] = {
    val seen = mutable.Set.empty[Any]
    _.filter(e => seen.add(key(e)))
  }
}
