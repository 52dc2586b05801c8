package org.apache.spark.sql.keyroute.handoff

import scala.collection.mutable

import org.apache.spark.sql.functions.count

/** As [[BypassReasonsSuite]], of an operator that Spark has from 4.3 on. */
class StreamlineAggregatorSuite extends BypassReasons {

  test("an operator that is not known") {
    // As real-time mode has it: every row gives one.
    val totals = Workloads.aggregation.copy(
      query = _.groupBy("k").agg(count("*").as("n")).toDF(),
      model = () => {
        val rows = mutable.Map.empty[String, Long].withDefaultValue(0L)
        _.map { e =>
          rows(e.k) += 1
          s"[${e.k},${rows(e.k)}]"
        }
      }
    )
    val reason = reasonOf(totals)("spark.sql.streaming.useStreamlineAggregator" -> "true")
    assert(reason.contains("cannot be moved"))
  }
}
