package org.apache.spark.sql.keyroute.handoff

import scala.collection.mutable

import org.apache.spark.sql.functions.{col, count, lit}
import org.apache.spark.sql.{DataFrame, Dataset}

/** Operators above each other, beside each other, and above themselves. */
object ChainWorkloads {

  /** New values of `g` in each batch, `h` by `g`. */
  private def parts(in: Dataset[Event]): DataFrame =
    in.selectExpr("k", "v % 500 as g", "v % 6 as h")

  private def pairs(events: Seq[Event]): Seq[(String, Long)] = events.map(e => (e.k, e.v % 500))

  private def of(name: String, mode: String)(query: Dataset[Event] => DataFrame)(
      model: () => Seq[Event] => Seq[String]
  ): Workload = Workload(name, mode, rocksDbOnly = false, query, model)

  /** Each by another key: three groups. */
  val threeKeys: Workload = of("dropDuplicates, dropDuplicates, aggregation", "update")(
    parts(_).dropDuplicates("k", "g").dropDuplicates("g", "h").groupBy("h").agg(count(lit(1)))
  ) { () =>
    val (seen, counts) = (mutable.Set.empty[Long], mutable.Map.empty[Long, Int].withDefaultValue(0))
    events => {
      val fresh = pairs(events).map(_._2).filter(seen.add)
      fresh.foreach(g => counts(g % 500 % 6) += 1)
      fresh.map(_ % 6).distinct.map(h => s"[$h,${counts(h)}]")
    }
  }

  /** The second by a part of the first one's key: two groups. */
  val subset: Workload = of("dropDuplicates, then an aggregation by a part of its key", "update")(
    parts(_).dropDuplicates("k", "g").groupBy("k").agg(count(lit(1)))
  ) { () =>
    val seen = mutable.Set.empty[(String, Long)]
    events => {
      val fresh = pairs(events).filter(seen.add).map(_._1).distinct
      fresh.map(k => s"[$k,${seen.count(_._1 == k)}]")
    }
  }

  /** The second by the first one's key and more: two groups, since Spark puts an exchange between. */
  val superset: Workload = of("dropDuplicates, then a wider aggregation", "update")(
    // Which of a key's rows comes first is Spark's choice, but here a batch's are alike.
    _.selectExpr("k || '-' || v div 60 % 3 as k", "v % 30 as g").dropDuplicates("k")
      .groupBy("k", "g").agg(count(lit(1)))
  ) { () =>
    val seen = mutable.Set.empty[String]
    _.map(e => s"${e.k}-${e.v / 60 % 3}" -> e.v % 30).filter { case (k, _) => seen.add(k) }
      .map { case (k, g) => s"[$k,$g,1]" }
  }

  /** No exchange between them: one group. */
  val sameKey: Workload = of("dropDuplicates, then an aggregation by its key", "update")(
    _.dropDuplicates("k", "v").groupBy("k", "v").agg(count(lit(1)))
  ) { () =>
    val seen = mutable.Set.empty[(String, Long)]
    _.filter(e => seen.add((e.k, e.v))).map(e => s"[${e.k},${e.v},1]")
  }

  /** Of two operators: Spark may zip their partitions. */
  val aboveUnion: Workload = of("dropDuplicates of a union of dropDuplicates", "append") { in =>
    def branch(rows: String) = Workloads.deduplication.query(in.filter(rows))
    branch("v % 2 = 0").union(branch("v % 4 <> 0")).dropDuplicates("k")
  }(Workloads.deduplication.model)

  /** An operator's rows with themselves: it is there twice, and all three lie alike. */
  val ofItself: Workload = of("self-join of dropDuplicates", "append") { in =>
    val rows = Workloads.deduplication.query(in)
    rows.as("a").join(rows.as("b"), col("a.k") === col("b.k")).select("a.k", "b.k")
  } { () =>
    val fresh = Workloads.deduplication.model()
    fresh(_).map(row => row.stripSuffix("]") + "," + row.stripPrefix("["))
  }

  /** A self-join between two others: below it by its key, above it by another. */
  val betweenOthers: Workload = of("dropDuplicates of a self-join", "append") { in =>
    // A row at the epoch would be late.
    val rows = in.filter("v > 0").withWatermark("ts", "0 seconds").dropDuplicates("k", "ts")
    rows.as("a").join(rows.as("b"), col("a.k") === col("b.k") && col("a.ts") === col("b.ts"))
      .select(col("a.v").as("v")).selectExpr("v % 500 as part").dropDuplicates("part")
  } { () =>
    val seen = mutable.Set.empty[Long]
    _.map(_.v % 500).filter(v => v > 0 && seen.add(v)).map(part => s"[$part]")
  }
}
