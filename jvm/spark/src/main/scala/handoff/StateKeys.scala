package org.apache.spark.sql.keyroute.handoff

import java.io.IOException
import java.util.UUID

import scala.annotation.tailrec
import scala.util.control.NonFatal
import scala.util.{Failure, Try}

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.Path

import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.execution.streaming.operators.stateful.StatefulOperatorsUtils
import org.apache.spark.sql.execution.streaming.operators.stateful.transformwithstate.{
  StateStoreColumnFamilySchemaUtils,
  TransformWithStateOperatorProperties,
  TransformWithStateVariableInfo
}
import org.apache.spark.sql.execution.streaming.state._
import org.apache.spark.sql.keyroute.route.{KeyTypes, PlannedOperator, RunningBatch, StateProviders}
import org.apache.spark.sql.keyroute.state.{FamilyKeys, StoreKeys}
import org.apache.spark.sql.types.StructType

import io.keyroute.core.table.GroupShape

/** How the keys in an operator's state are laid out, from the state schema files of the checkpoint
  * (Spark writes them before our rule runs), and which operators can be moved at all. */
object StateKeys {
  private val Session = StatefulOperatorsUtils.SESSION_WINDOW_STATE_STORE_SAVE_EXEC_OP_NAME
  private val PlainOperators = Set(
    StatefulOperatorsUtils.STATE_STORE_SAVE_EXEC_OP_NAME,
    StatefulOperatorsUtils.DEDUPLICATE_EXEC_OP_NAME,
    StatefulOperatorsUtils.DEDUPLICATE_WITHIN_WATERMARK_EXEC_OP_NAME,
    Session
  ) ++ StatefulOperatorsUtils.FLAT_MAP_GROUPS_OP_NAMES
  private val Join = StatefulOperatorsUtils.SYMMETRIC_HASH_JOIN_EXEC_OP_NAME
  private val Default = StateStore.DEFAULT_COL_FAMILY_NAME

  private val Tries = 3
  private val PauseMs = 500L

  private def isTransformWithState(name: String): Boolean =
    StatefulOperatorsUtils.TRANSFORM_WITH_STATE_OP_NAMES.contains(name)

  /** Why an operator of this kind cannot be moved, if so. */
  def unmovable(operator: PlannedOperator): Option[String] =
    if (operator.name == Join) None
    else if (!PlainOperators(operator.name) && !isTransformWithState(operator.name))
      Some(s"the state of ${operator.name} cannot be moved yet")
    else if (operator.stores != Seq(StateStoreId.DEFAULT_STORE_NAME))
      Some(s"${operator.name} has several state stores")
    else None

  /** The layout of an operator's stores, checked against its group's key; or why it is not known. */
  def of(
      operator: PlannedOperator,
      shape: GroupShape,
      session: SparkSession
  ): Either[String, Seq[StoreKeys]] =
    unmovable(operator).toLeft(()).flatMap { _ =>
      val rocksDb = StateProviders.isRocksDb(session.sessionState.conf)
      val hadoopConf = session.sessionState.newHadoopConf()
      try {
        val keys = operator.stores.map(store =>
          patiently(session, Tries)(read(operator, store, shape, rocksDb, hadoopConf))
        )
        keys.flatMap(mismatch(_, shape)).headOption
          .orElse(Option.when(operator.name == Join)(JoinStores.problem(keys)).flatten)
          .toLeft(keys)
      } catch {
        case NonFatal(e) if !RunningBatch.isStopped(session) =>
          Left(s"the layout of the state of ${operator.name} cannot be read: $e")
      }
    }

  /** Tries again where files do not answer: a group whose layout is not known when a run begins stays
    * on Spark's hash until its end. */
  @tailrec
  private def patiently[T](session: SparkSession, tries: Int)(body: => T): T =
    Try(body) match {
      case Failure(_: IOException) if tries > 1 && !RunningBatch.isStopped(session) =>
        Thread.sleep(PauseMs) // A stop interrupts it; there is nothing else to wait for.
        patiently(session, tries - 1)(body)
      case last => last.get
    }

  private def read(
      operator: PlannedOperator,
      store: String,
      shape: GroupShape,
      rocksDb: Boolean,
      hadoopConf: Configuration
  ): StoreKeys = {
    val root = operator.info.checkpointLocation
    val withFamilies = isTransformWithState(operator.name) ||
      (operator.name == Join && JoinStores.withFamilies(operator.stateFormatVersion))
    val (schemaFiles, variables) =
      if (withFamilies) schemasOf(operator, store, hadoopConf) else (Nil, Nil)
    val id = StateStoreProviderId(
      StateStoreId(root, operator.id, StateStore.PARTITION_ID_TO_CHECK_SCHEMA, store),
      UUID.randomUUID()
    )
    val schemas = new StateSchemaCompatibilityChecker(
      id,
      hadoopConf,
      schemaFiles,
      createSchemaDir = false
    ).readSchemaFile()
    val families = schemas
      .filterNot(s => withFamilies && s.colFamilyName == Default)
      .map { s =>
        val base = StateStoreColumnFamilySchemaUtils.getBaseStateName(s.colFamilyName)
        FamilyKeys(
          s.colFamilyName,
          s.keySchema,
          s.valueSchema,
          s.keyStateEncoderSpec.getOrElse(encoder(operator, s.keySchema)),
          variables.find(_.stateName == base)
        )
      }
    StoreKeys(
      operator.id,
      operator.name,
      store,
      operator.stateFormatVersion,
      rocksDb,
      withFamilies,
      families,
      shape.routingOrdinals
    )
  }

  /** Of operators whose schema files do not tell. */
  private def encoder(operator: PlannedOperator, key: StructType): KeyStateEncoderSpec =
    if (operator.name == Session) PrefixKeyScanStateEncoderSpec(key, key.length - 1) // its start
    else NoPrefixKeyStateEncoderSpec(key)

  /** Schema files of an operator with column families, and the state variables of a
    * `transformWithState`. */
  private def schemasOf(
      operator: PlannedOperator,
      store: String,
      hadoopConf: Configuration
  ): (List[Path], List[TransformWithStateVariableInfo]) = {
    val folder = new Path(operator.info.checkpointLocation, operator.id.toString)
    val metadata = OperatorStateMetadataReader
      .createReader(folder, hadoopConf, 2, operator.info.storeVersion, createMetadataDir = false)
      .read()
    metadata match {
      case Some(v2: OperatorStateMetadataV2) =>
        val files = v2.stateStoreInfo.filter(_.storeName == store)
          .flatMap(_.stateSchemaFilePaths).map(new Path(_)).toList
        val variables =
          if (!isTransformWithState(operator.name)) Nil
          else
            TransformWithStateOperatorProperties.fromJson(v2.operatorPropertiesJson).stateVariables
        (files, variables)
      case other => throw new IllegalStateException(s"its metadata is $other")
    }
  }

  private def mismatch(keys: StoreKeys, shape: GroupShape): Option[String] = {
    val expected = KeyTypes.ofDdl(shape.keyTypes)
    keys.families.map { family =>
      val found = keys.extractor(family).partitionKeySchema.map(_.dataType)
      Option.unless(KeyTypes.alike(found, expected))(
        s"the state of ${keys.operatorName} is keyed by ${found.map(_.sql).mkString(", ")} in " +
          s"family ${family.family}, its rows by ${shape.keyTypes.mkString(", ")}"
      )
    }.collectFirst { case Some(difference) => difference }
  }
}
