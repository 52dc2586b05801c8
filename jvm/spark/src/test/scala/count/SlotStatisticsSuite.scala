package org.apache.spark.sql.keyroute.count

import scala.jdk.CollectionConverters._

import org.scalatest.funsuite.AnyFunSuite

import io.keyroute.core.table.{GroupTable, RoutingTables}
import io.keyroute.proto.v1.SlotPairs

/** What the driver keeps of slots, sources and run times. */
class SlotStatisticsSuite extends AnyFunSuite {

  test("the matrix of slots, source partitions of keys, and run times") {
    val f = new CollectorFixture
    val cells = SlotPairs.newBuilder().addUpstream(1).addDownstream(0).addRows(6).setLeftOut(2)
    Seq(0, 1).foreach { map =>
      f.send(Reports.wrote(f.query, 0, map, "a", Seq(6, 0, 0)).toBuilder
        .setSlotPairs(cells).setReadsSource(true).build())
    }
    // Two exchanges of one task, and a second attempt.
    Seq((0, 30L), (1, 20L), (0, 99L)).foreach { case (exchange, ms) =>
      f.send(Reports.read(f.query, 0, 1, "a").toBuilder.setExchange(exchange).setRunMs(ms).build())
    }
    f.end(0, 12)
    f.settle()
    val period = f.periods.head
    val matrix = period.getEdges(0).getSlotPairs
    assert((matrix.getUpstreamList.asScala.toSeq, matrix.getDownstreamList.asScala.toSeq) ==
      ((Seq(1), Seq(0))))
    assert((matrix.getRows(0), matrix.getLeftOut) == ((12L, 4L)))
    val sources = period.getGroups(0).getSources
    assert(sources.getRows == 12 && sources.getCountsList.asScala.toSeq == Seq(6L, 6L))
    assert(sources.getUpstreamList.asScala.toSet == Set(0L, 1L))
    assert(period.getGroups(0).getPartitionMsList.asScala.toSeq == Seq(0L, 30L, 0L))
  }

  test("state of slots: each partition's, by rows so far, and by the table that it lies by") {
    val f = new CollectorFixture
    def holds(batch: Long, rows: Long*): Unit = rows.zipWithIndex.foreach { case (n, p) =>
      f.send(Reports.read(f.query, batch, p, "a").toBuilder
        .setRunMs(1).setStateRows(n).setStateBytes(n * 10 + 1).build())
    }
    def state(period: Int): Seq[Long] =
      f.periods(period).getGroups(0).getSlotStateRowsList.asScala.map(_.longValue).toSeq
    f.wrote(0, 0, "a", 600, 0, 0) // slot 0
    f.wrote(0, 3, "a", 200, 0, 0) // slot 3
    holds(0, 80, 0)
    f.end(0, 8)
    f.settle()
    assert(state(0).isEmpty, "a partition has not told yet")
    f.wrote(1, 6, "a", 0, 0, 0)
    holds(1, 80, 0, 342)
    f.end(1, 8)
    f.settle()
    assert(state(0).length == 1026 && state(0).sum == 422)
    // 80 rows of state weigh as much as 80 rows seen, so 80 * (600 + 80 / 342) / 880.
    assert((state(0)(0), state(0)(3)) == ((55L, 18L)))
    assert((6 until 1026 by 3).map(state(0)(_)).sum == 7, "slots that were not seen have a share")
    assert((2 until 1026 by 3).forall(state(0)(_) == 1))
    val bytes = f.periods.head.getGroups(0).getSlotStateBytesList.asScala.map(_.longValue).toSeq
    assert((bytes(0), bytes(3), bytes.sum) == ((546L, 183L, 801L + 1 + 3421)))
    val owners = Array.tabulate(1026)(s => if (s == 0) 1 else s % 3)
    val table = GroupTable.build(Reports.shape(0), Array.empty, Array.empty, owners)
    val tables = RoutingTables(5, f.query.queryId.toString, Seq(table), Nil)
    f.collector.switched(f.query.runId, 2, 5, Some(tables))
    holds(2, 20, 60, 342)
    f.end(2, 8)
    f.settle()
    assert((state(1)(0), state(1)(3), state(1).sum) == ((55L, 18L, 422L)))
    f.collector.switched(f.query.runId, 3, 6, None)
    holds(3, 20, 60, 342)
    f.end(3, 8)
    f.settle()
    assert(state(2).isEmpty, "where the state lies is not known")
  }
}
