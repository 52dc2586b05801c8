package org.apache.spark.sql.keyroute.adopt

import scala.util.control.NonFatal

import com.fasterxml.jackson.databind.ObjectMapper
import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.Path

/** What `keyroute adopt` and `keyroute release` run: `adopt|release CHECKPOINT QUIET_SECONDS
  * [LIVE_QUERY_ID ...]`. Prints one line of JSON: `{"batch", "from", "to", "backup"}` and exits with
  * 0, or `{"refused"}` with 1. It uses Hadoop's file systems as Spark does, by the configuration on
  * the class path. */
object CheckpointCommand {
  def main(args: Array[String]): Unit = {
    val answer = new ObjectMapper().createObjectNode()
    val done =
      try {
        val change = run(args.toList)
        answer.put("batch", change.batch).put("from", change.from).put("to", change.to)
          .put("backup", change.backup.toString)
        true
      } catch {
        case NonFatal(e) =>
          answer.put("refused", Option(e.getMessage).getOrElse(e.toString))
          false
      }
    println(answer.toString) // scalastyle:ignore
    if (!done) sys.exit(1)
  }

  private def run(args: List[String]): OwnershipChange = args match {
    case what :: checkpoint :: quiet :: live =>
      val owner =
        new Ownership(new Path(checkpoint), new Configuration(), () => System.currentTimeMillis())
      what match {
        case "adopt" => owner.adopt(quiet.toLong * 1000, live.toSet)
        case "release" => owner.release(quiet.toLong * 1000, live.toSet)
        case other => throw new OwnershipRefused(s"unknown command: $other")
      }
    case _ => throw new OwnershipRefused("usage: adopt|release CHECKPOINT QUIET_SECONDS [ID ...]")
  }
}
