package org.apache.spark.sql.keyroute.handoff

/** Formats of a join's state that a query can begin with on Spark 4.3. */
object JoinFormats {
  val newest: Int = 4
}
