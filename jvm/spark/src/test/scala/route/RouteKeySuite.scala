package org.apache.spark.sql.keyroute.route

import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{
  Attribute,
  AttributeReference,
  Literal,
  UnsafeProjection
}
import org.apache.spark.sql.catalyst.plans.physical.HashPartitioning
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.types.UTF8String

import io.keyroute.core.table.{GroupShape, GroupTable}

class RouteKeySuite extends AnyFunSuite with ScalaCheckPropertyChecks {
  import RouteKeySuite._

  test("the empty table routes every row as Spark does, whatever the key's types and values") {
    forAll(keys, Gen.oneOf(2, 3, 7, 200), minSuccessful(150)) { (key, n) =>
      val columns = attributes(key.map(_._1))
      val row = unsafe(InternalRow.fromSeq(key.map(_._2)), columns)
      val hash = HashPartitioning(columns, n)
      val expected = hash.partitionIdExpression.transform { case a: Attribute =>
        Literal(row.get(columns.indexOf(a), a.dataType), a.dataType)
      }.eval().asInstanceOf[Int]

      val shape = shapeOf(columns, n, columns.indices)
      val observed = new Recorder
      val byTable = RouteKey.byTable(
        KeyHash(columns, shape.routingOrdinals),
        None,
        columns,
        GroupTable.empty(shape),
        observed
      )
      assert(RouteKey.bySpark(hash, columns).partition(row) == expected)
      assert(byTable.partition(row) == expected)
      assert(observed.partition == expected && !observed.byEntry)
    }
  }

  test("an entry decides where its key goes, slot owners decide for the others") {
    val columns = attributes(Seq(StringType))
    val shape = shapeOf(columns, 4, Seq(0))
    val hash = HashPartitioning(columns, 4)
    val observed = new Recorder
    def partition(table: GroupTable, key: String): Int =
      RouteKey.byTable(KeyHash(columns, Seq(0)), None, columns, table, observed)
        .partition(unsafe(InternalRow(UTF8String.fromString(key)), columns))

    partition(GroupTable.empty(shape), "a")
    val moved = (observed.partition + 1) % 4
    val entry = GroupTable.build(shape, Array(observed.fingerprint), Array(moved))
    assert(partition(entry, "a") == moved && observed.byEntry)
    val spark = RouteKey.bySpark(hash, columns)
    Seq("b", "c", "d").foreach { k =>
      val row = unsafe(InternalRow(UTF8String.fromString(k)), columns)
      assert(partition(entry, k) == spark.partition(row) && !observed.byEntry)
    }
    val turned = GroupTable.build(
      shape,
      Array.empty,
      Array.empty,
      Array.tabulate(shape.slots)(s => (s + 1) % 4)
    )
    Seq("a", "b", "c").foreach { k =>
      val row = unsafe(InternalRow(UTF8String.fromString(k)), columns)
      assert(partition(turned, k) == (spark.partition(row) + 1) % 4)
    }
  }

  test("a row whose keys are not wanted goes where it would if they were") {
    val columns = attributes(Seq(StringType))
    val shape = shapeOf(columns, 4, Seq(0))
    val rows = Seq("a", "b", "c", "d", "e")
      .map(k => unsafe(InternalRow(UTF8String.fromString(k)), columns))
    val turned = Array.tabulate(shape.slots)(s => (s + 1) % 4)
    def each(table: GroupTable, wanted: Boolean): Seq[(Int, Int, Boolean, Long)] = {
      val observed = new Recorder
      observed.wanting = wanted
      val key = RouteKey.byTable(KeyHash(columns, Seq(0)), None, columns, table, observed)
      rows.map { row =>
        assert(key.partition(row) == observed.partition)
        (observed.hash, observed.partition, observed.byEntry, observed.fingerprint)
      }
    }
    val (_, partition, _, fingerprint) = each(GroupTable.empty(shape), wanted = true)(2)
    val entry = GroupTable.build(shape, Array(fingerprint), Array((partition + 2) % 4), turned)
    Seq(GroupTable.empty(shape), entry).foreach { table =>
      val unwanted = each(table, wanted = false)
      assert(unwanted == each(table, wanted = true).map(_.copy(_4 = 0L)))
      assert(unwanted.map(_._3) == Seq(false, false, table eq entry, false, false))
    }
  }

  test("a group without routing columns never looks up a fingerprint") {
    val columns = attributes(Seq(IntegerType))
    val observed = new Recorder
    val key = RouteKey.byTable(
      KeyHash(columns, Nil),
      None,
      columns,
      GroupTable.empty(shapeOf(columns, 4, Nil)),
      observed
    )
    val row = unsafe(InternalRow(7), columns)
    assert(key.partition(row) == RouteKey.bySpark(
      HashPartitioning(columns, 4),
      columns
    ).partition(row))
    assert(!observed.byEntry)
  }

  test("the upstream key's fingerprint and hash are those under which the upstream group routes") {
    val columns = attributes(Seq(StringType, LongType))
    val row = unsafe(InternalRow(UTF8String.fromString("up"), 5L), columns)
    val upstream = new Recorder
    RouteKey.byTable(
      KeyHash(columns.take(1), Seq(0)),
      None,
      columns,
      GroupTable.empty(shapeOf(columns.take(1), 4, Seq(0))),
      upstream
    ).partition(row)
    val downstream = new Recorder
    RouteKey.byTable(
      KeyHash(columns.drop(1), Seq(0)),
      Some(KeyHash(columns.take(1), Seq(0))),
      columns,
      GroupTable.empty(shapeOf(columns.drop(1), 4, Seq(0))),
      downstream
    ).partition(row)
    assert(downstream.upstream == upstream.fingerprint)
    assert(downstream.upstreamHash == upstream.hash)
  }
}

object RouteKeySuite {

  final class Recorder extends RouteObserver {
    var fingerprint, upstream = 0L
    var partition = -1
    var byEntry = false
    var hash, upstreamHash = 0
    override def wantsUpstreamHash: Boolean = true
    var wanting = true
    override def wantsKeys: Boolean = wanting
    override def routed(h: Int, p: Int, b: Boolean): Unit = {
      hash = h
      partition = p
      byEntry = b
    }
    override def routed(
        h: Int,
        f: Long,
        p: Int,
        b: Boolean,
        known: Boolean,
        u: Long,
        uh: Int
    ): Unit = {
      hash = h
      upstreamHash = uh
      fingerprint = f
      partition = p
      byEntry = b
      upstream = u
    }
  }

  def attributes(types: Seq[DataType]): Seq[Attribute] =
    types.zipWithIndex.map { case (t, i) => AttributeReference(s"c$i", t)() }

  def unsafe(row: InternalRow, columns: Seq[Attribute]): InternalRow =
    UnsafeProjection.create(columns.map(_.dataType).toArray).apply(row).copy()

  def shapeOf(columns: Seq[Attribute], n: Int, routing: Seq[Int]): GroupShape =
    GroupShape(
      0,
      Seq(0),
      n,
      GroupShape.defaultSlots(n),
      routing,
      columns.map(_.name),
      columns.map(_.dataType.sql),
      stableSlots = true
    )

  private val decimals = Seq(DecimalType(9, 2), DecimalType(18, 0), DecimalType(38, 10))

  private val simple: Gen[(DataType, Any)] = Gen.oneOf(
    Gen.alphaNumStr.map(s => (StringType, UTF8String.fromString(s))),
    Gen.asciiStr.map(s => (StringType, UTF8String.fromString(s + "é𝄞"))),
    Gen.oneOf(true, false).map((BooleanType, _)),
    Gen.choose(Byte.MinValue, Byte.MaxValue).map((ByteType, _)),
    Gen.choose(Short.MinValue, Short.MaxValue).map((ShortType, _)),
    Gen.choose(Int.MinValue, Int.MaxValue).map((IntegerType, _)),
    Gen.choose(Long.MinValue, Long.MaxValue).map((LongType, _)),
    Gen.oneOf(0.0f, -0.0f, Float.NaN, Float.NegativeInfinity, 1.5f).map((FloatType, _)),
    Gen.oneOf(Gen.oneOf(0.0, -0.0, Double.NaN, Double.PositiveInfinity), Gen.choose(-1e9, 1e9))
      .map((DoubleType, _)),
    Gen.choose(-1000000, 1000000).map((DateType, _)),
    Gen.choose(Long.MinValue, Long.MaxValue).map((TimestampType, _)),
    Gen.choose(Long.MinValue, Long.MaxValue).map((TimestampNTZType, _)),
    Gen.listOf(Gen.choose(Byte.MinValue, Byte.MaxValue)).map(b => (BinaryType, b.toArray)),
    for (t <- Gen.oneOf(decimals); unscaled <- Gen.choose(-99999999L, 99999999L))
      yield (t, Decimal(unscaled, t.precision, t.scale))
  )

  private val nullable: Gen[(DataType, Any)] =
    Gen.frequency(6 -> simple, 1 -> simple.map { case (t, _) => (t, null) })

  private val struct: Gen[(DataType, Any)] = Gen.nonEmptyListOf(nullable).map { fields =>
    val types = fields.zipWithIndex.map { case ((t, _), i) => StructField(s"f$i", t) }
    (StructType(types), InternalRow.fromSeq(fields.map(_._2)))
  }

  val keys: Gen[Seq[(DataType, Any)]] =
    Gen.choose(1, 4).flatMap(Gen.listOfN(_, Gen.frequency(5 -> nullable, 1 -> struct)))
}
