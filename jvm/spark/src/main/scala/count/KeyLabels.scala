package org.apache.spark.sql.keyroute.count

import scala.collection.mutable
import scala.util.control.NonFatal

import org.apache.spark.internal.Logging
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{
  Attribute,
  Expression,
  ToPrettyString,
  UnsafeProjection
}

import io.keyroute.proto.v1.KeySketch

/** Texts of a map task's heavy keys, for people. A fingerprint cannot be turned back, so that a text is
  * made while a row of its key is at hand: once the key has, as far as some counters can tell, a small
  * part of the rows so far. Their number, their lengths and the memory are bounded. What fails here
  * costs the labels, never a task. Not thread-safe.
  *
  * @param columns
  *   that the fingerprint is of
  * @param input
  *   columns of the rows
  * @param most
  *   keys that get a label
  * @param timeZone
  *   of points in time
  */
final class KeyLabels(
    columns: Seq[Expression],
    input: Seq[Attribute],
    most: Int,
    timeZone: String
) extends Logging {
  import KeyLabels._

  private val parts = 4 * math.max(most, LeastKept)
  private val counters = new Array[Int](4 * parts)
  private val texts = mutable.LongMap.empty[String]
  private var rows = 0L
  private var failed = false
  private lazy val strings =
    UnsafeProjection.create(columns.map(ToPrettyString(_, Some(timeZone))), input)

  /** A row came by. */
  def see(fingerprint: Long, row: InternalRow): Unit = if (!failed) {
    rows += 1
    counters(placeOf(fingerprint)) += 1 // of several keys, maybe
    if (isHeavy(fingerprint) && !texts.contains(fingerprint) && hasRoom)
      try texts(fingerprint) = text(row)
      catch {
        case NonFatal(e) =>
          failed = true
          // Not its message, which may hold a value.
          logWarning(s"keys have no labels: their texts cannot be made (${e.getClass.getName})")
      }
  }

  /** The message with the labels of its heaviest keys. */
  def onto(keys: KeySketch): KeySketch =
    if (texts.isEmpty) keys else labelled(keys, most, texts.getOrElse(_, ""))

  private def isHeavy(fingerprint: Long): Boolean =
    counters(placeOf(fingerprint)).toLong * parts >= rows

  private def placeOf(fingerprint: Long): Int =
    Math.floorMod(fingerprint ^ (fingerprint >>> 32), counters.length)

  private def hasRoom: Boolean = {
    if (texts.size >= 2 * parts) texts.filterInPlace((key, _) => isHeavy(key))
    texts.size < 2 * parts
  }

  private def text(row: InternalRow): String = {
    val parts = strings(row)
    cut(columns.indices.map(i => parts.getUTF8String(i).toString).mkString(", "))
  }
}

object KeyLabels {

  /** Characters of a label at most. */
  val MostChars: Int = 64

  // Texts are made of more keys than are told: which are the heaviest shows in the end.
  private val LeastKept = 256

  private[count] def cut(text: String): String =
    if (text.length <= MostChars) text
    else {
      // No half of a character that takes two.
      val end = if (Character.isHighSurrogate(text.charAt(MostChars - 2))) 2 else 1
      text.take(MostChars - end) + "…"
    }

  /** The message with labels of so many of its heaviest keys; as it is where none has one. */
  private[count] def labelled(keys: KeySketch, most: Int, label: Long => String): KeySketch = {
    val labels = Array.fill(keys.getFingerprintsCount)("")
    labels.indices.sortBy(-keys.getCounts(_)).take(most).foreach { i =>
      labels(i) = label(keys.getFingerprints(i))
    }
    if (labels.forall(_.isEmpty)) keys
    else {
      val builder = keys.toBuilder.clearLabels()
      labels.foreach(builder.addLabels)
      builder.build()
    }
  }

  /** None where no labels are wanted, or the group has no keys to tell apart. */
  def of(
      counted: Option[CountedExchange],
      columns: Seq[Expression],
      input: Seq[Attribute],
      timeZone: String
  ): Option[KeyLabels] =
    counted.map(_.limits.labels).filter(_ > 0 && columns.nonEmpty)
      .map(new KeyLabels(columns, input, _, timeZone))
}

/** Labels of a group's keys on the driver, of several tasks and batches; those that came last stay. Not
  * thread-safe.
  *
  * @param most
  *   keys that have a label in the message; 0 keeps none
  */
private[count] final class LabelSummary(most: Int) {
  private val texts = new java.util.LinkedHashMap[Long, String](16, 0.75f, true)

  def add(keys: KeySketch): Unit =
    if (most > 0 && keys.getLabelsCount == keys.getFingerprintsCount)
      (0 until keys.getLabelsCount).foreach(i => put(keys.getFingerprints(i), keys.getLabels(i)))

  def merge(other: LabelSummary): Unit = other.texts.forEach((key, text) => put(key, text))

  def onto(keys: KeySketch): KeySketch =
    if (texts.isEmpty) keys
    else KeyLabels.labelled(keys, most, key => Option(texts.get(key)).getOrElse(""))

  private def put(key: Long, text: String): Unit = if (text.nonEmpty && most > 0) {
    texts.put(key, KeyLabels.cut(text))
    if (texts.size > LabelSummary.Spare * most) texts.remove(texts.keySet.iterator.next())
  }
}

private object LabelSummary {
  private val Spare = 4
}
