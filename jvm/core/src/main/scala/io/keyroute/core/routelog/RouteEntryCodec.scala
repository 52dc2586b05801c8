package io.keyroute.core.routelog

import java.nio.charset.StandardCharsets.US_ASCII
import java.util.zip.CRC32C

import scala.jdk.CollectionConverters._

import com.google.protobuf.InvalidProtocolBufferException

import io.keyroute.core.table.{GroupShape, InvalidTable}
import io.keyroute.proto.v1.{
  BypassedOperator => BypassedProto,
  MovedRows => MovedRowsProto,
  RouteEntry => RouteEntryProto,
  Switch => SwitchProto
}

/** Route entries to bytes and back: one ASCII line, then a protobuf `RouteEntry`. Deterministic. */
object RouteEntryCodec {

  /** The only format so far. */
  val Format: Int = 1

  private val Prefix = "keyroute route entry "
  private val MaxHeader = Prefix.length + 12

  def encode(entry: RouteEntry): Array[Byte] =
    s"$Prefix$Format\n".getBytes(US_ASCII) ++ withChecksum(toProto(entry)).toByteArray

  /** Reads an entry.
    * @throws InvalidRouteEntry if the bytes are damaged or a newer KeyRoute wrote them */
  def decode(bytes: Array[Byte]): RouteEntry = {
    val end = bytes.indexOf('\n'.toByte)
    if (end < 0 || end > MaxHeader) damaged("its first line is missing")
    checkHeader(new String(bytes, 0, end, US_ASCII))
    val proto =
      try RouteEntryProto.parseFrom(bytes.drop(end + 1))
      catch { case e: InvalidProtocolBufferException => damaged(e.getMessage) }
    checkFormat(proto.getFormat)
    if (proto != withChecksum(proto)) damaged("its checksum does not match")
    try fromProto(proto)
    catch { case e: InvalidTable => damaged(e.getMessage) }
  }

  private def checkHeader(line: String): Unit =
    line.stripPrefix(Prefix).toIntOption match {
      case Some(format) if line.startsWith(Prefix) => checkFormat(format)
      case _ => damaged(s"its first line is not '$Prefix$Format'")
    }

  private def checkFormat(format: Int): Unit =
    if (format == 0) damaged("it names no format")
    else if (format != Format)
      throw new InvalidRouteEntry(
        s"the route entry has format ${Integer.toUnsignedString(format)}, this version of KeyRoute " +
          s"reads $Format: it was written by a newer KeyRoute; use that version or newer"
      )

  private def withChecksum(proto: RouteEntryProto): RouteEntryProto = {
    val crc = new CRC32C
    crc.update(proto.toBuilder.clearCrc32C().build().toByteArray)
    proto.toBuilder.setCrc32C(crc.getValue.toInt).build()
  }

  private def damaged(what: String): Nothing =
    throw new InvalidRouteEntry(
      s"the route entry is damaged ($what): restore the checkpoint's folder keyroute/routes from a " +
        "copy, or start from an older batch"
    )

  private def toProto(entry: RouteEntry): RouteEntryProto = {
    val builder = RouteEntryProto
      .newBuilder()
      .setFormat(Format)
      .setQueryId(entry.queryId)
      .setBatch(entry.batch)
      .setOffsetsHash(entry.offsetsHash)
      .setTableVersion(entry.tableVersion)
      .setTableHash(entry.tableHash)
      .addAllGroups(entry.groups.sortBy(_.group).map(_.toProto).asJava)
      .addAllBypassed(entry.bypassed.sortBy(_.operator).map(bypassedToProto).asJava)
    entry.switch.foreach(s => builder.setSwitch(switchToProto(s)))
    builder.build()
  }

  private def fromProto(proto: RouteEntryProto): RouteEntry = {
    if (proto.getBatch < 0) damaged(s"batch ${proto.getBatch}")
    if (proto.getTableVersion < 0) damaged(s"table version ${proto.getTableVersion}")
    RouteEntry(
      proto.getQueryId,
      proto.getBatch,
      proto.getOffsetsHash,
      proto.getTableVersion,
      proto.getTableHash,
      proto.getGroupsList.asScala.map(GroupShape.fromProto).toVector,
      proto.getBypassedList.asScala
        .map(b => BypassedOperator(b.getOperator, b.getReason))
        .toVector,
      if (proto.hasSwitch) Some(switchFromProto(proto.getSwitch)) else None
    )
  }

  private def bypassedToProto(bypassed: BypassedOperator): BypassedProto =
    BypassedProto.newBuilder().setOperator(bypassed.operator).setReason(bypassed.reason).build()

  private def switchToProto(switch: Switch): SwitchProto = {
    val moved = switch.moved.sortBy(m => (m.operator, m.store, m.source, m.target))
    SwitchProto
      .newBuilder()
      .setFromVersion(switch.fromVersion)
      .setFromHash(switch.fromHash)
      .addAllMoved(moved.map(movedToProto).asJava)
      .build()
  }

  private def movedToProto(moved: MovedRows): MovedRowsProto =
    MovedRowsProto
      .newBuilder()
      .setOperator(moved.operator)
      .setStore(moved.store)
      .setSource(moved.source)
      .setTarget(moved.target)
      .setRows(moved.rows)
      .setChecksum(moved.checksum)
      .setFile(moved.file)
      .build()

  private def switchFromProto(proto: SwitchProto): Switch =
    Switch(
      proto.getFromVersion,
      proto.getFromHash,
      proto.getMovedList.asScala.map { m =>
        MovedRows(
          m.getOperator,
          m.getStore,
          m.getSource,
          m.getTarget,
          m.getRows,
          m.getChecksum,
          m.getFile
        )
      }.toVector
    )
}
