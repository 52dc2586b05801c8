package io.keyroute.core.table

import java.io.{ByteArrayInputStream, ByteArrayOutputStream, ObjectInputStream, ObjectOutputStream}

import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

class RoutingTablesSuite extends AnyFunSuite with ScalaCheckPropertyChecks {

  private val shapes = Seq(Shapes.shape(0), Shapes.shape(2))

  private def serialise(value: AnyRef): Array[Byte] = {
    val bytes = new ByteArrayOutputStream
    val out = new ObjectOutputStream(bytes)
    out.writeObject(value)
    out.close()
    bytes.toByteArray
  }

  private def deserialise(bytes: Array[Byte]): RoutingTables =
    new ObjectInputStream(new ByteArrayInputStream(bytes)).readObject()
      .asInstanceOf[RoutingTables]

  test("version 0 is empty and fits its query") {
    val empty = RoutingTables.empty("query", shapes)
    assert(empty.version === 0)
    assert(empty.isEmpty)
    assert(empty.check(shapes) === Right(()))
  }

  test("a group that is left out has the empty table") {
    val tables = RoutingTables(3, "query", Seq(Shapes.table(shapes.head, Map(1L -> 2))), Nil)
    assert(tables.table(2) === None)
    assert(tables.tableFor(shapes(1)) === GroupTable.empty(shapes(1)))
    assert(tables.tableFor(shapes.head).route(0, 1L) === 2)
    assert(tables.check(shapes) === Right(()))
    assert(!tables.isEmpty)
  }

  test("what does not fit the query is named") {
    val tables = RoutingTables(3, "query", Seq(GroupTable.empty(Shapes.shape(2))), Nil)
    assert(tables.check(Seq(Shapes.shape(0))) ===
      Left("version 3 does not fit the query: the query has no routing group 2"))
    assert(tables.check(Seq(Shapes.shape(2, partitions = 6))).left.exists(
      _.contains("number of partitions of group 2: the query has 6, the table has 3")
    ))
    assert(tables.checkQuery("query") === Right(()))
    assert(
      tables.checkQuery("other").left.exists(_.contains("made for query query, not for other"))
    )
  }

  test("contradictions are refused") {
    def refused(tables: => RoutingTables): String = intercept[InvalidTable](tables).getMessage
    val table = GroupTable.empty(Shapes.shape())
    assert(refused(RoutingTables(-1, "q", Seq(table), Nil)).contains("negative"))
    assert(refused(RoutingTables(1, "q", Seq(table, table), Nil)).contains("two tables"))
    assert(refused(RoutingTables(
      1,
      "q",
      Seq(table),
      Seq(0, 0)
    )).contains("2 partitions, but there"))
    assert(refused(RoutingTables(1, "q", Seq(table), Seq(0, 0, 3))).contains("part 3"))
  }

  test("tables survive Java serialisation") {
    forAll(Shapes.genTables) { tables =>
      val copy = deserialise(serialise(tables))
      assert(copy === tables)
      assert(copy.hash === tables.hash)
    }
  }

  test("a million entries weigh 16 MB") {
    val fingerprints = Array.tabulate(1000000)(i => i * 0x1234567L)
    val table = GroupTable.build(Shapes.shape(), fingerprints, fingerprints.map(_ => 1))
    val bytes = serialise(RoutingTables(1, "query", Seq(table), Nil))
    assert(bytes.length > 15000000 && bytes.length < 16100000)
    assert(deserialise(bytes).table(0).exists(_.explicit.lookup(0x1234567L) == 1))
  }
}
