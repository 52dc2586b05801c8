package io.keyroute.core.routelog

import java.nio.charset.StandardCharsets.US_ASCII

import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

import io.keyroute.core.table.Shapes
import io.keyroute.proto.v1.{RouteEntry => RouteEntryProto}

class RouteEntryCodecSuite extends AnyFunSuite with ScalaCheckPropertyChecks {

  private val entry = RouteEntry(
    "query",
    batch = 17,
    offsetsHash = "ab12",
    tableVersion = 4,
    tableHash = "cd34",
    groups = Seq(Shapes.shape(0), Shapes.shape(2, stable = false)),
    bypassed = Seq(BypassedOperator(5, "streaming limit: KeyRoute does not route it yet")),
    switch = Some(
      Switch(3, "ef56", Seq(MovedRows(0, "default", 0, 2, 1000, -12345678901L, "0-default-0")))
    )
  )

  private val genMoved: Gen[MovedRows] = for {
    operator <- Gen.chooseNum(0L, 3L)
    store <- Gen.oneOf("default", "left-keyToNumValues")
    source <- Gen.chooseNum(0, 5)
    target <- Gen.chooseNum(0, 5)
    rows <- Gen.chooseNum(1L, Long.MaxValue)
    checksum <- Gen.long
  } yield MovedRows(operator, store, source, target, rows, checksum, s"$operator-$store-$source")

  private val genEntry: Gen[RouteEntry] = for {
    batch <- Gen.chooseNum(0L, Long.MaxValue)
    version <- Gen.chooseNum(0L, 100L)
    moved <- Gen.option(Gen.listOf(genMoved))
  } yield entry.copy(
    batch = batch,
    tableVersion = version,
    switch = moved.map { rows =>
      Switch(1, "", rows.sortBy(m => (m.operator, m.store, m.source, m.target)))
    }
  )

  private def refused(bytes: Array[Byte]): String =
    intercept[InvalidRouteEntry](RouteEntryCodec.decode(bytes)).getMessage

  test("an entry goes to bytes and back, bit for bit") {
    forAll(genEntry) { entry =>
      val bytes = RouteEntryCodec.encode(entry)
      val copy = RouteEntryCodec.decode(bytes)
      assert(copy === entry)
      assert(RouteEntryCodec.encode(copy) === bytes)
    }
  }

  test("the order in which moved rows were collected does not show") {
    val rows =
      Seq(MovedRows(2, "default", 0, 1, 1, 1, "b"), MovedRows(0, "default", 1, 0, 1, 1, "a"))
    def bytes(moved: Seq[MovedRows]): Array[Byte] =
      RouteEntryCodec.encode(entry.copy(switch = Some(Switch(0, "", moved))))
    assert(bytes(rows) === bytes(rows.reverse))
  }

  test("the first line names what the file is") {
    val bytes = RouteEntryCodec.encode(entry)
    assert(new String(bytes.takeWhile(_ != '\n'), US_ASCII) === "keyroute route entry 1")
  }

  test("an entry tells which operators must have a table") {
    assert(entry.routes(3))
    assert(!entry.routes(5))
    assert(entry.groupOf(3).map(_.group) === Some(2L))
    assert(!entry.copy(tableVersion = 0).routes(3))
    assert(entry.switch.map(_.rows) === Some(1000L))
  }

  test("a newer format is refused, and says what to do") {
    val newer = "keyroute route entry 2\nwhatever".getBytes(US_ASCII)
    assert(refused(newer).contains("written by a newer KeyRoute; use that version or newer"))
    val inner = RouteEntryProto.newBuilder().setFormat(3).build().toByteArray
    assert(refused("keyroute route entry 1\n".getBytes(US_ASCII) ++ inner).contains("format 3"))
  }

  test("damage is refused wherever it is") {
    val bytes = RouteEntryCodec.encode(entry)
    bytes.indices.foreach(length => assert(refused(bytes.take(length)).contains("the route entry")))
    bytes.indices.foreach { i =>
      val changed = bytes.clone()
      changed(i) = (changed(i) ^ 1).toByte
      assert(refused(changed).contains("the route entry"))
    }
    assert(refused("v1\n{}".getBytes(US_ASCII)).contains("damaged"))
  }
}
