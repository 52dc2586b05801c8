package org.apache.spark.sql.keyroute.state

import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.execution.streaming.state.{RocksDB, StateStore, UnsafeRowPair}
import org.apache.spark.sql.keyroute.SparkSeam
import org.apache.spark.sql.types.StructType

/** One version of one state store, row by row, as bytes. */
trait RawState {

  /** Families that the store has. */
  def families: Set[String]

  /** Gives key and value of each row of a family, in any order. */
  def foreach(family: String)(use: (Array[Byte], Array[Byte]) => Unit): Unit
}

/** A state store that is being written, as bytes. */
trait RawWriter {
  def createFamily(family: String): Unit
  def contains(family: String, key: Array[Byte]): Boolean
  def put(family: String, key: Array[Byte], value: Array[Byte]): Unit
  def remove(family: String, key: Array[Byte]): Unit
}

/** Of a database that holds the version loaded. Its column families are virtual: a store that was
  * opened without them has the default one only. */
final class RocksDbState(db: RocksDB) extends RawState with RawWriter {
  private val Default = StateStore.DEFAULT_COL_FAMILY_NAME

  override def families: Set[String] = {
    val names = db.allColumnFamilyNames
    if (names.isEmpty) Set(Default) else names.toSet
  }

  override def foreach(family: String)(use: (Array[Byte], Array[Byte]) => Unit): Unit = {
    val rows = db.iterator(family)
    try rows.foreach(row => use(row.key, row.value))
    finally rows.closeIfNeeded()
  }

  override def createFamily(family: String): Unit =
    if (family != Default) {
      SparkSeam.createFamily(db, family, RocksDbState.isInternal(family))
    }

  override def contains(family: String, key: Array[Byte]): Boolean = db.get(key, family) != null

  override def put(family: String, key: Array[Byte], value: Array[Byte]): Unit =
    db.put(key, value, family)

  override def remove(family: String, key: Array[Byte]): Unit = db.remove(key, family)
}

object RocksDbState {

  /** Whether Spark counts a family apart, as one that only serves another: those it adds to a user's
    * state variables, and a join's counters and index by time. */
  def isInternal(family: String): Boolean =
    family.startsWith("$") || JoinIndexes.exists(family.endsWith)

  private val JoinIndexes = Seq("-keyToNumValues", "-tsWithKey")
}

/** Of the rows of a version of an HDFS-backed store. */
final class HdfsBackedState(rows: () => Iterator[UnsafeRowPair]) extends RawState {
  override def families: Set[String] = Set(StateStore.DEFAULT_COL_FAMILY_NAME)

  override def foreach(family: String)(use: (Array[Byte], Array[Byte]) => Unit): Unit =
    rows().foreach(row => use(row.key.getBytes, row.value.getBytes))
}

/** Of an HDFS-backed store that is being written. */
final class HdfsBackedWriter(store: StateStore, keySchema: StructType, valueSchema: StructType)
    extends RawState with RawWriter {
  private val rows = new HdfsBackedState(() => store.iterator(StateStore.DEFAULT_COL_FAMILY_NAME))

  override def families: Set[String] = rows.families

  override def foreach(family: String)(use: (Array[Byte], Array[Byte]) => Unit): Unit =
    rows.foreach(family)(use)

  override def createFamily(family: String): Unit = ()

  override def contains(family: String, key: Array[Byte]): Boolean =
    store.get(row(key, keySchema), family) != null

  override def put(family: String, key: Array[Byte], value: Array[Byte]): Unit =
    store.put(row(key, keySchema), row(value, valueSchema), family)

  override def remove(family: String, key: Array[Byte]): Unit =
    store.remove(row(key, keySchema), family)

  private def row(bytes: Array[Byte], schema: StructType): UnsafeRow = {
    val row = new UnsafeRow(schema.length)
    row.pointTo(bytes, bytes.length)
    row
  }
}
