package org.apache.spark.sql.keyroute.count

import io.keyroute.core.sketch.{LongSpaceSaving, PairSpaceSaving}
import io.keyroute.proto.v1.{KeySketch, MapTaskCounts, PairSketch}

/** The sketches of a map task, read before anything of its report is counted: one that cannot be read
  * shall leave no half behind. */
private[count] final case class TaskSummaries(
    keys: Option[LongSpaceSaving],
    pairs: Option[PairSpaceSaving]
)

private[count] object TaskSummaries {

  /** @throws io.keyroute.core.sketch.InvalidSketch
    *   if a message contradicts itself
    */
  def of(counts: MapTaskCounts): TaskSummaries = TaskSummaries(
    Option.when(counts.hasKeys)(LongSpaceSaving.fromProto(counts.getKeys)),
    Option.when(counts.hasPairs)(PairSpaceSaving.fromProto(counts.getPairs))
  )
}

/** Sketches of keys, merged; none until the first comes. Not thread-safe. */
private[count] final class KeySummary {
  private var merged = Option.empty[LongSpaceSaving]

  /** @throws io.keyroute.core.sketch.InvalidSketch
    *   if the message contradicts itself
    */
  def add(sketch: KeySketch): Unit = add(LongSpaceSaving.fromProto(sketch))

  def merge(other: KeySummary): Unit = other.merged.foreach(add)

  def toProto: Option[KeySketch] = merged.map(_.toProto)

  def add(sketch: LongSpaceSaving): Unit = {
    val into = merged.getOrElse(new LongSpaceSaving(sketch.capacity))
    into.merge(sketch)
    merged = Some(into)
  }
}

/** Sketches of key pairs, merged; none until the first comes. Not thread-safe. */
private[count] final class PairSummary {
  private var merged = Option.empty[PairSpaceSaving]

  /** @throws io.keyroute.core.sketch.InvalidSketch
    *   if the message contradicts itself
    */
  def add(sketch: PairSketch): Unit = add(PairSpaceSaving.fromProto(sketch))

  def merge(other: PairSummary): Unit = other.merged.foreach(add)

  def toProto: Option[PairSketch] = merged.map(_.toProto)

  def add(sketch: PairSpaceSaving): Unit = {
    val into = merged.getOrElse(new PairSpaceSaving(sketch.capacity))
    into.merge(sketch)
    merged = Some(into)
  }
}
