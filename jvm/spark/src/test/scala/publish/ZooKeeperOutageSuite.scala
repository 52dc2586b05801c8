package org.apache.spark.sql.keyroute.publish

import org.scalatest.funsuite.AnyFunSuite

import io.keyroute.proto.v1.Phase

/** ZooKeeper stops, forgets or drops the session, and the driver restarts, in every phase. */
class ZooKeeperOutageSuite extends AnyFunSuite {
  import PublisherFixture._

  private class Fixture(val zookeeper: ZooKeeperInProcess) {
    val driver = new DriverPlayer(zookeeper.connect, "app")
    val controller = new ControllerPlayer(zookeeper.connect)
    val q: RunningQuery = query()
    driver.start(q)

    def await(phase: Phase, version: Long): Unit = {
      eventually {
        val there = controller.reconfiguration(q.queryId)
        assert(there.map(r => (r.getPhase, r.getVersion)).contains((phase, version)), there)
      }
      ()
    }
    def awaitAsked(version: Long): Unit = {
      eventually(assert(driver.publisher.asked(q.runId).map(_.version).contains(version)))
      ()
    }
    def awaitInForce(version: Long, batch: Long): Unit = {
      eventually(assert(controller.inForce(q.queryId).map(f => (f.table.version, f.batch))
        .contains((version, batch))))
      ()
    }
    def awaitRegistered(): Unit = {
      eventually(assert(controller.live(q.queryId).map(_.runId).contains(q.runId.toString)))
      eventually(assert(controller.session.read(controller.tree.app("app")).isDefined))
      eventually(assert(controller.session.read(controller.tree.meta(q.queryId)).isDefined))
      ()
    }
    def prepared(version: Long): TableRef = {
      val ref = controller.publish(tables(q, version))
      await(Phase.PREPARE, version)
      ref
    }
    def told(version: Long): TableRef = {
      val ref = prepared(version)
      controller.phase(q.queryId, Phase.PROPAGATE, ref)
      awaitAsked(version)
      ref
    }
    def finish(version: Long, batch: Long): Unit = {
      driver.switchTo(q, version, batch)
      await(Phase.MIGRATE, version)
      driver.publisher.batchEnded(q.runId, batch)
      await(Phase.COMMIT, version)
      awaitInForce(version, batch)
    }
  }

  private def outage(name: String)(f: Fixture => Unit): Unit = test(name) {
    val zookeeper = new ZooKeeperInProcess
    val fixture = new Fixture(zookeeper)
    try f(fixture)
    finally {
      fixture.driver.close()
      fixture.controller.close()
      zookeeper.close()
    }
  }

  private def bounce(f: Fixture)(meanwhile: => Unit): Unit = {
    f.zookeeper.stop()
    eventually(assert(!f.driver.board.status(_ => Nil).getZookeeperConnected))
    meanwhile
    f.zookeeper.start()
  }

  outage("ZooKeeper is not there at the start") { f =>
    f.zookeeper.stop()
    val q = query()
    val late = new DriverPlayer(f.zookeeper.connect, "late")
    try {
      late.start(q)
      assert(late.publisher.asked(q.runId).isEmpty)
      f.zookeeper.start()
      eventually(assert(f.controller.live(q.queryId).map(_.appId).contains("late")))
    } finally late.close()
  }

  outage("stopped before anything is wanted") { f =>
    f.awaitRegistered()
    bounce(f)(())
    f.told(1)
    f.finish(1, 3)
  }

  outage("stopped when the tables are prepared") { f =>
    val ref = f.prepared(1)
    bounce(f)(())
    eventually(f.controller.phase(f.q.queryId, Phase.PROPAGATE, ref))
    f.awaitAsked(1)
    f.finish(1, 3)
  }

  outage("stopped after the word to switch: the query switches and commits without it") { f =>
    f.told(1)
    bounce(f) {
      assert(f.driver.publisher.asked(f.q.runId).isDefined)
      f.driver.switchTo(f.q, 1, 3)
      f.driver.publisher.batchEnded(f.q.runId, 3)
    }
    f.await(Phase.COMMIT, 1)
    f.awaitInForce(1, 3)
    f.awaitRegistered()
  }

  outage("stopped while the batch that switches runs") { f =>
    f.told(1)
    f.driver.switchTo(f.q, 1, 3)
    f.await(Phase.MIGRATE, 1)
    bounce(f)(f.driver.publisher.batchEnded(f.q.runId, 3))
    f.await(Phase.COMMIT, 1)
    f.awaitInForce(1, 3)
  }

  outage("emptied with tables in force: all of ours is written anew") { f =>
    f.told(1)
    f.finish(1, 3)
    f.zookeeper.empty()
    f.awaitRegistered()
    f.awaitInForce(1, 3)
    f.await(Phase.COMMIT, 1)
    f.told(2)
    f.finish(2, 9)
  }

  outage("emptied when the tables are prepared") { f =>
    val ref = f.prepared(1)
    f.zookeeper.empty()
    f.await(Phase.PREPARE, 1)
    f.awaitRegistered()
    f.controller.phase(f.q.queryId, Phase.PROPAGATE, ref)
    f.awaitAsked(1)
    f.finish(1, 3)
  }

  outage("emptied while the batch that switches runs") { f =>
    f.told(1)
    f.driver.switchTo(f.q, 1, 3)
    f.await(Phase.MIGRATE, 1)
    f.zookeeper.empty()
    f.await(Phase.MIGRATE, 1)
    f.driver.publisher.batchEnded(f.q.runId, 3)
    f.await(Phase.COMMIT, 1)
    f.awaitInForce(1, 3)
  }

  outage("the session expires: the registrations are made anew") { f =>
    f.awaitRegistered()
    val owner = f.controller.session.read(f.controller.tree.live(f.q.queryId)).get.ephemeralOwner
    f.zookeeper.expire(owner)
    eventually {
      val live = f.controller.session.read(f.controller.tree.live(f.q.queryId))
      assert(live.exists(n => n.ephemeralOwner != owner))
    }
    f.awaitRegistered()
    f.told(1)
    f.finish(1, 3)
  }

  private def restarted(f: Fixture, next: RunningQuery)(check: DriverPlayer => Unit): Unit = {
    f.driver.close()
    val second = new DriverPlayer(f.zookeeper.connect, "second")
    try {
      second.start(next)
      check(second)
    } finally second.close()
  }

  outage("the driver restarts when the tables are prepared: it prepares and acknowledges again") {
    f =>
      f.prepared(1)
      val next = again(f.q)
      restarted(f, next) { second =>
        eventually(assert(second.stored.containsKey(1L)))
        f.controller.phase(next.queryId, Phase.PROPAGATE, TableRef(1, tables(f.q, 1).hash))
        eventually(assert(second.publisher.asked(next.runId).map(_.version).contains(1L)))
      }
  }

  outage("the driver restarts after the word to switch: it switches without asking again") { f =>
    f.told(1)
    val next = again(f.q)
    restarted(f, next) { second =>
      eventually(assert(second.publisher.asked(next.runId).map(_.version).contains(1L)))
    }
  }

  outage("the driver restarts with a route entry whose batch is not committed") { f =>
    f.told(1)
    f.driver.switchTo(f.q, 1, 3)
    f.await(Phase.MIGRATE, 1)
    commit(f.q, 2)
    val next = again(f.q, Some(tables(f.q, 1) -> 3L))
    restarted(f, next) { second =>
      eventually(assert(f.controller.live(next.queryId).map(_.appId).contains("second")))
      second.publisher.batchEnded(next.runId, 2)
      f.await(Phase.MIGRATE, 1)
      assert(f.controller.inForce(next.queryId).isEmpty)
      second.publisher.batchEnded(next.runId, 3)
      f.await(Phase.COMMIT, 1)
      f.awaitInForce(1, 3)
    }
  }

  outage("the driver restarts and replays the switch, of which only the route entry knows") { f =>
    f.told(1)
    f.driver.switchTo(f.q, 1, 3)
    f.await(Phase.MIGRATE, 1)
    val next = again(f.q)
    restarted(f, next) { second =>
      second.publisher.migrating(
        next.runId,
        SwitchFigures(
          3,
          0,
          1,
          5,
          0,
          0,
          pulled = true,
          toHash = tables(f.q, 1).hash
        )
      )
      second.publisher.batchEnded(next.runId, 3)
      f.await(Phase.COMMIT, 1)
      f.awaitInForce(1, 3)
      assert(f.controller.inForce(f.q.queryId).map(_.table.hash).contains(tables(f.q, 1).hash))
    }
  }

  outage("the driver restarts after the commit that nobody heard of") { f =>
    f.told(1)
    f.driver.switchTo(f.q, 1, 3)
    f.await(Phase.MIGRATE, 1)
    commit(f.q, 7)
    restarted(f, again(f.q, Some(tables(f.q, 1) -> 3L))) { _ =>
      f.await(Phase.COMMIT, 1)
      f.awaitInForce(1, 3)
    }
  }
}
