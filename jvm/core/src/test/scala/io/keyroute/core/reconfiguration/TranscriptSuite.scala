package io.keyroute.core.reconfiguration

import java.nio.file.{Files, Path}

import org.scalatest.funsuite.AnyFunSuite

import io.keyroute.core.golden.Golden
import io.keyroute.proto.v1.Phase

/** Golden traces of the driver's side: each event, the state after it and the actions. To write them
  * anew after a wanted change, run with KEYROUTE_REWRITE_GOLDEN=1 and read the difference. */
class TranscriptSuite extends AnyFunSuite {

  private val resource = "reconfiguration-transcript.txt"

  test("the transcript is what the machine does") {
    val expected = Option(getClass.getResourceAsStream(s"/$resource"))
      .map(in => new String(in.readAllBytes(), "UTF-8"))
      .getOrElse(fail(s"no resource $resource"))
    val actual = replay(expected.linesIterator.toSeq).mkString("", "\n", "\n")
    if (Golden.rewrite) Files.writeString(source, actual)
    else assert(actual === expected)
  }

  private def source: Path = Golden.root.resolve("jvm/core/src/test/resources").resolve(resource)

  private def replay(lines: Seq[String]): Seq[String] = {
    val kept = lines.filterNot(l => l.startsWith("  "))
    kept.foldLeft((Vector.empty[String], Option.empty[State])) { case ((out, state), line) =>
      line.split(' ').toList match {
        case "start" :: rest => (out :+ line, Some(restored(rest)))
        case ">" :: words =>
          val (next, actions) = ReconfigurationMachine.step(state.get, event(words))
          val trace = s"  = ${show(next)}" +: actions.map(a => s"  ${show(a)}")
          ((out :+ line) ++ trace, Some(next))
        case _ => (out :+ line, state)
      }
    }._1
  }

  private def target(version: String): Target =
    Target(version.toLong, if (version == "0") "" else s"h$version")

  private def restored(words: List[String]): State = words match {
    case List(version, "since", batch) =>
      State.restored(InForce(target(version), batch.toLong), None)
    case List(version, "since", batch, "switching", to, "at", n) =>
      State.restored(InForce(target(version), batch.toLong), Some(target(to) -> n.toLong))
    case other => fail(s"unknown start: $other")
  }

  private def event(words: List[String]): Event = words match {
    case List("wanted", v) => WantedSeen(target(v))
    case List("stored", v) => TableStored(target(v))
    case "refused" :: v :: why => TableRefused(target(v), why.mkString(" "))
    case "phase" :: p :: v :: why => PhaseSeen(Phase.valueOf(p), target(v), why.mkString(" "))
    case List("planned", v, "at", n) => SwitchPlanned(target(v), n.toLong)
    case List("committed", n) => BatchCommitted(n.toLong)
    case List("world") => WorldSeen
    case other => fail(s"unknown event: $other")
  }

  private def show(state: State): String = {
    val about = state match {
      case Idle(_) => "Idle"
      case Preparing(_, t, told) => s"Preparing ${t.version}${if (told) " (told)" else ""}"
      case Prepared(_, t) => s"Prepared ${t.version}"
      case Told(_, t) => s"Told ${t.version}"
      case Migrating(_, t, n, next) =>
        s"Migrating to ${t.version} at $n${next.fold("")(w => s", then ${w.version}")}"
      case Committed(_) => "Committed"
      case Aborted(_, t, why, driver) =>
        s"Aborted ${t.version} by the ${if (driver) "driver" else "controller"}: $why"
    }
    s"$about; in force ${state.inForce.version} since ${state.inForce.batch}"
  }

  private def show(action: Action): String = action match {
    case AllowSwitch(t) => s"allow switch to ${t.version}"
    case WithdrawSwitch(t) => s"withdraw switch to ${t.version}"
    case WritePhase(p, t, n, why) => s"write $p of ${t.version}, batch $n $why".stripTrailing
    case WriteInForce(f) => s"write in_force ${f.version} since ${f.batch}"
    case Ignored(why) => s"ignored: $why"
  }
}
