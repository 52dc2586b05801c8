package org.apache.spark.sql.keyroute.adopt

import java.nio.charset.StandardCharsets.UTF_8

import com.fasterxml.jackson.core.JsonProcessingException
import com.fasterxml.jackson.databind.ObjectMapper
import com.fasterxml.jackson.databind.node.ObjectNode

import org.apache.spark.sql.keyroute.plugin.SparkSettings

/** An entry of Spark's offset log, as far as it pins the state store provider: a line with the
  * format, a line of metadata (JSON), a line for each source. All but the provider is kept as it is.
  *
  * @param sources
  *   the rest of the text, with the line break before it
  */
final class OffsetEntry private (format: String, metadata: ObjectNode, sources: String) {

  /** The class; Spark's default where an old entry names none. */
  def provider: String = {
    val named = metadata.path("conf").path(SparkSettings.providerKey)
    if (named.isTextual) named.textValue else SparkSettings.defaultProvider
  }

  def withProvider(provider: String): OffsetEntry = {
    val changed = metadata.deepCopy()
    changed.withObjectProperty("conf").put(SparkSettings.providerKey, provider): Unit
    new OffsetEntry(format, changed, sources)
  }

  def encode: Array[Byte] =
    s"$format\n${OffsetEntry.json.writeValueAsString(metadata)}$sources".getBytes(UTF_8)
}

object OffsetEntry {
  private val json = new ObjectMapper()

  /** @throws OwnershipRefused
    *   if this is no entry of an offset log, or one without metadata */
  def decode(bytes: Array[Byte]): OffsetEntry = {
    val text = new String(bytes, UTF_8)
    text.split("\n", 3) match {
      case Array(format, metadata, rest @ _*) if format.matches("v\\d+") =>
        new OffsetEntry(format, parse(metadata), rest.map("\n" + _).mkString)
      case _ => refuse("its first line is not the format of an offset log")
    }
  }

  private def parse(metadata: String): ObjectNode =
    try
      json.readTree(metadata) match {
        case found: ObjectNode => found
        case _ => refuse("it has no metadata: a very old Spark wrote it")
      }
    catch { case e: JsonProcessingException => refuse(s"its metadata is no JSON: ${e.getMessage}") }

  private def refuse(why: String): Nothing =
    throw new OwnershipRefused(s"the newest entry of the offset log cannot be read: $why")
}
