package org.apache.spark.sql.keyroute.count

import io.keyroute.core.sketch.{LongSpaceSaving, PairSpaceSaving}
import io.keyroute.proto.v1.{KeySketch, PairSketch}

/** Sketches of keys, merged; none until the first comes. Not thread-safe. */
private[count] final class KeySummary {
  private var merged = Option.empty[LongSpaceSaving]

  /** @throws io.keyroute.core.sketch.InvalidSketch
    *   if the message contradicts itself
    */
  def add(sketch: KeySketch): Unit = add(LongSpaceSaving.fromProto(sketch))

  def merge(other: KeySummary): Unit = other.merged.foreach(add)

  def toProto: Option[KeySketch] = merged.map(_.toProto)

  private def add(sketch: LongSpaceSaving): Unit = {
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

  private def add(sketch: PairSpaceSaving): Unit = {
    val into = merged.getOrElse(new PairSpaceSaving(sketch.capacity))
    into.merge(sketch)
    merged = Some(into)
  }
}
