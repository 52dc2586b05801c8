package org.apache.spark.sql.keyroute.handoff

import java.nio.charset.StandardCharsets.UTF_8

import org.apache.spark.sql.catalyst.expressions.XXH64
import org.apache.spark.unsafe.Platform

/** A 64-bit hash of a state row. The checksum of many rows is the sum of theirs modulo 2^64: the
  * same whatever the order, since a file made anew has its rows in another. */
object RowChecksum {
  private val Seed = 42L

  def ofBytes(bytes: Array[Byte], seed: Long = Seed): Long =
    XXH64.hashUnsafeBytes(bytes, Platform.BYTE_ARRAY_OFFSET, bytes.length, seed)

  /** Each part seeds the next, so that bytes cannot slip from one to the other unseen. */
  def ofRow(family: String, key: Array[Byte], value: Array[Byte]): Long =
    ofBytes(value, ofBytes(key, ofBytes(family.getBytes(UTF_8))))
}
