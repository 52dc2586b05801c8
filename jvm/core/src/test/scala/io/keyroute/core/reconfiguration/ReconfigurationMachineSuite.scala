package io.keyroute.core.reconfiguration

import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

import io.keyroute.proto.v1.Phase

class ReconfigurationMachineSuite extends AnyFunSuite with ScalaCheckPropertyChecks {
  import ReconfigurationMachine.step

  implicit override val generatorDrivenConfig: PropertyCheckConfiguration =
    PropertyCheckConfiguration(minSuccessful = 2000, sizeRange = 60)

  private val start = Idle(InForce(Target(1, "h1"), 10))

  private val genTarget: Gen[Target] = for {
    version <- Gen.chooseNum(0L, 4L)
    other <- Gen.frequency(9 -> "", 1 -> "x")
  } yield Target(version, s"h$version$other")

  private val genBatch: Gen[Long] = Gen.chooseNum(0L, 20L)

  private val genEvent: Gen[Event] = Gen.oneOf(
    genTarget.map(WantedSeen(_)),
    genTarget.map(TableStored(_)),
    genTarget.map(TableRefused(_, "wrong shape")),
    Gen.zip(Gen.oneOf(Phase.values.toSeq), genTarget).map { case (p, t) =>
      PhaseSeen(p, t, "late")
    },
    Gen.zip(genTarget, genBatch).map { case (t, n) => SwitchPlanned(t, n) },
    genBatch.map(BatchCommitted(_)),
    Gen.const(WorldSeen)
  )

  /** A step of a run: the state before, the event, the step. */
  private type Taken = (State, Event, ReconfigurationMachine.Step)

  /** Runs a history that a driver can have: a batch switches only to what was allowed at some time,
    * and not while another switch is not committed. */
  private def run(events: Seq[Event]): Vector[Taken] =
    events.foldLeft(Vector.empty[Taken]) { (taken, event) =>
      val state = taken.lastOption.fold[State](start)(_._3._1)
      val allowed = taken.flatMap(_._3._2).collect { case AllowSwitch(t) => t }
      val possible = (event, state) match {
        case (SwitchPlanned(t, n), s: Migrating) => t == s.target && n == s.batch
        case (SwitchPlanned(t, n), s) =>
          allowed.contains(t) && t.version > s.inForce.version && n > s.inForce.batch
        case _ => true
      }
      if (possible) taken :+ ((state, event, step(state, event))) else taken
    }

  private def forAllRuns(check: Vector[Taken] => Unit): Unit =
    forAll(Gen.listOf(genEvent))(events => check(run(events)))

  /** A run to the given state along the straight way. */
  private def after(events: Event*): State = events.foldLeft[State](start)((s, e) => step(s, e)._1)

  private val two = Target(2, "h2")
  private val told = Seq(WantedSeen(two), TableStored(two), PhaseSeen(Phase.PROPAGATE, two, ""))

  test("ABORT is never written once the route entry is there") {
    forAllRuns { taken =>
      taken.foldLeft(Set.empty[Target]) { case (entries, (_, event, (_, actions))) =>
        val now = entries ++ Some(event).collect { case SwitchPlanned(t, _) => t }
        assert(!actions.exists {
          case WritePhase(Phase.ABORT, t, _, _) => now(t)
          case _ => false
        })
        now
      }
    }
  }

  test("a switch is allowed only for stored tables, after the word was given") {
    forAllRuns { taken =>
      for ((_, i) <- taken.zipWithIndex; AllowSwitch(t) <- taken(i)._3._2) {
        val before = taken.take(i + 1).map(_._2)
        assert(before.contains(TableStored(t)))
        assert(before.exists {
          case PhaseSeen(phase, `t`, _) => PhaseOrder.saysSwitch(phase)
          case _ => false
        })
      }
    }
  }

  test("what is in force changes only when the switching batch is committed") {
    forAllRuns(_.foreach {
      case (s: Migrating, BatchCommitted(n), (next, actions)) if n >= s.batch =>
        assert(next.inForce === InForce(s.target, s.batch))
        assert(actions.contains(WriteInForce(next.inForce)))
      case (state, _, (next, _)) => assert(next.inForce === state.inForce)
    })
  }

  test("the same event again changes nothing, and repeats only writes") {
    forAllRuns(_.foreach { case (_, event, (state, _)) =>
      val (again, actions) = step(state, event)
      assert(again === state)
      assert(actions.forall {
        case WritePhase(_, _, _, _) | WriteInForce(_) | Ignored(_) => true
        case _ => false
      })
    })
  }

  test("a wanted version that is in force is answered by in_force alone") {
    forAllRuns(_.foreach {
      case (_: Migrating, _, _) => ()
      case (s, WantedSeen(t), (next, actions)) if t == s.inForce.tables =>
        assert(next === s)
        assert(actions === Seq(WriteInForce(s.inForce)))
      case _ => ()
    })
  }

  test("MIGRATE follows each route entry, COMMIT each switching batch, whatever came before") {
    forAllRuns(_.foreach {
      case (_, SwitchPlanned(t, n), (_, actions)) =>
        assert(actions === Seq(WritePhase(Phase.MIGRATE, t, n, "")))
      case (s: Migrating, BatchCommitted(n), (_, actions)) if n >= s.batch =>
        assert(actions.contains(WritePhase(Phase.COMMIT, s.target, s.batch, "")))
      case _ => ()
    })
  }

  test("a replayed switch is known from the checkpoint, and cannot be given up") {
    val state = State.restored(start.inForce, Some(two -> 17L))
    assert(step(state, PhaseSeen(Phase.ABORT, two, "timed out")) ===
      ((state, Seq(WritePhase(Phase.MIGRATE, two, 17, "")))))
    assert(step(state, BatchCommitted(17))._1 === Committed(InForce(two, 17)))
    assert(State.restored(start.inForce, None) === start)
  }

  test("a version that becomes wanted during a switch is prepared after it") {
    val three = Target(3, "h3")
    val (state, _) =
      step(after(told :+ SwitchPlanned(two, 17) :+ WantedSeen(three): _*), BatchCommitted(17))
    assert(state === Preparing(InForce(two, 17), three, told = false))
  }

  test("a switch that was given up just too late goes on") {
    val state = after(told :+ PhaseSeen(Phase.ABORT, two, "timed out"): _*)
    assert(state === Aborted(start.inForce, two, "timed out", byDriver = false))
    assert(step(state, SwitchPlanned(two, 17))._1 === Migrating(start.inForce, two, 17, None))
  }

  test("the stream may refuse a switch that costs too much, before its route entry") {
    val (state, actions) = step(after(told: _*), TableRefused(two, "too costly"))
    assert(state === Aborted(start.inForce, two, "too costly", byDriver = true))
    assert(actions === Seq(WithdrawSwitch(two), WritePhase(Phase.ABORT, two, 0, "too costly")))
  }
}
