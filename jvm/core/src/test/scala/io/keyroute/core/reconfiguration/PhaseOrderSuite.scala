package io.keyroute.core.reconfiguration

import org.scalatest.funsuite.AnyFunSuite

import io.keyroute.proto.v1.{Phase, Reconfiguration}

class PhaseOrderSuite extends AnyFunSuite {

  private def replaces(there: Phase, thereVersion: Long, write: Phase, batch: Long = 0): Boolean =
    PhaseOrder.replaces(
      Some(Reconfiguration.newBuilder().setPhase(there).setVersion(thereVersion).build()),
      WritePhase(write, Target(5, "h5"), batch, "")
    )

  test("a missing node and an older version are written over") {
    assert(PhaseOrder.replaces(None, WritePhase(Phase.PREPARE, Target(5, "h5"), 0, "")))
    assert(replaces(Phase.COMMIT, 4, Phase.PREPARE))
  }

  test("a newer version is left alone") {
    assert(!replaces(Phase.PUBLISH, 6, Phase.COMMIT))
  }

  test("a version only goes forward") {
    val order = Seq(
      Phase.PUBLISH,
      Phase.PREPARE,
      Phase.PROPAGATE,
      Phase.ABORT,
      Phase.MIGRATE,
      Phase.COMMIT
    )
    for ((there, i) <- order.zipWithIndex; (write, j) <- order.zipWithIndex)
      assert(replaces(there, 5, write) === (i < j), s"$write over $there")
  }

  test("MIGRATE of another batch is written: the checkpoint was rolled back") {
    assert(replaces(Phase.MIGRATE, 5, Phase.MIGRATE, batch = 9))
  }
}
