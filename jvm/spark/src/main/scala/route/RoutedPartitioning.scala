package org.apache.spark.sql.keyroute.route

import java.util.UUID

import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.catalyst.plans.physical.{
  ClusteredDistribution,
  HashPartitioningLike,
  ShuffleSpec,
  ShuffleSpecCollection,
  SinglePartitionShuffleSpec
}

/** Where a table in force puts rows. Rows with equal keys are together, so it clusters as Spark's
  * hash does; but which partition they are in is the table's business, so it is co-partitioned with
  * nothing but the same table. `UnionExec` compares partitionings of this kind by equality.
  *
  * @param group
  *   whose table it is
  * @param version
  *   of the tables; never 0, where the partitioning is Spark's own
  * @param run
  *   of the query whose tables they are: group and version count from the start in every query, and
  *   frames of two queries may meet in one plan
  */
final case class RoutedPartitioning(
    expressions: Seq[Expression],
    numPartitions: Int,
    group: Long,
    version: Long,
    run: UUID
) extends Expression
    with HashPartitioningLike {

  override def createShuffleSpec(distribution: ClusteredDistribution): ShuffleSpec =
    RoutedShuffleSpec(this, distribution)

  override protected def withNewChildrenInternal(
      newChildren: IndexedSeq[Expression]
  ): RoutedPartitioning = copy(expressions = newChildren)
}

/** Tells Spark's planner with which sides of a join a routed side agrees. */
final case class RoutedShuffleSpec(
    partitioning: RoutedPartitioning,
    distribution: ClusteredDistribution
) extends ShuffleSpec {

  override def numPartitions: Int = partitioning.numPartitions

  /** The other side cannot be shuffled to agree with a table: Spark re-hashes this side. */
  override def canCreatePartitioning: Boolean = false

  override def isCompatibleWith(other: ShuffleSpec): Boolean = other match {
    case SinglePartitionShuffleSpec => numPartitions == 1
    case that: RoutedShuffleSpec =>
      sameTable(that.partitioning) &&
      distribution.clustering.length == that.distribution.clustering.length &&
      keyPositions.length == that.keyPositions.length &&
      keyPositions.zip(that.keyPositions).forall { case (a, b) => a.intersect(b).nonEmpty }
    case ShuffleSpecCollection(specs) => specs.exists(isCompatibleWith)
    case _ => false
  }

  private def sameTable(that: RoutedPartitioning): Boolean =
    partitioning.run == that.run && partitioning.group == that.group &&
      partitioning.version == that.version && partitioning.numPartitions == that.numPartitions

  /** For each column of the key, where the join's clustering has it. */
  private def keyPositions: Seq[Set[Int]] = partitioning.expressions.map { key =>
    distribution.clustering.indices.filter(distribution.clustering(_).semanticEquals(key)).toSet
  }
}
