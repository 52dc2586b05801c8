package io.keyroute.core.table

/** A routing table, or the shape of a routing group, that must not be used. The message is a
  * sentence for people: it goes into the log, the status and the reason of an ABORT. */
final class InvalidTable(message: String) extends IllegalArgumentException(message)
