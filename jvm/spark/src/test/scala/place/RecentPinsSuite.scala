package org.apache.spark.sql.keyroute.place

import java.util.UUID

import org.scalatest.funsuite.AnyFunSuite

class RecentPinsSuite extends AnyFunSuite {
  private val a, b, c = UUID.randomUUID()

  test("of too many runs the one that was placed longest ago is dropped") {
    val pins = new RecentPins(2)
    val ofA = pins.of(a)
    val ofB = pins.of(b)
    assert(pins.of(a) eq ofA)
    pins.of(c)
    assert(pins.of(a) eq ofA)
    assert(pins.of(b) ne ofB)
  }

  test("a run that is over makes room") {
    val pins = new RecentPins(2)
    val ofA = pins.of(a)
    pins.of(b)
    pins.drop(b)
    pins.of(c)
    assert(pins.of(a) eq ofA)
  }
}
