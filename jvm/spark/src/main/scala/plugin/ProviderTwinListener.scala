package org.apache.spark.sql.keyroute.plugin

import scala.util.control.NonFatal

import org.apache.spark.internal.Logging
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.execution.streaming.runtime.StreamExecution
import org.apache.spark.sql.keyroute.SparkSeam
import org.apache.spark.sql.keyroute.handoff.Deciders
import org.apache.spark.sql.streaming.StreamingQueryListener
import org.apache.spark.sql.streaming.StreamingQueryListener._

/** Gives a new query the routed twin of a state store provider that was set on the session, after
  * the plugin had set its own on the application; and Spark's own to a query whose session has
  * KeyRoute off, or that runs in real-time mode, so that the checkpoint it makes does not need
  * KeyRoute. Tells when a query has ended.
  *
  * Spark tells of a query's start on the stream's own thread, before it reads the checkpoint: a
  * provider pinned there still wins. */
final class ProviderTwinListener extends StreamingQueryListener with Logging {

  override def onQueryStarted(event: QueryStartedEvent): Unit =
    try {
      for {
        session <- SparkSession.getActiveSession.orElse(SparkSession.getDefaultSession)
        query <- Option(session.sharedState.activeStreamingQueries.get(event.id))
      } setProvider(query)
    } catch {
      case NonFatal(e) =>
        logWarning(
          s"query ${event.id} may stay on Spark's hash: its state store provider could " +
            "not be set",
          e
        )
    }

  private def setProvider(query: StreamExecution): Unit = {
    val session = query.sparkSessionForStream
    val on = Settings.enabled.orDefault(session.conf.getOption) && !SparkSeam.isRealTime(query)
    val others = if (on) SparkSettings.twins else SparkSettings.originals
    session.conf.getOption(SparkSettings.providerKey).flatMap(others.get)
      .foreach(session.conf.set(SparkSettings.providerKey, _))
  }

  override def onQueryProgress(event: QueryProgressEvent): Unit = ()
  override def onQueryTerminated(event: QueryTerminatedEvent): Unit = {
    Deciders.ended(event.id, event.runId)
    Driver.placement.foreach(_.ended(event.runId))
  }
}
