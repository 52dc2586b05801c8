package org.apache.spark.sql.keyroute.handoff

/** Formats of a join's state that a query can begin with on Spark 4.2.
  * Format 4 is there, but refused as unfinished. */
object JoinFormats {
  val newest: Int = 3
}
