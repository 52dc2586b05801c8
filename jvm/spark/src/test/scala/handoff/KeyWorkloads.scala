package org.apache.spark.sql.keyroute.handoff

import scala.collection.mutable

import org.apache.spark.sql.functions.{col, expr}
import org.apache.spark.sql.{DataFrame, Dataset}

/** A key by its columns, as SQL over its number `c` and a row's `v`. Where both of a row's values are
  * one key to Spark, `v` picks how it is written. The number 0 is a key of nulls. */
final case class KeyKind(
    name: String,
    columns: Seq[String],
    settings: Map[String, String] = Map.empty
)

/** Operators by keys of all types that Spark takes. A key is known by its number alone: a kind that
  * splits or joins keys gives other rows. */
object KeyWorkloads {
  private def orNull(sql: String) = s"if(c = 0, null, $sql)"

  private def zeros(double: String) =
    s"case c when 1 then cast('NaN' as $double) when 2 then if(v % 2 = 0, 0, -1) * cast(0 as $double) " +
      s"when 3 then cast('-Infinity' as $double) else cast(c as $double) end"

  val numbers: KeyKind = KeyKind(
    "numbers, zeros of both signs, NaN",
    Seq(
      "c % 2 = 0",
      "cast(c as tinyint)",
      "cast(c as smallint)",
      "c",
      "cast(c as bigint)",
      zeros("float"),
      zeros("double")
    ).map(orNull)
  )

  val decimals: KeyKind = KeyKind(
    "decimals with and without zeros behind",
    Seq(
      "cast(if(v % 2 = 0, c || '.50', c || '.5') as decimal(9, 2))",
      "if(v % 2 = 0, cast(c || '.500' as decimal(38, 10)), cast(c || '.5' as decimal(30, 1)))",
      "cast(c as decimal(18, 0))"
    ).map(orNull)
  )

  val times: KeyKind = KeyKind(
    "times and intervals",
    Seq(
      "date_add(date'2020-02-28', c)",
      "timestamp_seconds(c)",
      "cast(timestamp_seconds(c) as timestamp_ntz)",
      "make_time(c % 24, c % 60, c)",
      "make_ym_interval(0, c)",
      "make_dt_interval(c, 0, 0, c)"
    ).map(orNull),
    Map("spark.sql.timeType.enabled" -> "true")
  )

  val nested: KeyKind = KeyKind(
    "bytes, arrays, nested structs",
    Seq(
      "cast(k as binary)",
      "array(c, null, c + 1)",
      "array(named_struct('x', k, 'y', c))",
      "named_struct('a b', c, 'in', named_struct('list', array(k, null), 'none', cast(null as int)))"
    ).map(orNull) :+ "named_struct('always', c, 'zero', (v % 2 * 2 - 1) * 0.0D)"
  )

  val maps: KeyKind = KeyKind(
    "maps",
    Seq("if(v % 2 = 0, map(c, k, -1, 'x'), map(-1, 'x', c, k))").map(orNull),
    Map("spark.sql.legacy.allowHashOnMapType" -> "true") // for who looks where they lie
  )

  /** A megabyte each, of which there are few. */
  val long: KeyKind = KeyKind("keys of 1 MB", Seq("repeat(cast(c + 1000000 as string), 150000)"))

  /** So that there are more partitions than keys. */
  val few: KeyKind = KeyKind("few keys", Seq(orNull("k")))

  /** Numbers of the keys that a batch of so many has: 0 comes more often. */
  private def number(k: String, keys: Int): Int = {
    val i = k.stripPrefix("key-").toInt % keys
    if (i % 10 == 0) 0 else i
  }

  private def numbered(in: Dataset[Event], keys: Int): DataFrame =
    in.selectExpr(s"cast(substring(k, 5) as int) % $keys as i", "v")
      .selectExpr("if(i % 10 = 0, 0, i) as c", "v").selectExpr("c", "'key-' || c as k", "v")

  def aggregation(kind: KeyKind, keys: Int = Workloads.Keys.size): Workload = Workload(
    s"aggregation by ${kind.name}",
    "update",
    rocksDbOnly = false,
    in => {
      // Spark itself gives grouping expressions one name, which its reader of state does not take.
      val key = kind.columns.zipWithIndex.map { case (sql, i) => s"$sql as key$i" }
      numbered(in, keys).selectExpr(key :+ "c" :+ "v": _*)
        .groupBy(key.indices.map(i => col(s"key$i")): _*)
        .agg(expr("max(c) as number"), expr("count(*) as n"), expr("sum(v) as s"))
        .select("number", "n", "s")
    },
    () =>
      new Model {
        private val totals = mutable.Map.empty[Int, (Long, Long)].withDefaultValue((0L, 0L))
        override def stateRows: Long = totals.size.toLong

        override def apply(events: Seq[Event]): Seq[String] = {
          def c(e: Event) = number(e.k, keys)
          events.foreach(e => totals(c(e)) = (totals(c(e))._1 + 1, totals(c(e))._2 + e.v))
          events.map(c).distinct.map(i => s"[$i,${totals(i)._1},${totals(i)._2}]")
        }
      },
    settings = kind.settings
  )

  /** Fingerprints of a kind's keys: what a table has an entry for. */
  def fingerprints(kind: KeyKind, keys: Int = Workloads.Keys.size): Seq[Long] = {
    val numbers = Workloads.Keys.map(number(_, keys)).distinct
    numbersOf(numbers).selectExpr(s"xxhash64(${kind.columns.mkString(", ")})").collect()
      .map(_.getLong(0)).toSeq.distinct
  }

  private def numbersOf(numbers: Seq[Int]): DataFrame = {
    import SwitchTest.spark
    import spark.implicits._
    numbers.toDF("c").selectExpr("c", "'key-' || c as k", "0L as v")
  }

  /** Of which each pair is one key. */
  val signedZeros: Workload = Workload(
    "dropDuplicates of zeros of both signs",
    "append",
    rocksDbOnly = false,
    _.selectExpr("(v % 2 * 2 - 1) * 0.0D as z", "v div 40 as w").dropDuplicates("z", "w")
      .selectExpr("abs(z)", "w"),
    () =>
      new Model {
        private val seen = mutable.Set.empty[String]
        override def stateRows: Long = seen.size.toLong

        override def apply(events: Seq[Event]): Seq[String] =
          events.map(e => s"[0.0,${e.v / 40}]").filter(seen.add)
      }
  )
}
