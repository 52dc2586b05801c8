package org.apache.spark.sql.keyroute.publish

import java.nio.charset.StandardCharsets.UTF_8

import com.fasterxml.jackson.databind.node.{ArrayNode, ObjectNode}
import com.fasterxml.jackson.databind.{JsonNode, ObjectMapper}
import com.google.protobuf.MessageOrBuilder
import com.google.protobuf.util.JsonFormat

import org.apache.spark.sql.keyroute.gateway.QueryBoard

import io.keyroute.proto.v1.Reconfiguration

/** `apps/<appId>`.
  *
  * @param gateway
  *   host and port; none where it could not be opened
  */
final case class Application(
    appId: String,
    gateway: Option[(String, Int)],
    keyrouteVersion: String,
    sparkVersion: String,
    startedMs: Long
)

/** `queries/<id>/live`. */
final case class Live(appId: String, runId: String)

/** A version and its identity, as `wanted` and `in_force` name it. */
final case class TableRef(version: Long, hash: String)

/** `queries/<id>/in_force`. */
final case class PublishedInForce(table: TableRef, batch: Long, runId: String)

/** `tables/<v>/meta`. */
final case class TableMeta(version: Long, hash: String, bytes: Long, chunks: Int)

/** A payload that is not what the protocol says; the message says what it is. */
final class InvalidPayload(message: String, cause: Throwable = null)
    extends IllegalArgumentException(message, cause)

/** The payloads in ZooKeeper, to bytes and back: JSON that people can read. Unknown fields are
  * ignored; 64-bit integers may be numbers or strings.
  *
  * Readers throw [[InvalidPayload]]. */
object Payloads {
  private val Format = 1
  private val mapper = new ObjectMapper()
  private val printer = JsonFormat.printer().omittingInsignificantWhitespace()
  private val parser = JsonFormat.parser().ignoringUnknownFields()

  def application(app: Application): Array[Byte] = {
    val (host, port) = app.gateway.getOrElse("" -> 0)
    bytes(node().put("appId", app.appId).put("gatewayHost", host).put("gatewayPort", port)
      .put("keyrouteVersion", app.keyrouteVersion).put("sparkVersion", app.sparkVersion)
      .put("startedMs", app.startedMs))
  }

  def meta(query: RunningQuery): Array[Byte] = {
    val json = node().put("queryId", query.queryId.toString)
      .put("name", Option(query.name).getOrElse(""))
    json.set[ObjectNode]("groups", array(query.groups.map(_.toProto)))
    json.set[ObjectNode]("operators", array(QueryBoard.operators(query)))
    bytes(json)
  }

  def live(live: Live): Array[Byte] =
    bytes(node().put("appId", live.appId).put("runId", live.runId))

  def readLive(data: Array[Byte]): Live = {
    val json = read(data, "live")
    Live(json.path("appId").asText, json.path("runId").asText)
  }

  def inForce(it: PublishedInForce): Array[Byte] = bytes(node().put("version", it.table.version)
    .put("hash", it.table.hash).put("batch", it.batch).put("runId", it.runId))

  def readInForce(data: Array[Byte]): PublishedInForce = {
    val json = read(data, "in_force")
    PublishedInForce(
      readTableRef(data, "in_force"),
      json.path("batch").asLong(0),
      json.path("runId").asText
    )
  }

  /** Of `in_force` or `wanted`. */
  def readTableRef(data: Array[Byte], what: String): TableRef = {
    val json = read(data, what)
    TableRef(long(json, "version", what), json.path("hash").asText)
  }

  def wanted(table: TableRef): Array[Byte] =
    bytes(node().put("version", table.version).put("hash", table.hash))

  def tableMeta(meta: TableMeta): Array[Byte] = bytes(node().put("version", meta.version)
    .put("hash", meta.hash).put("bytes", meta.bytes).put("chunks", meta.chunks))

  def readTableMeta(data: Array[Byte]): TableMeta = {
    val json = read(data, "a table's meta")
    def field(name: String): Long = long(json, name, "a table's meta")
    TableMeta(field("version"), json.path("hash").asText, field("bytes"), field("chunks").toInt)
  }

  def reconfiguration(it: Reconfiguration): Array[Byte] = printer.print(it).getBytes(UTF_8)

  def readReconfiguration(data: Array[Byte]): Reconfiguration = {
    val builder = Reconfiguration.newBuilder()
    try parser.merge(new String(data, UTF_8), builder)
    catch {
      case e: com.google.protobuf.InvalidProtocolBufferException =>
        throw new InvalidPayload(s"reconfiguration cannot be read: ${e.getMessage}", e)
    }
    checkFormat(builder.getFormat, "reconfiguration")
    builder.build()
  }

  private def node(): ObjectNode = mapper.createObjectNode().put("format", Format)

  private def bytes(json: JsonNode): Array[Byte] = mapper.writeValueAsBytes(json)

  private def array(messages: Seq[MessageOrBuilder]): ArrayNode =
    messages.foldLeft(mapper.createArrayNode())((all, m) =>
      all.add(mapper.readTree(printer.print(m)))
    )

  private def read(data: Array[Byte], what: String): JsonNode = {
    val json =
      try mapper.readTree(data)
      catch {
        case e: java.io.IOException =>
          throw new InvalidPayload(s"$what is not JSON: ${e.getMessage}", e)
      }
    if (json == null || !json.isObject) throw new InvalidPayload(s"$what is not a JSON object")
    checkFormat(json.path("format").asInt(Format), what)
    json
  }

  private def long(json: JsonNode, name: String, what: String): Long = {
    val value = json.path(name)
    val found = if (value.isIntegralNumber) Some(value.longValue) else value.asText.toLongOption
    found.getOrElse(throw new InvalidPayload(s"$what has no number '$name'"))
  }

  private def checkFormat(format: Int, what: String): Unit = if (format != Format) {
    throw new InvalidPayload(s"$what has format $format, this version of KeyRoute reads $Format: " +
      "use the same version for controller and application")
  }
}
