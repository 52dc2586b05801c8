package io.keyroute.core.golden

import java.nio.file.Files

import com.google.protobuf.{Message, Parser}
import org.scalatest.funsuite.AnyFunSuite

import io.keyroute.core.routelog.RouteEntryCodec
import io.keyroute.core.sketch.{LongSpaceSaving, PairSpaceSaving}
import io.keyroute.core.table.TableCodec
import io.keyroute.proto.v1.{ApplicationStatus, MapTaskCounts, QueryStatistics, Reconfiguration}

/** The bytes in `proto/golden/`, which the Python side decodes and encodes, too. */
class GoldenSuite extends AnyFunSuite {

  private def bytesOf(name: String): Array[Byte] =
    Files.readAllBytes(Golden.root.resolve("proto/golden").resolve(name))

  private def readsBack[M <: Message](name: String, parser: Parser[M], expected: M): Unit =
    test(s"$name decodes, and encodes again to the bit") {
      val message = parser.parseFrom(bytesOf(name))
      assert(message === expected)
      assert(message.toByteArray === bytesOf(name))
    }

  GoldenMessages.files.foreach { case (name, bytes) =>
    test(s"$name is what this version writes") {
      if (Golden.rewrite) Files.write(Golden.root.resolve("proto/golden").resolve(name), bytes)
      else assert(bytesOf(name) === bytes)
    }
  }

  readsBack("map_task_counts.bin", MapTaskCounts.parser, GoldenMessages.counts)
  readsBack("query_statistics.bin", QueryStatistics.parser, GoldenMessages.statistics)
  readsBack("reconfiguration.bin", Reconfiguration.parser, GoldenMessages.reconfiguration)
  readsBack("application_status.bin", ApplicationStatus.parser, GoldenMessages.status)

  test("routing_tables.bin decodes, and encodes again to the bit") {
    val tables = TableCodec.decode(bytesOf("routing_tables.bin"), Some(GoldenMessages.tables.hash))
    assert(tables === GoldenMessages.tables)
    assert(TableCodec.encode(tables) === bytesOf("routing_tables.bin"))
  }

  test("route_entry.bin decodes, and encodes again to the bit") {
    val entry = RouteEntryCodec.decode(bytesOf("route_entry.bin"))
    assert(entry === GoldenMessages.entry)
    assert(RouteEntryCodec.encode(entry) === bytesOf("route_entry.bin"))
  }

  test("the sketches of map_task_counts.bin are sketches") {
    val counts = MapTaskCounts.parseFrom(bytesOf("map_task_counts.bin"))
    assert(LongSpaceSaving.fromProto(counts.getKeys).rows === counts.getKeys.getRows)
    assert(PairSpaceSaving.fromProto(counts.getPairs).toProto === counts.getPairs)
  }
}
