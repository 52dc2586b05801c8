package org.apache.spark.sql.keyroute.handoff

import org.apache.spark.rdd.RDD
import org.apache.spark.{Partition, SparkContext, TaskContext}

private final case class HandoffPartition(
    index: Int,
    source: HandoffSource,
    location: Option[String]
) extends Partition

/** One partition for each source, preferably where its store is.
  *
  * @param locations
  *   of each source, as the state store coordinator names them
  */
private[handoff] final class HandoffRDD(
    context: SparkContext,
    sources: Seq[HandoffSource],
    locations: Seq[Option[String]],
    task: HandoffTask,
    conf: HandoffConf
) extends RDD[HandoffResult](context, Nil) {
  setName("KeyRoute handoff")

  @transient private val parts: Array[Partition] =
    sources.zip(locations).zipWithIndex.map[Partition] { case ((source, location), index) =>
      HandoffPartition(index, source, location)
    }.toArray

  override protected def getPartitions: Array[Partition] = parts

  override protected def getPreferredLocations(split: Partition): Seq[String] =
    split.asInstanceOf[HandoffPartition].location.toSeq

  override def compute(split: Partition, context: TaskContext): Iterator[HandoffResult] =
    Iterator.single(task.run(split.asInstanceOf[HandoffPartition].source, conf.value))
}
