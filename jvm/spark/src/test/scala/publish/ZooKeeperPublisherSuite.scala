package org.apache.spark.sql.keyroute.publish

import java.io.IOException
import java.nio.file.Files
import java.nio.file.attribute.PosixFilePermissions
import java.util.UUID

import org.scalatest.BeforeAndAfterAll
import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.keyroute.count.Reports
import org.apache.spark.sql.keyroute.route.KeyRouteException

import io.keyroute.core.table.RoutingTables
import io.keyroute.proto.v1.Phase

class ZooKeeperPublisherSuite extends AnyFunSuite with BeforeAndAfterAll {
  import PublisherFixture._

  private val zookeeper = new ZooKeeperInProcess
  override def afterAll(): Unit = zookeeper.close()

  private var apps = 0
  private def withDriver(f: (DriverPlayer, ControllerPlayer) => Unit): Unit = {
    apps += 1
    val driver = new DriverPlayer(zookeeper.connect, s"app-$apps")
    val controller = new ControllerPlayer(zookeeper.connect)
    try f(driver, controller)
    finally {
      driver.close()
      controller.close()
    }
  }

  private def phaseOf(c: ControllerPlayer, q: RunningQuery): Option[Phase] =
    c.reconfiguration(q.queryId).map(_.getPhase)

  private def awaitPhase(
      c: ControllerPlayer,
      q: RunningQuery,
      phase: Phase,
      version: Long
  ): Unit = {
    eventually {
      val there = c.reconfiguration(q.queryId)
      assert(there.map(r => (r.getPhase, r.getVersion)).contains((phase, version)), there)
    }
    ()
  }

  private def awaitAsked(d: DriverPlayer, q: RunningQuery, version: Long): RoutingTables =
    eventually {
      val asked = d.publisher.asked(q.runId)
      assert(asked.map(_.version).contains(version))
      asked.get
    }

  private def awaitInForce(
      c: ControllerPlayer,
      q: RunningQuery,
      version: Long,
      batch: Long
  ): Unit = {
    eventually {
      val there = c.inForce(q.queryId)
      assert(there.map(f => (f.table.version, f.batch)).contains((version, batch)), there)
    }
    ()
  }

  /** Up to the word to switch. */
  private def propagate(
      d: DriverPlayer,
      c: ControllerPlayer,
      q: RunningQuery,
      version: Long
  ): TableRef = {
    val ref = c.publish(tables(q, version))
    awaitPhase(c, q, Phase.PREPARE, version)
    c.phase(q.queryId, Phase.PROPAGATE, ref)
    awaitAsked(d, q, version)
    ref
  }

  test("application and query are registered") {
    withDriver { (driver, controller) =>
      val q = query()
      driver.start(q)
      eventually(assert(controller.live(q.queryId).contains(Live(s"app-$apps", q.runId.toString))))
      val app = eventually(controller.session.read(controller.tree.app(s"app-$apps")).get)
      assert(app.ephemeralOwner != 0)
      assert(new String(app.data) ==
        s"""{"format":1,"appId":"app-$apps","gatewayHost":"127.0.0.1","gatewayPort":4711,""" +
        """"keyrouteVersion":"test","sparkVersion":"4.3.0","startedMs":1}""")
      val meta =
        eventually(new String(controller.session.read(controller.tree.meta(q.queryId)).get.data))
      assert(
        meta.startsWith(s"""{"format":1,"queryId":"${q.queryId}","name":"flights","groups":[{""")
      )
      assert(meta.contains(""""partitions":3"""))
      assert(driver.board.status(_ => Nil).getZookeeperConnected)
      // Before the first table there is nothing to say of one.
      assert(controller.inForce(q.queryId).isEmpty)
    }
  }

  test("a query that ends gives its registration up") {
    withDriver { (driver, controller) =>
      val q = query()
      driver.start(q)
      eventually(assert(controller.live(q.queryId).isDefined))
      driver.publisher.ended(q.runId)
      eventually(assert(controller.live(q.queryId).isEmpty))
      assert(controller.session.read(controller.tree.meta(q.queryId)).isDefined)
    }
  }

  test("a reconfiguration from the first phase to the last") {
    withDriver { (driver, controller) =>
      val q = query()
      driver.start(q)
      val ref = controller.publish(tables(q, 3))
      awaitPhase(controller, q, Phase.PREPARE, 3)
      assert(driver.stored.get(3L).hash == ref.hash)
      assert(driver.publisher.asked(q.runId).isEmpty, "no word to switch yet")
      controller.phase(q.queryId, Phase.PROPAGATE, ref)
      assert(awaitAsked(driver, q, 3) == tables(q, 3))
      driver.switchTo(q, 3, batch = 8)
      assert(driver.publisher.asked(q.runId).isEmpty)
      awaitPhase(controller, q, Phase.MIGRATE, 3)
      driver.publisher.batchEnded(q.runId, 7)
      assert(controller.reconfiguration(q.queryId).get.getBatch == 8)
      assert(controller.inForce(q.queryId).isEmpty)
      driver.publisher.batchEnded(q.runId, 8)
      awaitPhase(controller, q, Phase.COMMIT, 3)
      assert(controller.inForce(q.queryId).contains(PublishedInForce(ref, 8, q.runId.toString)))
      val last = controller.reconfiguration(q.queryId).get
      assert(last.getBy == q.runId.toString && last.getUpdatedMs == 42)
      assert(last.getPredictedLocality == 0.75, "the prediction stays with its version")
    }
  }

  test("a run is asked for what was wanted before it started by its very first batch") {
    withDriver { (driver, controller) =>
      val earlier = query()
      driver.start(earlier)
      propagate(driver, controller, earlier, 3)
      driver.publisher.ended(earlier.runId)
      eventually(assert(controller.live(earlier.queryId).isEmpty))
      val next = earlier.copy(runId = UUID.randomUUID())
      driver.start(next)
      assert(driver.publisher.asked(next.runId).map(_.version).contains(3L))
    }
  }

  test("a second version follows the first") {
    withDriver { (driver, controller) =>
      val q = query()
      driver.start(q)
      Seq(1L -> 4L, 2L -> 9L).foreach { case (version, batch) =>
        propagate(driver, controller, q, version)
        driver.switchTo(q, version, batch)
        driver.publisher.batchEnded(q.runId, batch)
        awaitPhase(controller, q, Phase.COMMIT, version)
        awaitInForce(controller, q, version, batch)
      }
    }
  }

  private def refuses(name: String, reason: String)(
      publish: (ControllerPlayer, RunningQuery) => Any
  ): Unit =
    test(s"refused: $name") {
      withDriver { (driver, controller) =>
        val q = query()
        driver.start(q)
        publish(controller, q)
        awaitPhase(controller, q, Phase.ABORT, 5)
        val told = controller.reconfiguration(q.queryId).get.getReason
        assert(told.contains(reason), told)
        assert(driver.publisher.asked(q.runId).isEmpty && driver.stored.isEmpty)
      }
    }

  refuses("a checksum that is not the bytes'", "SHA-256") { (controller, q) =>
    controller.publish(tables(q, 5), hash = Some("0" * 64))
  }
  refuses("another number of partitions", "number of partitions") { (controller, q) =>
    controller.publish(misfit(q, 5, Reports.shape(0).copy(partitions = 4, slots = 1024)))
  }
  refuses("other key types", "key types") { (controller, q) =>
    controller.publish(misfit(q, 5, Reports.shape(0).copy(keyTypes = Seq("BIGINT"))))
  }
  refuses("a group that the query does not have", "no routing group 7") { (controller, q) =>
    controller.publish(misfit(q, 5, Reports.shape(7)))
  }
  refuses("tables of another query", "was made for query") { (controller, q) =>
    val bytes = io.keyroute.core.table.TableCodec.encode(tables(query(), 5))
    val ref = TableRef(5, hashOf(bytes))
    controller.publishBytes(q.queryId, ref, bytes)
    controller.want(q.queryId, ref)
  }
  refuses("bytes that are no tables", "not a routing table") { (controller, q) =>
    val bytes = Array.fill[Byte](3000)(7)
    val ref = TableRef(5, hashOf(bytes))
    controller.publishBytes(q.queryId, ref, bytes)
    controller.want(q.queryId, ref)
  }
  refuses("a version that is not published", "is not published") { (controller, q) =>
    controller.want(q.queryId, TableRef(5, "0" * 64))
  }
  refuses("a hash that is not the published one", "is published") { (controller, q) =>
    val bytes = io.keyroute.core.table.TableCodec.encode(tables(q, 5))
    controller.publishBytes(q.queryId, TableRef(5, hashOf(bytes)), bytes)
    controller.want(q.queryId, TableRef(5, "1" * 64))
  }

  test("tables that the rule cannot switch to are given up, with its reason") {
    withDriver { (driver, controller) =>
      val q = query()
      driver.start(q)
      propagate(driver, controller, q, 2)
      driver.publisher.refused(q.runId, 2, "too many rows would move")
      assert(driver.publisher.asked(q.runId).isEmpty)
      awaitPhase(controller, q, Phase.ABORT, 2)
      assert(controller.reconfiguration(q.queryId).get.getReason == "too many rows would move")
    }
  }

  test("an ABORT of the controller takes the word to switch back") {
    withDriver { (driver, controller) =>
      val q = query()
      driver.start(q)
      val ref = propagate(driver, controller, q, 2)
      controller.phase(q.queryId, Phase.ABORT, ref, "timed out")
      eventually(assert(driver.publisher.asked(q.runId).isEmpty))
      // The next version is taken up as ever.
      propagate(driver, controller, q, 3)
    }
  }

  test("an ABORT that comes after the route entry is overruled by it") {
    withDriver { (driver, controller) =>
      val q = query()
      driver.start(q)
      val ref = propagate(driver, controller, q, 2)
      controller.phase(q.queryId, Phase.ABORT, ref, "timed out")
      eventually(assert(driver.publisher.asked(q.runId).isEmpty))
      // The stream's thread had taken the tables before.
      driver.switchTo(q, 2, batch = 6)
      awaitPhase(controller, q, Phase.MIGRATE, 2)
      driver.publisher.batchEnded(q.runId, 6)
      awaitPhase(controller, q, Phase.COMMIT, 2)
      awaitInForce(controller, q, 2, 6)
    }
  }

  test("a checkpoint that does not answer delays the acknowledgement, and the status says so") {
    withDriver { (driver, controller) =>
      val q = query()
      driver.inStore = () => throw new IOException("the checkpoint does not answer")
      driver.start(q)
      controller.publish(tables(q, 2))
      eventually(assert(driver.status(q).getWaiting.contains("the checkpoint does not answer")))
      assert(phaseOf(controller, q).contains(Phase.PUBLISH))
      driver.inStore = () => ()
      awaitPhase(controller, q, Phase.PREPARE, 2)
      eventually(assert(driver.status(q).getWaiting.isEmpty))
    }
  }

  test("an error that is none of an application's own ends nothing") {
    withDriver { (driver, controller) =>
      val q = query()
      driver.inStore = () => throw new NoClassDefFoundError("a jar was replaced")
      driver.start(q)
      controller.publish(tables(q, 2))
      eventually(assert(driver.status(q).getWaiting.contains("a jar was replaced")))
      val other = query()
      driver.start(other)
      eventually(assert(controller.live(other.queryId).isDefined))
      driver.inStore = () => ()
      awaitPhase(controller, q, Phase.PREPARE, 2)
    }
  }

  test(
    "a run that is over gives its registration up, though there is an error in each look at it"
  ) {
    withDriver { (driver, controller) =>
      val q = query()
      driver.start(q)
      propagate(driver, controller, q, 1)
      driver.switchTo(q, 1, batch = 4)
      awaitPhase(controller, q, Phase.MIGRATE, 1)
      controller.put(controller.tree.wanted(q.queryId), "nonsense".getBytes)
      eventually(assert(driver.status(q).getWaiting.contains("wanted is not JSON")))
      driver.publisher.ended(q.runId)
      eventually(assert(controller.live(q.queryId).isEmpty))
      // What it has to tell it tells all the same.
      driver.publisher.batchEnded(q.runId, 4)
      awaitPhase(controller, q, Phase.COMMIT, 1)
      assert(controller.live(q.queryId).isEmpty)
    }
  }

  test("what a run told just before its end is told, also while it is being looked at") {
    withDriver { (driver, controller) =>
      val q = query()
      driver.start(q)
      propagate(driver, controller, q, 1)
      driver.inStore = () => {
        driver.inStore = () => ()
        driver.switchTo(q, 1, batch = 4)
        driver.publisher.batchEnded(q.runId, 4)
        driver.publisher.ended(q.runId)
      }
      controller.publish(tables(q, 2))
      awaitInForce(controller, q, 1, 4)
      eventually(assert(controller.live(q.queryId).isEmpty))
    }
  }

  test("a refusal is of the tables that were handed out, not of those that are asked for by then") {
    withDriver { (driver, controller) =>
      val q = query()
      driver.start(q)
      propagate(driver, controller, q, 1)
      val ref = controller.publish(tables(q, 2))
      awaitPhase(controller, q, Phase.PREPARE, 2)
      controller.phase(q.queryId, Phase.PROPAGATE, ref)
      // A pass that reads this has read the phase before.
      controller.put(controller.tree.wanted(q.queryId), "nonsense".getBytes)
      eventually(assert(driver.status(q).getWaiting.contains("wanted is not JSON")))
      driver.publisher.refused(q.runId, 1, "too many rows would move")
      assert(driver.publisher.asked(q.runId).map(_.version).contains(2L))
      driver.switchTo(q, 2, batch = 6)
      awaitPhase(controller, q, Phase.MIGRATE, 2)
    }
  }

  test("what others wrote wrongly harms nothing, and is said") {
    withDriver { (driver, controller) =>
      val q = query()
      driver.start(q)
      controller.session.create(controller.tree.wanted(q.queryId), "nonsense".getBytes)
      eventually(assert(driver.status(q).getWaiting.contains("wanted is not JSON")))
    }
  }

  test("two writers at once: who lost reads again") {
    withDriver { (driver, controller) =>
      val q = query()
      driver.start(q)
      // The controller replaces a version over and over while the driver acknowledges each.
      (1L to 20L).foreach { version =>
        val ref = TableRef(version, tables(q, version).hash)
        controller.publishBytes(
          q.queryId,
          ref,
          io.keyroute.core.table.TableCodec.encode(tables(q, version))
        )
        eventually(controller.phase(q.queryId, Phase.PUBLISH, ref))
        eventually(controller.want(q.queryId, ref))
      }
      awaitPhase(controller, q, Phase.PREPARE, 20)
    }
  }

  test("a second application with a copy of the checkpoint is not registered, until it is alone") {
    withDriver { (driver, controller) =>
      val q = query()
      driver.start(q)
      eventually(assert(controller.live(q.queryId).isDefined))
      val copy = again(q)
      val second = new DriverPlayer(zookeeper.connect, "the-copy")
      try {
        second.start(copy)
        eventually(assert(second.status(copy).getWaiting.contains("not registered in ZooKeeper")))
        propagate(driver, controller, q, 1)
        assert(second.publisher.asked(copy.runId).isEmpty && second.stored.isEmpty)
        driver.close()
        eventually(assert(controller.live(q.queryId).contains(Live(
          "the-copy",
          copy.runId.toString
        ))))
        eventually(assert(second.status(copy).getWaiting.isEmpty))
      } finally second.close()
    }
  }

  test("with a secret every node is its holder's alone") {
    val file = Files.createTempFile("keyroute", "auth")
    Files.writeString(file, "keyroute:secret\n")
    Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-------"))
    val own = new ZooKeeperInProcess
    val driver = new DriverPlayer(own.connect, "app", file.toString)
    val controller = new ControllerPlayer(own.connect, file.toString)
    val stranger = new ControllerPlayer(own.connect)
    try {
      val q = query()
      driver.start(q)
      eventually(assert(controller.live(q.queryId).isDefined))
      intercept[org.apache.zookeeper.KeeperException.NoAuthException](stranger.live(q.queryId))
      propagate(driver, controller, q, 1)
    } finally Seq(driver, controller, stranger, own).foreach(_.close())
  }

  test("a secret that others can read is refused") {
    val file = Files.createTempFile("keyroute", "auth")
    Files.writeString(file, "keyroute:secret")
    Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-r--r--"))
    val e =
      intercept[KeyRouteException](new ZooKeeperSession("127.0.0.1:1", file.toString, () => ()))
    assert(e.getMessage.contains("chmod 600") && !e.getMessage.contains("secret"))
  }
}
