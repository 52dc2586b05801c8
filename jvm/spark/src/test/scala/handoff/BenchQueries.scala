package org.apache.spark.sql.keyroute.handoff

import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.classic.SparkSession

/** Operators that Scala alone has, for the differential bench, which calls this from Python. Spark
  * alone says there what they must give. */
object BenchQueries {

  /** @param name
    *   of the query
    * @param in
    *   columns k, v, ts
    */
  def build(name: String, in: DataFrame): DataFrame = {
    val spark = in.sparkSession.asInstanceOf[SparkSession]
    import spark.implicits._
    val groups = new GroupStateWorkloads(spark)
    val workload = name match {
      case "map-groups" => groups.map(2)
      case "flat-map-groups" => groups.eventTime(2)
      case "flat-map-groups-initial" => groups.initial
      case "processor-initial" => new ProcessorWorkloads(spark).initial
    }
    workload.query(in.as[Event])
  }
}
