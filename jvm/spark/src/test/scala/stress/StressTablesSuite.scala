package org.apache.spark.sql.keyroute.stress

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.keyroute.count.Reports
import org.apache.spark.sql.keyroute.publish.{RunningQuery, SwitchFigures}

import io.keyroute.core.table.RoutingTables

class StressTablesSuite extends AnyFunSuite {
  private val query = Reports.query()
  private val keys = (0L until 500L).map(_ * 7919)

  private def drawn(seed: Long, version: Long, of: RunningQuery = query): RoutingTables =
    new StressTables(seed).draw(of, version, _ => keys)

  test("the same seed makes the same tables, in any run; another seed, version or name others") {
    val again = Reports.query(query.queryId)
    assert(drawn(1, 1) == drawn(1, 1, again))
    val other = Seq(drawn(2, 1), drawn(1, 2), drawn(1, 1, query.copy(name = "another")))
    assert(other.forall(t => t.groups.zip(drawn(1, 1).groups).forall { case (a, b) => a != b }))
    assert(drawn(1, 1).groups.map(_.explicit).distinct.size == 2, "each group has its own")
  }

  test("where a key goes does not depend on which other keys are known") {
    val some = new StressTables(1).draw(query, 1, _ => keys.take(10))
    val all = drawn(1, 1)
    keys.take(10).foreach { key =>
      assert(some.groups.head.explicit.lookup(key) == all.groups.head.explicit.lookup(key))
    }
  }

  test("keys and slots go everywhere; every fifth version is the empty one") {
    (1L to 20L).foreach { version =>
      val tables = drawn(3, version)
      assert(tables.isEmpty == (version % 5 == 0))
      if (!tables.isEmpty) tables.groups.foreach { group =>
        val targets = keys.map(group.explicit.lookup).filter(_ >= 0)
        assert(targets.size > 200 && targets.size < 400 && targets.toSet == Set(0, 1, 2))
        assert(group.slotOwners.toSet == Set(0, 1, 2))
      }
    }
    val moved = (1L to 20L).flatMap(drawn(3, _).groups).map { group =>
      (0 until group.shape.slots).count(s => group.ownerOf(s) != s % group.shape.partitions)
    }
    assert(moved.exists(_ > 500) && moved.exists(n => n > 0 && n < 400))
  }

  test("slots that mean other keys in every window stay; without routing columns no key is named") {
    val windows = Reports.shape(0).copy(stableSlots = false)
    val none = Reports.shape(1).copy(routingOrdinals = Nil)
    val tables = drawn(1, 1, query.copy(groups = Seq(windows, none)))
    assert(tables.groups.head.hasDefaultOwners && tables.groups.head.entries > 200)
    assert(!tables.groups(1).hasDefaultOwners && tables.groups(1).entries == 0)
  }

  private def figures(version: Long) = SwitchFigures(0, 0, version, 0, 0, 0, pulled = false)

  test("tables are asked for until they are switched to, or refused; then come others") {
    val mode = new StressMode(2, 1, (_, _) => keys)
    val begun = Reports.query(version = 8)
    mode.started(begun)
    assert(mode.asked(begun.runId).isEmpty)
    val first = mode.asked(begun.runId)
    assert(first.map(_.version).contains(9L))
    mode.postponed(begun.runId, "later")
    assert(mode.asked(begun.runId) == first)
    mode.migrating(begun.runId, figures(9))
    assert(mode.asked(begun.runId).isEmpty)
    assert(mode.asked(begun.runId).map(_.version).contains(10L))
    mode.refused(begun.runId, 10, "too large")
    assert(mode.asked(begun.runId).isEmpty)
    assert(mode.asked(begun.runId).map(_.version).contains(11L))
  }

  test("a run that begins goes on in the rhythm of the one before, above what is in force") {
    val mode = new StressMode(2, 1, (_, _) => keys)
    val (one, other) = (Reports.query(), Reports.query())
    Seq(one, other).foreach(mode.started)
    assert(mode.asked(one.runId).isEmpty)
    mode.ended(one.runId)
    val again = Reports.query(one.queryId, version = 4)
    mode.started(again)
    assert(mode.asked(one.runId).isEmpty, "the run before is over")
    assert(mode.asked(again.runId).map(_.version).contains(5L))
    assert(mode.asked(other.runId).isEmpty)
    assert(mode.asked(other.runId).map(_.version).contains(1L))
    // A replayed switch, whose version the run did not know at its start.
    mode.migrating(other.runId, figures(7))
    mode.asked(other.runId): Unit
    assert(mode.asked(other.runId).map(_.version).contains(8L))
  }

  test("queries that have ended do not pile up, and none that runs is forgotten") {
    val mode = new StressMode(1, 1, (_, _) => keys)
    val running = Reports.query()
    mode.started(running)
    val ended = Seq.fill(StressMode.MostQueries + 10)(Reports.query())
    ended.foreach { q =>
      mode.started(q)
      mode.ended(q.runId)
    }
    assert(mode.asked(running.runId).isDefined)
    assert(ended.count(q => mode.asked(q.runId).isDefined) == StressMode.MostQueries - 1)
  }
}
