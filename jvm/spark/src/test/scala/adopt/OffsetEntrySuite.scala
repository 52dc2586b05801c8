package org.apache.spark.sql.keyroute.adopt

import org.scalatest.funsuite.AnyFunSuite

class OffsetEntrySuite extends AnyFunSuite {
  private val key = "spark.sql.streaming.stateStore.providerClass"
  private val rest = "\n{\"logOffset\":3}\n-\n{\"a\":\"b: \u00e4\"}"

  private def entry(metadata: String, tail: String = rest) =
    OffsetEntry.decode(s"v1\n$metadata$tail".getBytes("UTF-8"))

  test("only the provider changes") {
    val old =
      entry(s"""{"batchWatermarkMs":12,"batchTimestampMs":1,"conf":{"x":"1","$key":"a.B"}}""")
    assert(old.provider == "a.B")
    val changed = old.withProvider("c.D")
    assert(changed.provider == "c.D" && old.provider == "a.B")
    assert(
      new String(changed.encode, "UTF-8") ==
        s"""v1\n{"batchWatermarkMs":12,"batchTimestampMs":1,"conf":{"x":"1","$key":"c.D"}}$rest"""
    )
    assert(changed.withProvider("a.B").encode.toSeq == old.encode.toSeq)
  }

  test("an entry that names no provider has Spark's default, and may have no sources") {
    val old = entry("""{"batchWatermarkMs":0,"conf":{}}""", tail = "")
    assert(old.provider.endsWith("HDFSBackedStateStoreProvider"))
    assert(entry("""{"batchWatermarkMs":0}""").withProvider("c.D").provider == "c.D")
  }

  test("what is no entry is refused") {
    for (text <- Seq("", "v1", "v1\n\n{}", "hello\n{}\n", "v1\n[]\n", "v1\n{\n")) {
      intercept[OwnershipRefused](OffsetEntry.decode(text.getBytes("UTF-8")))
    }
  }
}
