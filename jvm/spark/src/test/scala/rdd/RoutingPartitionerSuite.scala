package io.keyroute.spark

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.functions.{col, spark_partition_id}
import org.apache.spark.sql.keyroute.route.{RandomTables, StreamingTest}
import org.apache.spark.{HashPartitioner, ShuffleDependency}

import io.keyroute.core.table.{GroupShape, GroupTable}

class RoutingPartitionerSuite extends AnyFunSuite {
  private lazy val spark = StreamingTest.spark
  private lazy val pairs: RDD[(String, Int)] =
    spark.sparkContext.parallelize((0 until 500).map(i => (s"k${i % 100}", i)), 3)

  private def shape(types: String*): GroupShape =
    GroupShape(
      0,
      Seq(0),
      4,
      1024,
      types.indices,
      types.indices.map(i => s"c$i"),
      types,
      stableSlots = true
    )

  private def random(types: String*): RoutingPartitioner =
    new RoutingPartitioner(RandomTables.random(shape(types: _*)))

  private def empty(types: String*): RoutingPartitioner =
    new RoutingPartitioner(GroupTable.empty(shape(types: _*)))

  test("the empty table places keys as repartition does in SQL, single and several columns") {
    val session = spark
    import session.implicits._
    val one = empty("STRING")
    (0 until 100).map(i => s"k$i").toDF("k").repartition(4, col("k"))
      .select(col("k"), spark_partition_id()).as[(String, Int)].collect()
      .foreach { case (k, p) => assert(one.getPartition(k) == p) }
    val two = empty("STRING", "BIGINT")
    (0 until 100).map(i => (s"k$i", i.toLong)).toDF("k", "v").repartition(4, col("k"), col("v"))
      .select(col("k"), col("v"), spark_partition_id()).as[(String, Long, Int)].collect()
      .foreach { case (k, v, p) => assert(two.getPartition((k, v)) == p) }
  }

  test("partitionBy puts each key where the table says") {
    val partitioner = random("STRING")
    val placed = pairs.partitionBy(partitioner).mapPartitionsWithIndex((i, rows) =>
      rows.map { case (k, _) => (k, i) }
    ).collect().distinct
    assert(placed.length == 100)
    placed.foreach { case (k, i) => assert(partitioner.getPartition(k) == i) }
    assert(placed.exists { case (k, i) => empty("STRING").getPartition(k) != i })
  }

  test("reduceByKey and join give what Spark's own partitioner gives") {
    val partitioner = random("STRING")
    val sums = pairs.reduceByKey(partitioner, _ + _)
    assert(sums.collect().toMap == pairs.reduceByKey(new HashPartitioner(4), _ + _).collect().toMap)
    val other = pairs.mapValues(_.toString)
    assert(sums.join(other, partitioner).collect().toSet ==
      sums.join(other, new HashPartitioner(4)).collect().toSet)
  }

  test("RDDs that equal tables placed are joined without another shuffle") {
    val left = pairs.partitionBy(random("STRING"))
    val right = pairs.reduceByKey(random("STRING"), _ + _)
    assert(shuffles(left.join(right)) == 2)
    assert(shuffles(left.join(pairs.partitionBy(empty("STRING")))) == 3)
    assert(random("STRING") == random("STRING"))
    assert(random("STRING").hashCode == random("STRING").hashCode)
    assert(random("STRING") != empty("STRING"))
  }

  test("null is a key; a key of another type is refused with the table's type") {
    val partitioner = random("STRING")
    assert(pairs.context.parallelize(Seq((null: String, 1), (null: String, 2)), 2)
      .reduceByKey(partitioner, _ + _).collect().toSeq == Seq((null, 3)))
    val refused = intercept[IllegalArgumentException](partitioner.getPartition(Seq(1)))
    assert(refused.getMessage.contains("STRING"))
  }

  private def shuffles(rdd: RDD[_]): Int = {
    def all(rdd: RDD[_]): Set[Int] = rdd.dependencies.flatMap {
      case s: ShuffleDependency[_, _, _] => all(s.rdd) + s.shuffleId
      case d => all(d.rdd)
    }.toSet
    all(rdd).size
  }
}
