package io.keyroute.core.table

import java.security.MessageDigest
import java.util.HexFormat

/** The identity of serialised tables. */
object ContentHash {

  /** Lower-case hex SHA-256 of the bytes, 64 characters. */
  def sha256(bytes: Array[Byte]): String =
    HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(bytes))
}
