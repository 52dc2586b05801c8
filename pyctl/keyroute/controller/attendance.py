"""Attends to one query at a time: one snapshot, one decision, one sentence."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field

from keyroute.controller.planning import Planning, consider, read_current
from keyroute.controller.publish import Prediction, perform, publish
from keyroute.controller.realised import realised
from keyroute.controller.reconfigure import Context, Free, Wait, step
from keyroute.controller.snapshot import Snapshot, take_snapshot, with_driver
from keyroute.core.decision import Move
from keyroute.core.plan import Plan
from keyroute.gateway.port import Gateways
from keyroute.v1.reconfiguration_pb2 import ABORT, Reconfiguration
from keyroute.zookeeper.errors import Conflict, Damaged
from keyroute.zookeeper.session import ABSENT
from keyroute.zookeeper.store import Store
from keyroute.zookeeper.tables import KEPT_VERSIONS


@dataclass(frozen=True, slots=True)
class Clock:
    """Time as arguments: monotonic seconds for waits, wall milliseconds for people."""

    monotonic_s: Callable[[], float] = time.monotonic
    wall_ms: Callable[[], int] = lambda: time.time_ns() // 1_000_000


@dataclass(frozen=True, slots=True)
class AttendanceSettings:
    """How queries are attended to. `by` is the controller's id."""

    by: str
    interval_s: float = 30.0
    prepare_timeout_s: float = 60.0
    dry_run: bool = False


@dataclass(frozen=True, slots=True)
class Report:
    """What was done about a query, in a sentence.

    `busy`: a change is under way, so look again soon. `news`: the sentence is worth a log line.
    `published`: the version that was published just now, 0 if none. `plan`: what was decided for.
    `unread`: the driver could not be asked for its statistics, so nothing was decided.
    """

    label: str
    sentence: str
    busy: bool = False
    news: bool = True
    published: int = 0
    plan: Plan | None = None
    unread: bool = False


@dataclass(slots=True)
class _Memory:
    """What is remembered of a query between ticks; losing it costs time only.

    `since_s` is when its reconfiguration was first seen as it is, `age_s` how old it was then.
    """

    plan_at_s: float
    znode_version: int | None = None
    since_s: float = 0.0
    age_s: float = 0.0
    told_s: float = 0.0
    aborts: int = 0

    @property
    def never_changed(self) -> bool:
        return self.znode_version == ABSENT

    def since_change_ms(self, now_s: float) -> int | None:
        """Age of the last change; None where there was none."""
        if self.never_changed:
            return None
        return round(1000 * (self.age_s + now_s - self.since_s))

    @property
    def patience(self) -> int:
        """Intervals until the next plan: 1, and up to 32 where change after change is given up."""
        return int(2 ** min(self.aborts, 5))

    def count_end(self, ended: Reconfiguration | None) -> None:
        """Counts how many changes in a row were given up."""
        given_up = ended is not None and ended.phase == ABORT
        self.aborts = self.aborts + 1 if given_up else 0


@dataclass(slots=True)
class Attendant:
    """Attends to queries in the order it is asked to. Not for several threads."""

    store: Store
    gateways: Gateways
    planning: Planning
    settings: AttendanceSettings
    clock: Clock = field(default_factory=Clock)
    _memories: dict[str, _Memory] = field(default_factory=dict)

    def attend(self, query_id: str, *, plan_now: bool = False) -> Report | None:
        """One tick for one query; None where there is nothing to do yet.

        Raises StoreError's kinds but Conflict, which is reported.
        """
        snapshot = take_snapshot(self.store, query_id)
        if snapshot.state.live is None:
            attended = self._memories.pop(query_id, None) is not None
            return Report(snapshot.label, "does not run any more") if attended else None
        try:
            return self._attend(snapshot, plan_now)
        except Conflict:
            return Report(snapshot.label, "another writer was faster: reading again", busy=True)

    def _attend(self, snapshot: Snapshot, plan_now: bool) -> Report | None:
        now_s = self.clock.monotonic_s()
        memory = self._remember(snapshot, now_s)
        action = step(snapshot.state, self._context(memory, now_s))
        if isinstance(action, Free):
            if memory.told_s < memory.since_s and not plan_now and not memory.never_changed:
                memory.told_s = now_s
                memory.count_end(snapshot.state.reconfiguration.value)
                memory.plan_at_s = now_s + self.settings.interval_s * memory.patience
                return Report(snapshot.label, action.sentence)
            if not plan_now and now_s < memory.plan_at_s:
                return None
            memory.plan_at_s = now_s + self.settings.interval_s
            return self._plan(snapshot, memory.since_change_ms(now_s))
        if isinstance(action, Wait):
            return self._wait(snapshot, memory, now_s)
        if self.settings.dry_run:
            return Report(snapshot.label, f"a change is under way; would act: {action.sentence}")
        perform(self.store, snapshot.state.query_id, action)
        return Report(snapshot.label, action.sentence, busy=True)

    def _plan(self, snapshot: Snapshot, since_change_ms: int | None) -> Report:
        asked = with_driver(snapshot, self.gateways, statistics=True)
        came_true = self._compare(asked)
        current = read_current(self.store, asked)
        decision = consider(asked, current, self.planning, since_change_ms)
        note = f"; {current.note}" if current.note else ""
        note += came_true
        if not isinstance(decision, Move):
            self._prune(asked)
            unread = asked.driver is None or bool(asked.driver.problem)
            return Report(asked.label, f"stays: {decision.reason}{note}", unread=unread)
        plan = decision.plan
        if self.settings.dry_run:
            return Report(asked.label, f"would move: {decision.reason}{note}", plan=plan)
        query_id = asked.state.query_id
        prediction = _prediction(decision)
        version = publish(
            self.store,
            asked,
            lambda number: plan.tables(number, query_id),
            self._context(None, 0.0),
            prediction,
        )
        sentence = f"version {version} published: {decision.reason}{note}"
        return Report(asked.label, sentence, busy=True, published=version, plan=plan)

    def _compare(self, asked: Snapshot) -> str:
        """Keeps what came true of the last prediction; what is to be said of it, once."""
        if self.settings.dry_run:
            return ""
        query_id = asked.state.query_id
        try:
            stored = self.store.predictions(query_id)
        except Damaged as error:
            return f"; predictions are not compared: {error}"
        rows, now_ms = self.planning.decision.holdout_rows, self.clock.wall_ms()
        record = realised(asked, stored.value, rows, now_ms)
        if record is None:
            return ""
        kept = stored.value.with_record(record)
        self.store.write_predictions(query_id, kept, stored.znode_version)
        return f"; {record.sentence}"

    def _wait(self, snapshot: Snapshot, memory: _Memory, now_s: float) -> Report:
        news = now_s - memory.told_s >= self.settings.interval_s or memory.told_s < memory.since_s
        if not news:
            return Report(snapshot.label, "", busy=True, news=False)
        memory.told_s = now_s
        if now_s > memory.since_s:
            snapshot = with_driver(snapshot, self.gateways, statistics=False)
        action = step(snapshot.state, self._context(memory, now_s, snapshot.waiting))
        return Report(snapshot.label, action.sentence, busy=True)

    def _remember(self, snapshot: Snapshot, now_s: float) -> _Memory:
        stored = snapshot.state.reconfiguration
        memory = self._memories.setdefault(snapshot.state.query_id, _Memory(plan_at_s=now_s))
        if memory.znode_version != stored.znode_version:
            memory.age_s = self._age_s(stored.value) if memory.znode_version is None else 0.0
            memory.znode_version, memory.since_s, memory.told_s = stored.znode_version, now_s, -1.0
        return memory

    def _age_s(self, found: Reconfiguration | None) -> float:
        """How old a change is that was there at first sight, by its writer's clock, which may be
        behind ours or ahead. What is written later is timed by ours alone."""
        return 0.0 if found is None else abs(self.clock.wall_ms() - found.updated_ms) / 1000

    def _context(self, memory: _Memory | None, now_s: float, waiting: str = "") -> Context:
        return Context(
            by=self.settings.by,
            now_ms=self.clock.wall_ms(),
            waited_s=0.0 if memory is None else now_s - memory.since_s,
            prepare_timeout_s=self.settings.prepare_timeout_s,
            waiting=waiting,
        )

    def _prune(self, snapshot: Snapshot) -> None:
        if len(snapshot.state.versions) > KEPT_VERSIONS and not self.settings.dry_run:
            self.store.prune(snapshot.state)


def _prediction(decision: Move) -> Prediction:
    """What was held out decides, and is what can come true; else what the plan says of itself."""
    plan, outlook = decision.plan, decision.outlook
    if outlook is None:
        local = plan.predicted_locality or 0.0
        return Prediction(local, plan.worst_imbalance, plan.moved_keys)
    return Prediction(outlook.locality_then or 0.0, outlook.imbalance_then, plan.moved_keys)
