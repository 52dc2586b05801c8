package io.keyroute.core.table

import com.google.protobuf.UnknownFieldSet
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

import io.keyroute.proto.v1.{RoutingTables => RoutingTablesProto}

class TableCodecSuite extends AnyFunSuite with ScalaCheckPropertyChecks {

  private val tables = RoutingTables(
    7,
    "query",
    Seq(
      Shapes.table(Shapes.shape(0), Map(-5L -> 1, 9L -> 2)),
      Shapes.table(Shapes.shape(2), Map.empty, Array.tabulate(1026)(s => (s + 1) % 3))
    ),
    Seq(2, 1, 0)
  )
  private val bytes = TableCodec.encode(tables)

  private def proto: RoutingTablesProto.Builder = RoutingTablesProto.parseFrom(bytes).toBuilder

  private def refused(changed: RoutingTablesProto.Builder): String =
    intercept[InvalidTable](TableCodec.decode(changed.build().toByteArray)).getMessage

  test("tables go to bytes and back, bit for bit") {
    forAll(Shapes.genTables) { tables =>
      val bytes = TableCodec.encode(tables)
      val copy = TableCodec.decode(bytes, Some(tables.hash))
      assert(copy === tables)
      assert(TableCodec.encode(copy) === bytes)
      assert(ContentHash.sha256(bytes) === copy.hash)
    }
  }

  test("the hash is known: SHA-256 in lower-case hex") {
    assert(ContentHash.sha256(Array.empty) ===
      "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855")
  }

  test("other bytes than promised are refused") {
    val message = intercept[InvalidTable](TableCodec.decode(bytes, Some("00ff"))).getMessage
    assert(message.contains("damaged or incomplete"))
    assert(message.contains(tables.hash))
  }

  test("bytes that are no table, or cut short, are refused") {
    intercept[InvalidTable](TableCodec.decode("{\"format\":1}".getBytes))
    intercept[InvalidTable](TableCodec.decode(bytes.dropRight(1)))
    assert(intercept[InvalidTable](TableCodec.decode(Array.empty)).getMessage.contains("no format"))
  }

  test("another format or unknown fields are refused: they may mean another routing") {
    assert(refused(proto.setFormat(2)).contains("format 2"))
    val unknown = UnknownFieldSet.newBuilder().mergeVarintField(99, 1).build()
    assert(refused(proto.setUnknownFields(unknown)).contains("not in its canonical form"))
  }

  test("tables that contradict themselves are refused") {
    val first = proto.getGroups(0)
    val mangled = Seq(
      first.toBuilder.setTargets(0, 3) -> "goes to partition 3 of 3",
      first.toBuilder.setTargets(0, -1) -> "4294967295",
      first.toBuilder.clearTargets() -> "2 fingerprints but 0 targets",
      first.toBuilder.setFingerprints(1, -5L) -> "not strictly ascending",
      first.toBuilder.addSlotOwners(1) -> "1 slot owners for 1026 slots",
      first.toBuilder.setShape(first.getShape.toBuilder.setSlots(1027)) -> "not a multiple",
      first.toBuilder.setShape(first.getShape.toBuilder.setRoutingOrdinals(
        0,
        2
      )) -> "exceed its 2 key columns",
      first.toBuilder.clearShape() -> "does not know"
    )
    mangled.foreach { case (group, expected) =>
      assert(refused(proto.setGroups(0, group)).contains(expected))
    }
    assert(refused(proto.addParts(1)).contains("parts are given for 4"))
    assert(refused(proto.setVersion(-2)).contains("negative"))
    val swapped = proto.clearGroups().addGroups(proto.getGroups(1)).addGroups(first)
    assert(refused(swapped).contains("not ascending"))
  }
}
