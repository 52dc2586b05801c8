package io.keyroute.spark

import org.apache.spark.sql.SparkSessionExtensions
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.execution.{ColumnarRule, SparkPlan}
import org.apache.spark.sql.keyroute.handoff.Deciders
import org.apache.spark.sql.keyroute.route.{BatchDecider, RoutingRule}

/** The SQL extension: `spark.sql.extensions=io.keyroute.spark.KeyRouteExtension`. The plugin sets it.
  *
  * @param decider
  *   of each session's batches
  */
class KeyRouteExtension(decider: SparkSession => BatchDecider)
    extends (SparkSessionExtensions => Unit) {

  def this() = this(_ => Deciders)

  override def apply(extensions: SparkSessionExtensions): Unit =
    extensions.injectColumnar {
      case session: SparkSession =>
        val rule = new RoutingRule(session, decider(session))
        new ColumnarRule { override def preColumnarTransitions: Rule[SparkPlan] = rule }
      case _ => new ColumnarRule {} // a Spark Connect client plans nothing itself
    }
}
