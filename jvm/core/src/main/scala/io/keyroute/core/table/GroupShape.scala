package io.keyroute.core.table

import scala.jdk.CollectionConverters._

import io.keyroute.proto.v1.{GroupShape => GroupShapeProto, HashId}

/** What is fixed about a routing group when its query is first seen; `table.proto` tells each field.
  *
  * @param group smallest Spark operator id of the group
  * @param operators all operator ids of the group, ascending
  * @param partitions n
  * @param slots S, a multiple of n
  * @param routingOrdinals positions of the routing columns in the exchange key, ascending
  * @param keyNames names of the exchange key's columns, in order
  * @param keyTypes their types as Spark DDL
  * @param stableSlots whether a slot means the same keys in every batch
  * @throws InvalidTable if the fields contradict each other */
final case class GroupShape(
    group: Long,
    operators: Seq[Long],
    partitions: Int,
    slots: Int,
    routingOrdinals: Seq[Int],
    keyNames: Seq[String],
    keyTypes: Seq[String],
    stableSlots: Boolean
) {

  GroupShape.problem(this).foreach(p => throw new InvalidTable(s"group $group: $p"))

  /** What of the other shape (a table's) differs from this one (the query's), as a sentence. */
  def mismatch(other: GroupShape): Option[String] =
    Seq[(String, GroupShape => Any)](
      "group id" -> (_.group),
      "operators" -> (s => GroupShape.list(s.operators)),
      "number of partitions" -> (_.partitions),
      "number of slots" -> (_.slots),
      "key names" -> (s => GroupShape.list(s.keyNames)),
      "key types" -> (s => GroupShape.list(s.keyTypes)),
      "routing columns" -> (s => GroupShape.list(s.routingOrdinals)),
      "stability of slots" -> (_.stableSlots)
    ).collectFirst {
      case (what, field) if field(this) != field(other) =>
        s"the $what of group $group: the query has ${field(this)}, the table has ${field(other)}"
    }

  def toProto: GroupShapeProto =
    GroupShapeProto
      .newBuilder()
      .setGroup(group)
      .addAllOperators(operators.map(Long.box).asJava)
      .setPartitions(partitions)
      .setSlots(slots)
      .addAllRoutingOrdinals(routingOrdinals.map(Int.box).asJava)
      .addAllKeyNames(keyNames.asJava)
      .addAllKeyTypes(keyTypes.asJava)
      .setHash(HashId.HASH_ID_MURMUR3_XXH64)
      .setStableSlots(stableSlots)
      .build()
}

object GroupShape {

  /** The most slots a group may have, so that a damaged table cannot ask for all memory. */
  val MaxSlots: Int = 1 << 24

  /** S where no setting says otherwise: the least multiple of n that is at least max(1024, 8n). */
  def defaultSlots(partitions: Int): Int = {
    if (partitions < 1 || partitions > MaxSlots / 8)
      throw new InvalidTable(
        s"$partitions partitions: KeyRoute routes to at least 1 and at most ${MaxSlots / 8}"
      )
    val least = math.max(1024, 8 * partitions)
    (least + partitions - 1) / partitions * partitions
  }

  /** Reads a shape.
    * @throws InvalidTable if it contradicts itself or its hash functions are not ours */
  def fromProto(proto: GroupShapeProto): GroupShape = {
    if (proto.getHash != HashId.HASH_ID_MURMUR3_XXH64)
      throw new InvalidTable(
        s"group ${proto.getGroup} hashes by function ${proto.getHashValue}, which this version of " +
          "KeyRoute does not know; only 1 (Murmur3 and XXH64) is"
      )
    GroupShape(
      proto.getGroup,
      proto.getOperatorsList.asScala.map(_.longValue).toVector,
      proto.getPartitions,
      proto.getSlots,
      proto.getRoutingOrdinalsList.asScala.map(_.intValue).toVector,
      proto.getKeyNamesList.asScala.toVector,
      proto.getKeyTypesList.asScala.toVector,
      proto.getStableSlots
    )
  }

  private def problem(s: GroupShape): Option[String] =
    Seq[(Boolean, String)](
      (s.group >= 0) -> "its id is negative",
      s.operators.headOption.contains(s.group) -> "its id is not its smallest operator id",
      ascending(s.operators) -> "its operator ids are not ascending",
      (s.partitions >= 1) -> s"it has ${Integer.toUnsignedString(s.partitions)} partitions",
      (s.slots >= 1 && s.slots <= MaxSlots) ->
        s"it has ${Integer.toUnsignedString(s.slots)} slots; 1 to $MaxSlots are allowed",
      (s.partitions >= 1 && s.slots % s.partitions == 0) ->
        s"its ${s.slots} slots are not a multiple of its ${s.partitions} partitions",
      (s.keyNames.size == s.keyTypes.size) ->
        s"it has ${s.keyNames.size} key names but ${s.keyTypes.size} key types",
      ascending(s.routingOrdinals.map(_.toLong)) -> "its routing columns are not ascending",
      s.routingOrdinals.forall(o => o >= 0 && o < s.keyNames.size) ->
        s"its routing columns ${list(s.routingOrdinals)} exceed its ${s.keyNames.size} key columns"
    ).collectFirst { case (false, sentence) => sentence }

  private def ascending(ids: Seq[Long]): Boolean =
    ids.lazyZip(ids.drop(1)).forall(_ < _)

  private def list(values: Seq[Any]): String = values.mkString("[", ", ", "]")
}
