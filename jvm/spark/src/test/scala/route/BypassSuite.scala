package org.apache.spark.sql.keyroute.route

import java.io.{ByteArrayOutputStream, PrintStream}
import java.nio.file.Files

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.catalyst.expressions.AttributeReference
import org.apache.spark.sql.execution.streaming.operators.stateful.StreamingDeduplicateExec
import org.apache.spark.sql.execution.streaming.operators.stateful.join.StreamingSymmetricHashJoinExec
import org.apache.spark.sql.execution.streaming.runtime.MemoryStream
import org.apache.spark.sql.functions.{col, count, lit}
import org.apache.spark.sql.streaming.{OutputMode, TimeMode}
import org.apache.spark.sql.types.IntegerType

/** What stays on Spark's hash, and the plans that are no batch of a query. */
class BypassSuite extends AnyFunSuite {
  import StreamingTest._

  private val feeds: Seq[Seq[Seq[Event]]] = (0 until 2).map(b => Seq(events(b)))

  private def decisions: Seq[PlannedBatch] =
    RandomTables.decided.toArray(Array.empty[PlannedBatch]).toSeq

  test("an operator that is not routed and meets a routed one gets Spark's own exchange") {
    // Without events on the second stream the exchange between the operators vanishes.
    val feeds = Seq(true, false, true, false).zipWithIndex.map { case (both, b) =>
      Seq(events(b), if (both) events(b + 1) else Nil, events(b))
    }
    val query = (s: Seq[DataFrame]) =>
      s.head.dropDuplicates("k").union(s(1))
        .join(s(2).select(col("k").as("kk")), col("k") === col("kk"))
    val leave = Map(RandomTables.Leave -> "symmetricHashJoin")
    val plain = streamed("none", feeds)(query)
    val routed = streamed("random", feeds, settings = leave)(query)
    assert(plain.rows.nonEmpty && routed.batches == plain.batches)
    assert(routed.nodes { case e: RoutedExchangeExec => e.version }.toSet == Set(1L))
    assert(routed.nodes {
      case j: StreamingSymmetricHashJoinExec => j.right
    }.forall(!_.exists(_.isInstanceOf[RoutedExchangeExec])))
  }

  test("operators of one group that differ in partitions or in the types of their keys") {
    val plan = streamed("none", feeds, OutputMode.Update()) {
      _.head.dropDuplicates("k").groupBy("k").agg(count(lit(1)))
    }.plans.head
    // No query makes such a plan: it is changed by hand.
    def reasons(change: StreamingDeduplicateExec => StreamingDeduplicateExec): Seq[String] =
      GroupFinder.groups(plan.transform { case d: StreamingDeduplicateExec => change(d) }, None)
        .map(_.unroutable.getOrElse("none"))
    assert(reasons(identity) == Seq("none"))
    assert(reasons(d => d.copy(stateInfo = d.stateInfo.map(_.copy(numPartitions = 7)))) ==
      Seq("its operators differ in partitions"))
    assert(reasons(d => d.copy(keyExpressions = Seq(AttributeReference("k", IntegerType)()))) ==
      Seq("its operators share an exchange but differ in the types of their keys"))
  }

  test("global aggregates and limits have nothing to route and no reason to give") {
    streamed("random", feeds, OutputMode.Complete())(_.head.groupBy().agg(count(lit(1))))
    val before = decisions.size
    val rows = streamed("random", feeds)(_.head.limit(30)).rows
    assert(rows.size == 30 && decisions.size == before)
  }

  test("13: explain() and a batch transformWithState decide nothing and do not fail") {
    import spark.implicits._
    val before = decisions.size
    val stream = MemoryStream[Event](spark).toDF().dropDuplicates("k")
    Console.withOut(new PrintStream(new ByteArrayOutputStream))(stream.explain(true))
    val rows = spark.createDataset(events(0)).groupByKey(_.k)
      .transformWithState(new OperatorsSuite.Counting, TimeMode.None(), OutputMode.Update())
      .collect()
    assert(rows.length == events(0).size)
    assert(decisions.size == before)
  }

  test("13: a plan of a running query on a user's thread decides nothing") {
    import spark.implicits._
    val stream = MemoryStream[Event](spark)
    val query = stream.toDF().dropDuplicates("k").writeStream.format("noop")
      .option("checkpointLocation", Files.createTempDirectory("keyroute-checkpoint").toString)
      .start()
    try {
      stream.addData(events(0))
      query.processAllAvailable()
      val before = decisions.size
      Console.withOut(new PrintStream(new ByteArrayOutputStream))(query.explain(true))
      assert(decisions.size == before)
    } finally query.stop()
  }
}
