package org.apache.spark.sql.keyroute.handoff

import org.scalatest.funsuite.AnyFunSuite

class HandoffTaskSuite extends AnyFunSuite {

  test("the reason of a failure names it, whether or not it has a message") {
    val result = HandoffTask.guarded(throw new NullPointerException)
    assert(result == NotHandedOff("java.lang.NullPointerException", notLoaded = false))
  }
}
