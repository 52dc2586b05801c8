package io.keyroute.core.reconfiguration

import io.keyroute.proto.v1.Phase

/** The driver's side of a reconfiguration: what it does when, as a pure function. docs/protocol.md
  * tells both sides' duties. The checkpoint is the authority for what is in force; ZooKeeper says what
  * is wanted.
  *
  * Invariants, held as properties by the tests:
  *  - ABORT is never written for a version whose route entry is written;
  *  - a switch is allowed only after the tables are stored and the word was given;
  *  - what is in force changes only when the batch that switches is committed;
  *  - the same event again changes nothing, and repeats only writes. */
object ReconfigurationMachine {

  /** A new state, and what to do. */
  type Step = (State, Seq[Action])

  /** One step. Total: what does not fit the state is answered by [[Ignored]] or by nothing. */
  def step(state: State, event: Event): Step = (state, event) match {
    // state, event                                                  what follows
    case (s: Migrating, WantedSeen(t)) => remember(s, t)
    case (s, WantedSeen(t)) if t.version <= s.inForce.version => answer(s, t)
    case (s @ Aborted(_, t, why, _), WantedSeen(u)) if t == u => ignore(s, s"it was given up: $why")
    case (s, WantedSeen(t)) if targetOf(s).contains(t) => ignore(s, "it is being worked on")
    case (s, WantedSeen(t)) => prepare(s, t, told = false)

    case (Preparing(f, t, false), TableStored(u)) if t == u => acknowledge(f, t)
    case (Preparing(f, t, true), TableStored(u)) if t == u => allow(f, t)
    case (s @ (_: Preparing | _: Prepared | _: Told), TableRefused(t, why))
        if targetOf(s).contains(t) => refuse(s, t, why)
    case (s, TableStored(t)) => ignore(s, s"nothing waits for version ${t.version}")
    case (s, TableRefused(t, _)) => ignore(s, s"nothing waits for version ${t.version}")

    case (s: Migrating, PhaseSeen(Phase.ABORT, t, _)) if t == s.target => (s, ownPhase(s))
    case (s: Migrating, PhaseSeen(_, _, _)) => ignore(s, "the route entry decides")
    case (s, PhaseSeen(p, t, _)) if t == s.inForce.tables && t.version > 0 => settle(s, p)
    case (s, PhaseSeen(_, t, _)) if t.version <= s.inForce.version => ignore(s, "it is over")
    case (s, PhaseSeen(Phase.ABORT, t, why)) => giveUp(s, t, why)
    case (Preparing(f, t, told), PhaseSeen(p, u, _)) if t == u =>
      (Preparing(f, t, told || PhaseOrder.saysSwitch(p)), Nil)
    case (Prepared(f, t), PhaseSeen(p, u, _)) if t == u && PhaseOrder.saysSwitch(p) => allow(f, t)
    case (s: Idle, PhaseSeen(p, t, _)) if PhaseOrder.saysSwitch(p) => prepare(s, t, told = true)
    case (s, PhaseSeen(_, _, _)) => (s, Nil)

    case (s: Migrating, SwitchPlanned(t, n)) if t == s.target && n == s.batch => (s, ownPhase(s))
    case (s, SwitchPlanned(t, n)) if t == s.inForce.tables && n <= s.inForce.batch =>
      ignore(s, "it is committed")
    case (s, SwitchPlanned(t, n)) => migrate(s, t, n)

    case (s: Migrating, BatchCommitted(n)) if n >= s.batch => commit(s)
    case (s, BatchCommitted(_)) => (s, Nil)

    case (s, WorldSeen) => (s, WriteInForce(s.inForce) +: ownPhase(s))
  }

  /** The version that is being worked on or was given up. */
  private def targetOf(state: State): Option[Target] = state match {
    case Preparing(_, target, _) => Some(target)
    case Prepared(_, target) => Some(target)
    case Told(_, target) => Some(target)
    case Migrating(_, target, _, _) => Some(target)
    case Aborted(_, target, _, _) => Some(target)
    case Idle(_) | Committed(_) => None
  }

  /** The phase that the driver wrote last, to be written again. */
  private def ownPhase(state: State): Seq[Action] = state match {
    case Prepared(_, t) => Seq(WritePhase(Phase.PREPARE, t, 0, ""))
    case Told(_, t) => Seq(WritePhase(Phase.PREPARE, t, 0, ""))
    case Migrating(_, t, batch, _) => Seq(WritePhase(Phase.MIGRATE, t, batch, ""))
    case Committed(f) => Seq(WritePhase(Phase.COMMIT, f.tables, f.batch, ""))
    case Aborted(_, t, why, true) => Seq(WritePhase(Phase.ABORT, t, 0, why))
    case Aborted(_, _, _, false) | Idle(_) | Preparing(_, _, _) => Nil
  }

  private def ignore(state: State, why: String): Step = (state, Seq(Ignored(why)))

  private def withdrawal(state: State): Seq[Action] = state match {
    case Told(_, target) => Seq(WithdrawSwitch(target))
    case _ => Nil
  }

  private def prepare(state: State, target: Target, told: Boolean): Step =
    (Preparing(state.inForce, target, told), withdrawal(state))

  /** The wanted version is not newer than the one in force: `in_force` is all the answer there is. */
  private def answer(state: State, wanted: Target): Step = {
    val write = WriteInForce(state.inForce)
    if (wanted == state.inForce.tables) (state, Seq(write))
    else
      (
        state,
        Seq(
          write,
          Ignored(s"version ${wanted.version} is wanted, but version " +
            s"${state.inForce.version} is in force and newer, or other under the same number")
        )
      )
  }

  private def remember(state: Migrating, wanted: Target): Step =
    (state.copy(next = Some(wanted).filter(_ != state.target)), Nil)

  private def acknowledge(inForce: InForce, target: Target): Step = {
    val prepared = Prepared(inForce, target)
    (prepared, ownPhase(prepared))
  }

  private def allow(inForce: InForce, target: Target): Step =
    (Told(inForce, target), Seq(AllowSwitch(target)))

  private def refuse(state: State, target: Target, reason: String): Step = {
    val aborted = Aborted(state.inForce, target, reason, byDriver = true)
    (aborted, withdrawal(state) ++ ownPhase(aborted))
  }

  /** The controller gave up. Of a version that nobody works on, too: its `wanted` may come later. */
  private def giveUp(state: State, target: Target, reason: String): Step = state match {
    case Aborted(_, t, _, _) if t == target => (state, Nil)
    case _ if targetOf(state).forall(_.version <= target.version) =>
      (Aborted(state.inForce, target, reason, byDriver = false), withdrawal(state))
    case _ => ignore(state, s"version ${target.version} was replaced")
  }

  /** A phase of the version in force that is not the last one: the end was not heard. */
  private def settle(state: State, phase: Phase): Step =
    if (phase == Phase.COMMIT) (state, Nil)
    else {
      val end = WritePhase(Phase.COMMIT, state.inForce.tables, state.inForce.batch, "")
      (state, Seq(WriteInForce(state.inForce), end))
    }

  /** From any state: the route entry is there, and nothing takes it back. */
  private def migrate(state: State, target: Target, batch: Long): Step = {
    val next = state match {
      case Migrating(_, _, _, next) => next
      case other => targetOf(other).filter(_.version > target.version)
    }
    val migrating = Migrating(state.inForce, target, batch, next)
    (migrating, ownPhase(migrating))
  }

  private def commit(state: Migrating): Step = {
    val committed = Committed(InForce(state.target, state.batch))
    val actions = WriteInForce(committed.inForce) +: ownPhase(committed)
    state.next match {
      case Some(wanted) =>
        val (after, more) = step(committed, WantedSeen(wanted))
        (after, actions ++ more)
      case None => (committed, actions)
    }
  }
}
