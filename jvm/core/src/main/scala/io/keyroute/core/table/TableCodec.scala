package io.keyroute.core.table

import scala.jdk.CollectionConverters._

import com.google.protobuf.InvalidProtocolBufferException

import io.keyroute.proto.v1.{GroupTable => GroupTableProto, RoutingTables => RoutingTablesProto}

/** Tables to bytes and back. Both directions are exact: equal tables have equal bytes, and bytes
  * that are accepted encode again to themselves, so that the hash of what was published is the hash
  * of what is kept in the checkpoint. */
object TableCodec {

  /** The only format of `RoutingTables` so far. */
  val Format: Int = 1

  def encode(tables: RoutingTables): Array[Byte] =
    RoutingTablesProto
      .newBuilder()
      .setFormat(Format)
      .setVersion(tables.version)
      .setQueryId(tables.queryId)
      .addAllGroups(tables.groups.map(groupToProto).asJava)
      .addAllParts(tables.parts.map(Int.box).asJava)
      .build()
      .toByteArray

  /** Reads tables and validates everything that can be known without the query.
    *
    * @param expectedHash lower-case hex SHA-256 that the bytes must have
    * @throws InvalidTable with a sentence that says what is wrong */
  def decode(bytes: Array[Byte], expectedHash: Option[String] = None): RoutingTables = {
    checkHash(bytes, expectedHash)
    val proto =
      try RoutingTablesProto.parseFrom(bytes)
      catch {
        case e: InvalidProtocolBufferException =>
          throw new InvalidTable(s"the bytes are not a routing table: ${e.getMessage}")
      }
    checkFormat(proto.getFormat)
    val tables = fromProto(proto)
    if (!java.util.Arrays.equals(bytes, encode(tables)))
      throw new InvalidTable(
        "the table is not in its canonical form, or has fields that this version of KeyRoute does " +
          "not know; write it with this version of the controller"
      )
    tables
  }

  private def checkHash(bytes: Array[Byte], expected: Option[String]): Unit =
    expected.foreach { wanted =>
      val found = ContentHash.sha256(bytes)
      if (found != wanted)
        throw new InvalidTable(
          s"the table's bytes have the SHA-256 $found but $wanted was promised: they are damaged or " +
            "incomplete; publish a new version"
        )
    }

  private def checkFormat(format: Int): Unit = format match {
    case Format => ()
    case 0 => throw new InvalidTable("the bytes are not a routing table: they name no format")
    case newer =>
      throw new InvalidTable(
        s"the table has format ${Integer.toUnsignedString(newer)}, this version of KeyRoute reads " +
          s"$Format: use the same version for controller and query"
      )
  }

  private def fromProto(proto: RoutingTablesProto): RoutingTables = {
    val ids = proto.getGroupsList.asScala.map(_.getShape.getGroup)
    if (ids != ids.sorted) throw new InvalidTable("the groups are not ascending by their ids")
    RoutingTables(
      proto.getVersion,
      proto.getQueryId,
      proto.getGroupsList.asScala.map(groupFromProto).toVector,
      proto.getPartsList.asScala.map(_.intValue).toVector
    )
  }

  private def groupToProto(table: GroupTable): GroupTableProto = {
    val builder = GroupTableProto.newBuilder().setShape(table.shape.toProto)
    table.explicit.sortedFingerprints.foreach { fingerprint =>
      builder.addFingerprints(fingerprint)
      builder.addTargets(table.explicit.lookup(fingerprint))
    }
    table.slotOwners.foreach(owner => builder.addSlotOwners(owner))
    builder.build()
  }

  private def groupFromProto(proto: GroupTableProto): GroupTable =
    GroupTable.build(
      GroupShape.fromProto(proto.getShape),
      Array.tabulate(proto.getFingerprintsCount)(proto.getFingerprints),
      Array.tabulate(proto.getTargetsCount)(proto.getTargets),
      Array.tabulate(proto.getSlotOwnersCount)(proto.getSlotOwners)
    )
}
