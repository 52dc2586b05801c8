package io.keyroute.spark

import org.apache.spark.Partitioner
import org.apache.spark.sql.catalyst.{CatalystTypeConverters, InternalRow}
import org.apache.spark.sql.keyroute.route.{KeyHash, KeyTypes}
import org.apache.spark.sql.types.{StructField, StructType}

import io.keyroute.core.table.GroupTable

/** Routes the keys of a pair RDD by a routing table, so that partition i of an RDD holds the keys
  * that partition i of a stream's operator holds. It can be given to `partitionBy`, `reduceByKey`,
  * `join`, and the like; two partitioners of equal tables are equal, so that Spark joins without a
  * shuffle what both have placed.
  *
  * A key is the Scala or Java value of the table's key type: `String`, `Long`, `java.math.BigDecimal`,
  * `java.time.LocalDate`, …, or null; where the table's key has several columns, a tuple, another
  * `Product` or a `Row` with as many.
  *
  * @param table
  *   of one routing group, as the controller planned it; the empty table routes as a SQL query does
  */
final class RoutingPartitioner(val table: GroupTable) extends Partitioner {
  @transient private lazy val keys = new RoutingPartitioner.Keys(table)

  override def numPartitions: Int = table.shape.partitions

  /** @throws IllegalArgumentException
    *   if the key is not of the table's key type
    */
  override def getPartition(key: Any): Int = keys.partition(key)

  override def equals(other: Any): Boolean = other match {
    case that: RoutingPartitioner => table == that.table
    case _ => false
  }

  override def hashCode: Int = table.hashCode
}

object RoutingPartitioner {

  /** Stateless: tasks share a partitioner's instance. */
  private final class Keys(table: GroupTable) {
    private val types = KeyTypes.ofDdl(table.shape.keyTypes)
    private val numbers = KeyHash.ofKeyRow(types, table.shape.routingOrdinals)
    private val hash = numbers.hash
    private val fingerprint = numbers.fingerprint
    private val bySlotOnly = table.shape.routingOrdinals.isEmpty
    private val keyType = types match {
      case Seq(one) => one
      case several => StructType(several.zip(table.shape.keyNames).map { case (t, n) =>
          StructField(n, t)
        })
    }
    private val toCatalyst = CatalystTypeConverters.createToCatalystConverter(keyType)

    def partition(key: Any): Int = {
      val row = rowOf(key)
      val h = hash.eval(row).asInstanceOf[Int]
      if (bySlotOnly) table.routeBySlot(h)
      else table.route(h, fingerprint.eval(row).asInstanceOf[Long])
    }

    private def rowOf(key: Any): InternalRow =
      try
        if (types.size == 1) InternalRow(toCatalyst(key))
        else toCatalyst(key).asInstanceOf[InternalRow]
      catch {
        case e: RuntimeException =>
          throw new IllegalArgumentException(
            s"a key of ${Option(key).fold("null")(_.getClass.getName)} cannot be routed by a table " +
              s"for ${keyType.sql}",
            e
          )
      }
  }
}
