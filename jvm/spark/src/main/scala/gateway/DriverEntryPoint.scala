package org.apache.spark.sql.keyroute.gateway

import java.util.UUID

import scala.util.Try

import org.apache.spark.sql.keyroute.count.StatisticsCollector

/** Answers the gateway from what the driver knows. */
final class DriverEntryPoint(board: QueryBoard, collector: StatisticsCollector)
    extends EntryPoint {
  override def protocol(): Int = EntryPoint.Protocol

  override def status(): Array[Byte] = board.status(collector.batches).toByteArray

  override def statistics(queryId: String): Array[Byte] =
    Try(UUID.fromString(queryId)).toOption.flatMap(collector.query)
      .fold(Array.emptyByteArray)(_.toByteArray)
}
