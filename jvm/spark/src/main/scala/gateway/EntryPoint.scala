package org.apache.spark.sql.keyroute.gateway

/** What a client of the gateway can ask; `docs/protocol.md` is the contract. It only reads. */
trait EntryPoint {

  /** Version of this interface. */
  def protocol(): Int

  /** An `ApplicationStatus`. */
  def status(): Array[Byte]

  /** A `QueryStatistics`; empty for a query that is not known. */
  def statistics(queryId: String): Array[Byte]
}

object EntryPoint {
  val Protocol: Int = 1
}
