package org.apache.spark.sql.keyroute.count

import scala.jdk.CollectionConverters._

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{AttributeReference, UnsafeProjection}
import org.apache.spark.sql.functions.{col, expr}
import org.apache.spark.sql.keyroute.route.{KeyHash, RowRouter}
import org.apache.spark.sql.types.{BinaryType, DataType, LongType, StringType}
import org.apache.spark.unsafe.types.UTF8String

import io.keyroute.proto.v1.KeySketch

/** Texts of heavy keys, from the task to the statistics. */
class KeyLabelsSuite extends CountingTest {

  private val setting = "spark.keyroute.statistics.labels"

  private def labelsOf(keys: KeySketch): Seq[(Long, String)] =
    keys.getFingerprintsList.asScala.toSeq.map(_.longValue).zip(keys.getLabelsList.asScala)

  private def fingerprint(k: String): Long = {
    val router = new RowRouter(KeyHash.ofKeyRow(Seq(StringType), Seq(0)))
    router.take(InternalRow(UTF8String.fromString(k)))
    router.fingerprint
  }

  test("off unless it is asked for") {
    val (_, counts) = counted()(twoDedups)
    assert(counts.forall(_.getKeys.getLabelsCount == 0))
  }

  test("the heaviest keys of each task have their values") {
    val (run, counts) = counted(Map(setting -> "5"))(twoDedups)
    assert(run.batches == counted()(twoDedups)._1.batches)
    val all = counts.filter(_.getKeys.getFingerprintsCount > 0).map { c =>
      val labels = labelsOf(c.getKeys)
      assert(c.getKeys.getLabelsCount == c.getKeys.getFingerprintsCount)
      assert(labels.drop(5).forall(_._2.isEmpty))
      c.getGroup -> labels.filter(_._2.nonEmpty)
    }
    assert(all.forall(_._2.nonEmpty))
    all.collect { case (1L, labels) => labels }.flatten
      .foreach { case (key, label) => assert(fingerprint(label) == key) }
    all.collect { case (0L, labels) => labels }.flatten
      .foreach { case (_, label) => assert(label.matches("k\\d+, \\d")) }
  }

  test("nulls, bytes and long values are shown as far as they can be") {
    val (_, counts) = counted(Map(setting -> "100")) { frame =>
      frame.filter("v < 21").withColumn("k", expr("if(v = 7, null, repeat('ä', 100))"))
        .withColumn("b", col("k").cast("binary")).dropDuplicates("k")
    }
    val labels = counts.flatMap(c => labelsOf(c.getKeys)).map(_._2).toSet
    assert(labels == Set("NULL", "ä" * 63 + "…"))
  }

  test("a heavy key has its label after a long tail, and memory is bounded") {
    val column = AttributeReference("k", LongType)()
    val labels = new KeyLabels(Seq(column), Seq(column), 3, "UTC")
    // Every 20th row is of key -7, every 25th of key -1, all others of a key of their own.
    (1L to 200000L).foreach { i =>
      val key = if (i % 20 == 0) -7L else if (i % 25 == 0) -1L else i
      labels.see(scattered(key), row(key))
    }
    def told(keys: Long*): Seq[String] = {
      val builder = KeySketch.newBuilder()
      // The heaviest last: a task's message is in no order.
      keys.reverse.zipWithIndex.foreach { case (key, i) =>
        builder.addFingerprints(scattered(key)).addCounts(i + 1L)
      }
      labels.onto(builder.build()).getLabelsList.asScala.toSeq.reverse
    }
    assert(told(-7L, -1L) == Seq("-7", "-1"))
    // No more than three are told, and little of the tail is even kept.
    assert(told(150004L, 150002L, 150003L, -7L).isEmpty)
    assert(told(-7L, 150002L, 150003L, 150004L) == Seq("-7", "", "", ""))
    assert((1L to 200000L).count(key => told(key) == Seq(key.toString)) < 2048)
  }

  test("memory is bounded where the counters cannot tell keys apart") {
    val column = AttributeReference("k", LongType)()
    val labels = new KeyLabels(Seq(column), Seq(column), 3, "UTC")
    // All of one counter, which has all rows.
    val alike = (1L to 20000L).map(_ << 12)
    alike.foreach(key => labels.see(key, row(key)))
    val known = alike.count { key =>
      labels.onto(
        KeySketch.newBuilder().addFingerprints(key).addCounts(1).build()
      ).getLabelsCount > 0
    }
    assert(known == 2048)
  }

  test("a text that cannot be made costs the labels and nothing else") {
    val (there, gone) = (AttributeReference("k", LongType)(), AttributeReference("x", BinaryType)())
    val labels = new KeyLabels(Seq(gone), Seq(there), 3, "UTC")
    (1L to 10L).foreach(i => labels.see(i, row(i)))
    val keys = KeySketch.newBuilder().addFingerprints(1L).build()
    assert(labels.onto(keys) == keys)
  }

  test("a label is cut between characters") {
    val face = "\ud83d\ude00"
    assert(KeyLabels.cut("a" * 64) == "a" * 64)
    assert(KeyLabels.cut("a" * 65) == "a" * 63 + "…")
    assert(KeyLabels.cut("a" * 62 + face * 2) == "a" * 62 + "…")
  }

  test("on the driver labels stay with their keys, as many as the application allows") {
    Seq(0, 2).foreach { most =>
      val history = History(1000, 3, labels = most)
      val collector = new StatisticsCollector(history, () => 0L, (_, _, _) => ())
      val query = Reports.query()
      collector.started(query)
      // The second task, and the second batch, know one label less each.
      for (batch <- 0L to 1L; map <- 0 to 1) {
        val counts = Reports.wrote(query, batch, map, "a", Seq(5L, 9L, 7L))
        val keys = counts.getKeys
        val named = (0 until keys.getFingerprintsCount).map { i =>
          if (i < 3 - map - batch) s"key ${keys.getFingerprints(i)}" else ""
        }
        val builder = keys.toBuilder.addAllLabels(named.asJava)
        collector.received(
          TaskReports.MapCounts +: counts.toBuilder.setKeys(builder).build().toByteArray
        )
        if (map == 1) collector.batchEnded(query.runId, batch, 10, 1)
      }
      collector.batchEnded(query.runId, 2, 10, 1)
      val group = collector.query(query.queryId).get.getPeriods(0).getGroups(0)
      val labels = labelsOf(group.getKeys)
      if (most == 0) assert(group.getKeys.getLabelsCount == 0)
      else assert(labels == Seq(1L -> "key 1", 2L -> "key 2", 0L -> ""))
      assert(group.getKeys.getCountsList.asScala.map(_.longValue) == Seq(36L, 28L, 20L))
    }
  }

  test("texts on the driver are bounded, and those that came last stay") {
    val summary = new LabelSummary(2)
    def sketch(key: Long) =
      KeySketch.newBuilder().addFingerprints(key).addLabels(s"key $key").build()
    (0L until 100L).foreach { i =>
      summary.add(sketch(i))
      summary.add(sketch(5L))
    }
    val asked =
      KeySketch.newBuilder().addFingerprints(5L).addFingerprints(1L).addCounts(2).addCounts(1)
        .build()
    assert(labelsOf(summary.onto(asked)) == Seq(5L -> "key 5", 1L -> ""))
    val damaged = sketch(200L).toBuilder.addLabels("of no key").build()
    summary.add(damaged)
    assert(summary.onto(
      KeySketch.newBuilder().addFingerprints(200L).addCounts(1).build()
    ).getLabelsCount == 0)
  }

  private def scattered(key: Long): Long = key * 0x9e3779b97f4a7c15L

  private lazy val toRow = UnsafeProjection.create(Array[DataType](LongType))
  private def row(key: Long): InternalRow = toRow(InternalRow(key))
}
