package org.apache.spark.sql.keyroute.route

import scala.annotation.tailrec

import org.apache.spark.sql.catalyst.plans.physical.{
  HashPartitioning,
  Partitioning,
  PartitioningCollection
}
import org.apache.spark.sql.execution.exchange.{
  Exchange,
  REQUIRED_BY_STATEFUL_OPERATOR,
  ShuffleExchangeExec,
  ShuffleOrigin
}
import org.apache.spark.sql.execution.{SortExec, SparkPlan, UnaryExecNode}
import org.apache.spark.sql.keyroute.SparkSeam

import io.keyroute.core.table.GroupShape

/** Puts a batch's route into its plan.
  *
  * Without a table, an exchange that Spark made for a stateful operator is replaced by one that
  * routes as Spark does and says so. With a table, such an exchange declares a partitioning of its
  * own, Spark's rule is run again to put plain exchanges where consumers relied on the hash, and an
  * operator that no exchange of its own feeds gets one, lowest first, until nothing changes.
  *
  * @param shapes
  *   of every group of the route
  */
final class PlanRouter(route: BatchRoute, shapes: Map[Long, GroupShape]) {
  private val tabled: Set[Long] =
    route.tables.value.groups.filterNot(_.isEmpty).map(_.shape.group).toSet

  def apply(plan: SparkPlan): SparkPlan = {
    val routed =
      if (route.groupOf.values.exists(tabled)) settle(plan, MaxRounds) else swap(plan, None)
    number(if (route.version > 0) carry(routed) else routed)
  }

  @tailrec
  private def settle(plan: SparkPlan, rounds: Int): SparkPlan = {
    val ensured = ensure(swap(plan, None))
    val next =
      if (ensured.fastEquals(plan)) insertLowest(ensured).map(ensure).getOrElse(plan) else ensured
    if (next.fastEquals(plan)) plan
    else if (rounds == 0)
      throw new KeyRouteException("a plan could not be routed within " +
        s"$MaxRounds rounds; please report it with this plan:\n${plan.treeString}")
    else settle(next, rounds - 1)
  }

  private val MaxRounds = 64

  /** Replaces, in place, the exchanges that feed an operator through nothing but unary nodes.
    * @param feeds
    *   the group of the operator above
    */
  private def swap(plan: SparkPlan, feeds: Option[Long]): SparkPlan = plan match {
    case exchange: ShuffleExchangeExec =>
      val below = exchange.mapChildren(swap(_, None)).asInstanceOf[ShuffleExchangeExec]
      (feeds, below.outputPartitioning) match {
        case (Some(group), hash: HashPartitioning) if isForOperator(below, hash, group) =>
          val routed = routedExchange(hash, below.child, below.shuffleOrigin, group)
          routed.copyTagsFrom(exchange)
          routed
        case _ => below
      }
    case StatefulNode(n) => n.node.mapChildren(swap(_, route.groupOf.get(n.id)))
    case exchange: Exchange => exchange.mapChildren(swap(_, None))
    case unary: UnaryExecNode => unary.mapChildren(swap(_, feeds))
    case other => other.mapChildren(swap(_, None)) // a join's or a union's exchanges are its own
  }

  private def isForOperator(e: ShuffleExchangeExec, hash: HashPartitioning, group: Long): Boolean =
    e.shuffleOrigin == REQUIRED_BY_STATEFUL_OPERATOR && SparkSeam.isBlocking(e) &&
      hash.numPartitions == shapes(group).partitions &&
      KeyTypes.alike(hash.expressions.map(_.dataType), KeyTypes.ofDdl(shapes(group).keyTypes))

  private def routedExchange(
      hash: HashPartitioning,
      child: SparkPlan,
      origin: ShuffleOrigin,
      group: Long
  ): RoutedExchangeExec =
    RoutedExchangeExec(hash, child, origin, group, if (tabled(group)) route.version else 0L)(
      ExchangeRoute(route, shapes)
    )

  /** Puts an exchange under the lowest operator that is fed by a hash where its group has a table, or
    * by another group's table. None where there is no such operator. */
  private def insertLowest(plan: SparkPlan): Option[SparkPlan] = {
    var inserted = false
    val result = plan.transformUp {
      case StatefulNode(n) if !inserted =>
        val fed = n.node.withNewChildren(n.node.children.zip(n.demands).map {
          case (child, Some(demand)) if !isFedRightly(child, demand, route.groupOf.get(n.id)) =>
            exchangeUnder(demand, child, route.groupOf.get(n.id))
          case (child, _) => child
        })
        inserted = !fed.fastEquals(n.node)
        if (inserted) fed else n.node
    }
    Option.when(inserted)(result)
  }

  private def isFedRightly(child: SparkPlan, demand: KeyDemand, group: Option[Long]): Boolean = {
    val (routed, others) =
      flatten(child.outputPartitioning).partition(_.isInstanceOf[RoutedPartitioning])
    group.filter(tabled) match {
      case Some(g) => routed.exists {
          case r: RoutedPartitioning =>
            r.run == route.runId && r.group == g && r.satisfies(demand.distribution)
          case _ => false
        }
      case None => !routed.exists(_.satisfies(demand.distribution)) ||
        others.exists(_.satisfies(demand.distribution))
    }
  }

  private def exchangeUnder(demand: KeyDemand, child: SparkPlan, group: Option[Long]): SparkPlan = {
    val hash = HashPartitioning(demand.key, demand.partitions)
    val input = child match { // sorted again above the exchange
      case sort: SortExec if !sort.global => sort.child
      case other => other
    }
    group match {
      case Some(g) => routedExchange(hash, input, REQUIRED_BY_STATEFUL_OPERATOR, g)
      case None => ShuffleExchangeExec(hash, input, REQUIRED_BY_STATEFUL_OPERATOR)
    }
  }

  private def flatten(partitioning: Partitioning): Seq[Partitioning] = partitioning match {
    case PartitioningCollection(all) => all.flatMap(flatten)
    case one => Seq(one)
  }

  /** Spark's own rule, less the sorts that it leaves under the exchanges it adds. */
  private def ensure(plan: SparkPlan): SparkPlan = {
    val sortedBefore = plan.collect { case ShuffleOf(sort) => sort }.toSet
    SparkSeam.ensureRequirements(plan).transformUp {
      case exchange @ ShuffleOf(sort) if !sortedBefore(sort) =>
        exchange.withNewChildren(Seq(sort.child))
    }
  }

  private object ShuffleOf {
    def unapply(plan: SparkPlan): Option[SortExec] = plan match {
      case e: ShuffleExchangeExec =>
        Some(e.child).collect { case sort: SortExec if !sort.global => sort }
      case _ => None
    }
  }

  /** Under each routed operator, at its lowest node. */
  private def carry(plan: SparkPlan): SparkPlan = plan.transformUp {
    case StatefulNode(n) if route.groupOf.contains(n.id) && isLowest(n) =>
      n.node.withNewChildren(n.node.children.zip(n.demands).map {
        case (exchange: RoutedExchangeExec, _) => exchange
        case (child, Some(_)) => CarryExec(child, route.version)(route)
        case (child, None) => child
      })
  }

  private def isLowest(n: StatefulNode): Boolean =
    !n.node.children.exists(_.exists { case StatefulNode(m) => m.id == n.id; case _ => false })

  /** Numbers the exchanges, so that their statistics are told apart. Not by an argument of the node,
    * or no exchange of a group could be reused. */
  private def number(plan: SparkPlan): SparkPlan = {
    plan.collect { case e: RoutedExchangeExec => e }.zipWithIndex.foreach { case (exchange, i) =>
      exchange.setTagValue(RoutedExchangeExec.Number, i)
    }
    plan
  }
}
