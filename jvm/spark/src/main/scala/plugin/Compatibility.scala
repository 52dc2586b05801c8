package org.apache.spark.sql.keyroute.plugin

import org.apache.spark.sql.keyroute.route.KeyRouteException

/** Whether this jar fits the Spark it runs in. It uses Spark's internals, which differ between
  * minor versions. */
object Compatibility {

  /** @throws KeyRouteException
    *   that names the jar to take, where Spark or Scala is another than was compiled against
    */
  def check(
      spark: String = org.apache.spark.SPARK_VERSION,
      scala: String = util.Properties.versionNumberString
  ): Unit = {
    val found = minorOf(spark)
    val foundScala = minorOf(scala)
    if (found != SparkRelease.minor || foundScala != SparkRelease.scala) {
      throw new KeyRouteException(
        s"this KeyRoute jar is made for Spark ${SparkRelease.minor} with Scala " +
          s"${SparkRelease.scala}, but runs in Spark $spark with Scala $scala. Use the jar named " +
          s"keyroute-spark-${found}_$foundScala, or take io.keyroute.spark.KeyRoutePlugin out of " +
          "spark.plugins."
      )
    }
  }

  private def minorOf(version: String): String = version.split("[.-]").take(2).mkString(".")
}
