package org.apache.spark.sql.keyroute.route

import java.util.UUID

import org.apache.spark.sql.SparkSessionExtensions
import org.apache.spark.sql.catalyst.plans.physical.HashPartitioning
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.execution.exchange.{REQUIRED_BY_STATEFUL_OPERATOR, ShuffleExchangeExec}
import org.apache.spark.sql.execution.{ColumnarRule, SparkPlan}

import io.keyroute.core.table.RoutingTables

/** The control: routes by a random table and claims Spark's hash all the same. Active where
  * [[RandomTables.Setting]] is `naive`. */
object NaiveExchanges extends (SparkSessionExtensions => Unit) {
  override def apply(extensions: SparkSessionExtensions): Unit =
    extensions.injectColumnar {
      case session: SparkSession => new ColumnarRule {
          override def preColumnarTransitions: Rule[SparkPlan] = new NaiveRule(session)
        }
      case _ => new ColumnarRule {}
    }

  private final class NaiveRule(session: SparkSession) extends Rule[SparkPlan] {
    override def apply(plan: SparkPlan): SparkPlan = {
      val nodes = StatefulNode.allIn(plan)
      val isNaive = session.conf.get(RandomTables.Setting, "none") == "naive"
      nodes.headOption.filter(_ => isNaive).flatMap(n => RunningBatch.queryOf(session, n.info))
        .fold(plan)(query => swap(plan, query.id, query.runId, nodes.head.info.storeVersion))
    }

    private def swap(plan: SparkPlan, id: UUID, run: UUID, batch: Long): SparkPlan = {
      val groups = GroupFinder.groups(plan, None)
      val shapes = RandomTables.shapes(groups)
      val tables = RoutingTables(1L, id.toString, shapes.map(RandomTables.random(_)), Nil)
      val route = BatchRoute(
        id,
        run,
        batch,
        groups.flatMap(g => g.operators.map(_ -> g.id)).toMap,
        session.sparkContext.broadcast(tables),
        0L,
        None
      )
      plan.transformUp {
        case e: ShuffleExchangeExec if e.shuffleOrigin == REQUIRED_BY_STATEFUL_OPERATOR =>
          e.outputPartitioning match {
            case hash: HashPartitioning =>
              RoutedExchangeExec(hash, e.child, e.shuffleOrigin, groups.head.id, 0L)(
                ExchangeRoute(route, shapes.map(s => s.group -> s).toMap)
              )
            case _ => e
          }
      }
    }
  }
}
