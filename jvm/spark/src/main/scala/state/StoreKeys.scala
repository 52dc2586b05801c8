package org.apache.spark.sql.keyroute.state

import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.execution.streaming.operators.stateful.StatePartitionKeyExtractorFactory
import org.apache.spark.sql.execution.streaming.operators.stateful.transformwithstate.TransformWithStateVariableInfo
import org.apache.spark.sql.execution.streaming.state.{
  DropLastNFieldsStatePartitionKeyExtractor,
  KeyStateEncoderSpec,
  StatePartitionKeyExtractor,
  TimestampAsPostfixKeyStateEncoderSpec,
  TimestampAsPrefixKeyStateEncoderSpec,
  UnsafeRowDataEncoder
}
import org.apache.spark.sql.keyroute.route.{KeyHash, RowRouter}
import org.apache.spark.sql.types.StructType

/** How the keys of one column family are laid out.
  *
  * @param encoder
  *   RocksDB's encoding of the key
  * @param variable
  *   the state variable that the family belongs to, in `transformWithState`
  */
final case class FamilyKeys(
    family: String,
    keySchema: StructType,
    valueSchema: StructType,
    encoder: KeyStateEncoderSpec,
    variable: Option[TransformWithStateVariableInfo]
)

/** What one needs to know to tell which key a raw row of a state store belongs to.
  *
  * @param operatorName
  *   Spark's name of the operator
  * @param rocksDb
  *   whether keys are encoded as RocksDB has them; else they are unsafe rows (HDFS-backed)
  * @param withFamilies
  *   whether the store was opened with column families
  * @param routingOrdinals
  *   of the operator's group
  */
final case class StoreKeys(
    operator: Long,
    operatorName: String,
    store: String,
    stateFormatVersion: Option[Int],
    rocksDb: Boolean,
    withFamilies: Boolean,
    families: Seq[FamilyKeys],
    routingOrdinals: Seq[Int]
) {

  /** Spark's own extractor of the partition key from state keys of a family.
    * @throws RuntimeException
    *   of Spark's, for a family that it does not know */
  def extractor(family: FamilyKeys): StatePartitionKeyExtractor = {
    val sparks = StatePartitionKeyExtractorFactory.create(
      operatorName,
      family.keySchema,
      store,
      family.family,
      stateFormatVersion,
      family.variable
    )
    // Spark's takes the time that these encoders add to a join's key for a part of the key.
    family.encoder match {
      case _: TimestampAsPrefixKeyStateEncoderSpec | _: TimestampAsPostfixKeyStateEncoderSpec =>
        new DropLastNFieldsStatePartitionKeyExtractor(family.keySchema, 1)
      case _ => sparks
    }
  }
}

/** Tells where raw keys of one family belong. Not thread-safe. */
final class FamilyRouter(keys: StoreKeys, family: FamilyKeys) {
  private val extractor = keys.extractor(family)
  private val decode: Array[Byte] => UnsafeRow =
    if (keys.rocksDb) {
      val encoder = family.encoder.toEncoder(
        new UnsafeRowDataEncoder(family.encoder, family.valueSchema),
        keys.withFamilies
      )
      bytes => encoder.decodeKey(bytes)
    } else {
      val row = new UnsafeRow(family.keySchema.length)
      bytes => { row.pointTo(bytes, bytes.length); row }
    }

  /** Answers for the key taken last. */
  val router: RowRouter = new RowRouter(
    KeyHash.ofKeyRow(extractor.partitionKeySchema.map(_.dataType), keys.routingOrdinals)
  )

  /** Takes a raw key; [[router]] then tells its partition. */
  def take(key: Array[Byte]): Unit = router.take(extractor.partitionKey(decode(key)))
}
