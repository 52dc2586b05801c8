package org.apache.spark.sql.keyroute.plugin

/** The Spark that this source folder is compiled for. */
object SparkRelease {
  val minor: String = "4.2"
  val scala: String = "2.13"
}
