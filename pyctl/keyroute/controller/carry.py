"""Carries one change to its end: `keyroute tables apply`, `reset` and `controller --once`."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field

from keyroute.controller.attendance import Clock
from keyroute.controller.publish import perform
from keyroute.controller.reconfigure import ENDED, Context, Free, step
from keyroute.controller.snapshot import Snapshot, take_snapshot
from keyroute.v1.reconfiguration_pb2 import COMMIT, Phase, Reconfiguration
from keyroute.zookeeper.errors import Conflict
from keyroute.zookeeper.store import Store

POLL_S = 0.25


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a change stood when it ended, or when the wait for it did.

    `phase` is None where the reconfiguration is gone or is another version's by now.
    """

    version: int
    phase: Phase | None
    batch: int
    sentence: str

    @property
    def committed(self) -> bool:
        """Whether the query runs under the version."""
        return self.phase == COMMIT

    @property
    def ended(self) -> bool:
        """Whether the change is over, by COMMIT or not."""
        return self.phase is None or self.phase in ENDED


@dataclass(slots=True)
class Carrier:
    """Does the controller's steps of one query's change, beside any daemon that does them too."""

    store: Store
    by: str
    stop: threading.Event
    prepare_timeout_s: float = 60.0
    clock: Clock = field(default_factory=Clock)
    tell: Callable[[str], None] = lambda _: None

    def carry(self, query_id: str, version: int, timeout_s: float) -> Outcome:
        """Until the change to `version` has ended, `stop` is set or the time is over.

        Raises StoreError's kinds.
        """
        end_s = self.clock.monotonic_s() + timeout_s
        seen, since_s = -1, self.clock.monotonic_s()
        while True:
            snapshot = take_snapshot(self.store, query_id)
            now_s = self.clock.monotonic_s()
            if snapshot.state.reconfiguration.znode_version != seen:
                seen, since_s = snapshot.state.reconfiguration.znode_version, now_s
            outcome = self._advance(snapshot, version, now_s - since_s)
            if outcome.ended or now_s >= end_s or self.stop.wait(POLL_S):
                return outcome

    def _advance(self, snapshot: Snapshot, version: int, waited_s: float) -> Outcome:
        value = snapshot.state.reconfiguration.value
        if value is None or value.version != version:
            return _replaced(snapshot, version, value)
        context = Context(self.by, self.clock.wall_ms(), waited_s, self.prepare_timeout_s)
        action = step(snapshot.state, context)
        self.tell(action.sentence)
        if not isinstance(action, Free):
            try:
                perform(self.store, snapshot.state.query_id, action)
            except Conflict:
                # A daemon or the driver was faster: the next look tells.
                return Outcome(version, value.phase, value.batch, action.sentence)
        return Outcome(version, value.phase, value.batch, action.sentence)


def _replaced(snapshot: Snapshot, version: int, value: Reconfiguration | None) -> Outcome:
    in_force = snapshot.state.in_force
    if in_force is not None and in_force.version == version:
        sentence = f"version {version} is in force since batch {in_force.batch}"
        return Outcome(version, COMMIT, in_force.batch, sentence)
    instead = "gone from ZooKeeper" if value is None else f"replaced by version {value.version}"
    return Outcome(version, None, 0, f"the change to version {version} is {instead}")
