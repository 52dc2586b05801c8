package org.apache.spark.sql.keyroute.route

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.execution.exchange.ReusedExchangeExec
import org.apache.spark.sql.functions.{col, count, lit, sum}
import org.apache.spark.sql.streaming.OutputMode

/** Plans whose other parts rely on where Spark's hash would put rows: under a table each gives what
  * plain Spark gives, batch by batch. The numbers name scenarios that break a naive rule. */
class ShapesSuite extends AnyFunSuite {
  import StreamingTest._

  private val one: Seq[Seq[Seq[Event]]] = (0 until 3).map(b => Seq(events(b)))
  private val two: Seq[Seq[Seq[Event]]] = (0 until 3).map(b => Seq(events(b), events(b + 1)))
  private val update = OutputMode.Update()

  private def dedup(stream: DataFrame): DataFrame = stream.dropDuplicates("k")

  /** Runs the query under Spark and under random tables. */
  private def sameAsSpark(
      feeds: Seq[Seq[Seq[Event]]],
      mode: OutputMode = OutputMode.Append(),
      inBatch: DataFrame => DataFrame = identity
  )(query: Seq[DataFrame] => DataFrame): Run = {
    val plain = streamed("none", feeds, mode, inBatch = inBatch)(query)
    val routed = streamed("random", feeds, mode, inBatch = inBatch)(query)
    assert(plain.rows.nonEmpty)
    assert(routed.batches == plain.batches)
    assert(plain.nodes { case e: RoutedExchangeExec => e }.isEmpty)
    val exchanges = routed.nodes { case e: RoutedExchangeExec => e }
    assert(exchanges.nonEmpty && exchanges.forall(_.version == 1))
    assert(exchanges.map(_.metrics("rowsByTable").value).sum > 0)
    routed
  }

  test("1: a sort-merge join of a routed stream with a static table") {
    sameAsSpark(one)(s => dedup(s.head).join(static(1000), "k"))
  }

  test("1: the claim of Spark's hash, made for routed rows, loses them") {
    val query = (s: Seq[DataFrame]) => dedup(s.head).join(static(1000), "k")
    val plain = streamed("none", one)(query)
    val naive = streamed("naive", one)(query)
    assert(naive.rows.size < plain.rows.size)
  }

  test("1: a left join, a semi-join, a shuffled hash join, two joins in a row, a renamed key") {
    sameAsSpark(one)(s => dedup(s.head).join(static(150), Seq("k"), "left"))
    sameAsSpark(one)(s => dedup(s.head).join(static(150), Seq("k"), "left_semi"))
    sameAsSpark(one)(s => dedup(s.head).join(static(1000).hint("shuffle_hash"), "k"))
    sameAsSpark(one)(s =>
      dedup(s.head).join(static(1000), "k").join(static(100, "x"), Seq("k"), "left")
    )
    sameAsSpark(one) { s =>
      val right = static(1000)
      dedup(s.head).select(col("k").as("kk"), col("v")).join(right, col("kk") === right("k"))
    }
  }

  test("2: a union's branch without data vanishes from a batch's plan") {
    val feeds = Seq(true, true, false, false, true).zipWithIndex.map { case (both, b) =>
      Seq(events(b), if (both) events(b + 1) else Nil)
    }
    sameAsSpark(feeds)(s => dedup(dedup(s.head).union(s(1))))
    sameAsSpark(feeds, update)(s => dedup(s.head).union(s(1)).groupBy("k").agg(count(lit(1))))
  }

  test("3: a broadcast join becomes a sort-merge join between runs, and back") {
    def runWith(tables: String): Run =
      streamed(
        tables,
        (0 until 6).map(b => Seq(events(b))),
        update,
        runs = 3,
        settings = Map("spark.sql.autoBroadcastJoinThreshold" -> "10000000"),
        beforeRun = number =>
          spark.conf.set(
            "spark.sql.autoBroadcastJoinThreshold",
            if (number == 1) "-1" else "10000000"
          )
      ) { s =>
        s.head.join(static(1000), Seq("k"), "left").groupBy("k").agg(count("w"), sum("v"))
      }
    val routed = runWith("random")
    assert(routed.batches == runWith("none").batches)
    assert(routed.plans.forall(_.exists(_.isInstanceOf[RoutedExchangeExec])))
  }

  test("an operator that a join's exchange feeds gets an exchange of its own") {
    sameAsSpark(one)(s => dedup(s.head.join(static(1000), "k")))
    sameAsSpark(one)(s => dedup(s.head.join(static(1000), "k")).join(static(800, "x"), "k"))
    sameAsSpark(one)(s => dedup(s.head.repartition(Partitions, col("k"))))
  }

  test("8: exchanges of two groups over one source stay two") {
    val query = (s: Seq[DataFrame]) => dedup(s.head).union(dedup(s.head))
    val routed = sameAsSpark(one)(query)
    val groups = routed.plans.last.collect { case e: RoutedExchangeExec => e.group }
    assert(groups.toSet == Set(0L, 1L))
    assert(routed.nodes { case r: ReusedExchangeExec => r }.isEmpty)
    sameAsSpark(one)(s => dedup(dedup(s.head).union(dedup(s.head))))
  }

  test("25: the user joins the batch's frame with a static table on the same key") {
    sameAsSpark(one, inBatch = _.join(static(1000), "k"))(s => dedup(s.head))
  }

  test("26: a union of a routed branch and a branch that is hashed") {
    val hashed = (s: Seq[DataFrame]) => dedup(s.head).union(s(1).repartition(Partitions, col("k")))
    sameAsSpark(two)(s => dedup(hashed(s)))
    sameAsSpark(two)(s => hashed(s).join(static(1000), "k"))
    sameAsSpark(two)(s => hashed(s).join(static(100), Seq("k"), "left"))
  }

  test("26: a union of two routed groups under a join") {
    sameAsSpark(two)(s => dedup(s.head).union(dedup(s(1))).join(static(100), Seq("k"), "left"))
  }

  test("27: one group under a union that Spark zips by partition: the tables come first") {
    val routed = sameAsSpark(two)(s => dedup(dedup(s.head).union(dedup(s(1)))))
    routed.plans.foreach { plan =>
      val upper = StatefulNode.allIn(plan).minBy(_.id)
      assert(upper.node.children.head.isInstanceOf[CarryExec])
    }
  }

  test("frames of two queries, each with its own table, that meet in one plan") {
    def joined(tables: String): Run = {
      var other = Option.empty[DataFrame]
      val keep = (frame: DataFrame) => {
        val kept = frame.select(col("k"), col("v").as("w")).persist()
        other = Some(kept)
        kept
      }
      try {
        streamed(tables, one.take(1), settings = Map(RandomTables.Seed -> "7"), inBatch = keep)(s =>
          dedup(s.head)
        )
        streamed(tables, one.take(1), inBatch = _.join(other.get, "k"))(s => dedup(s.head))
      } finally other.foreach(_.unpersist())
    }
    assert(joined("none").rows.size == 100)
    assert(joined("random").rows == joined("none").rows)
  }

  test("operators of one stage share a group and a table") {
    val routed = sameAsSpark(one, update) { s =>
      dedup(s.head).groupBy("k").agg(count(lit(1)).as("n")).where("n > 0")
    }
    assert(routed.plans.last.collect { case e: RoutedExchangeExec => e.group } == Seq(0L))
  }
}
