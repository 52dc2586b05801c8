"""The controller's side of a reconfiguration (`docs/protocol.md`), pure.

`step` reads a query's state and says what to do next; the daemon and `keyroute tables` do it.
Every action can be repeated, so that any controller goes on where another died:

    (nothing, COMMIT, ABORT)        Free: a new change may start
    PUBLISH, `wanted` not written   WriteWanted
    PUBLISH, no answer in time      WritePhase(ABORT)
    PUBLISH, its table is gone      WritePhase(ABORT)
    PREPARE                         WritePhase(PROPAGATE)
    PUBLISH, PROPAGATE, MIGRATE     Wait: the driver's turn

From PREPARE on only the driver may give up: it alone knows whether the route entry is written.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from keyroute.v1.reconfiguration_pb2 import (
    ABORT,
    COMMIT,
    MIGRATE,
    PREPARE,
    PROPAGATE,
    PUBLISH,
    Phase,
    Reconfiguration,
)
from keyroute.zookeeper.payloads import Wanted
from keyroute.zookeeper.store import QueryState

FORMAT = 1
ENDED: frozenset[Phase] = frozenset({COMMIT, ABORT})


@dataclass(frozen=True, slots=True)
class Context:
    """What `step` needs beside the state.

    `waited_s`: for how long this controller has seen the phase as it is. `waiting`: the driver's
    own words on why it does not switch, empty where unknown.
    """

    by: str
    now_ms: int
    waited_s: float = 0.0
    prepare_timeout_s: float = 60.0
    waiting: str = ""


@dataclass(frozen=True, slots=True)
class Free:
    """No change is under way."""

    sentence: str


@dataclass(frozen=True, slots=True)
class Wait:
    """It is the driver's turn."""

    sentence: str


@dataclass(frozen=True, slots=True)
class WriteWanted:
    """Ask the driver for the version."""

    wanted: Wanted
    sentence: str


@dataclass(frozen=True, slots=True)
class WritePhase:
    """Write the phase, if the znode still has the version that was read."""

    value: Reconfiguration
    znode_version: int
    sentence: str


Action: TypeAlias = Free | Wait | WriteWanted | WritePhase


def step(state: QueryState, context: Context) -> Action:
    """What the controller does next about the query's reconfiguration."""
    value = state.reconfiguration.value
    if value is None:
        return Free("no change has been made yet")
    return _STEPS[value.phase](state, value, context)


def published(version: int, content_hash: str, context: Context) -> Reconfiguration:
    """The first phase of a change."""
    return Reconfiguration(
        format=FORMAT,
        phase=PUBLISH,
        version=version,
        hash=content_hash,
        by=context.by,
        updated_ms=context.now_ms,
    )


def _free(_: QueryState, value: Reconfiguration, __: Context) -> Action:
    if value.phase == COMMIT:
        return Free(f"version {value.version} is in force since batch {value.batch}")
    return Free(f"version {value.version} was given up: {value.reason or 'no reason was given'}")


def _publish(state: QueryState, value: Reconfiguration, context: Context) -> Action:
    version = value.version
    if version not in state.versions:
        return _abort(state, value, context, "its table is gone from ZooKeeper")
    if state.wanted is not None and state.wanted.version > version:
        return _abort(state, value, context, f"replaced by version {state.wanted.version}")
    wanted = Wanted(version, value.hash)
    if state.wanted != wanted:
        return WriteWanted(wanted, f"version {version} is published: asking the driver for it")
    if state.live is None:
        return Wait(
            f"version {version} is published; the query is not running, or has had no batch since "
            "it started"
        )
    if context.waited_s >= context.prepare_timeout_s:
        reason = f"the driver did not acknowledge within {context.prepare_timeout_s:.0f} s"
        return _abort(state, value, context, reason)
    return Wait(
        f"version {version} is published; waiting {context.waited_s:.0f} s for the driver to "
        "prepare it"
    )


def _prepare(state: QueryState, value: Reconfiguration, context: Context) -> Action:
    return WritePhase(
        _moved(value, PROPAGATE, context),
        state.reconfiguration.znode_version,
        f"the driver has prepared version {value.version}: it is to switch at its next batch",
    )


def _propagate(_: QueryState, value: Reconfiguration, context: Context) -> Action:
    because = f": {context.waiting}" if context.waiting else ""
    return Wait(
        f"the driver is to switch to version {value.version} at its next batch, for "
        f"{context.waited_s:.0f} s now{because}"
    )


def _migrate(_: QueryState, value: Reconfiguration, context: Context) -> Action:
    return Wait(
        f"batch {value.batch} switches to version {value.version}, for {context.waited_s:.0f} s now"
    )


def _abort(state: QueryState, value: Reconfiguration, context: Context, reason: str) -> Action:
    return WritePhase(
        _moved(value, ABORT, context, reason),
        state.reconfiguration.znode_version,
        f"version {value.version} is given up: {reason}",
    )


def _moved(
    value: Reconfiguration, phase: Phase, context: Context, reason: str = ""
) -> Reconfiguration:
    moved = Reconfiguration()
    moved.CopyFrom(value)
    moved.phase = phase
    moved.reason = reason
    moved.by = context.by
    moved.updated_ms = context.now_ms
    return moved


_STEPS: Mapping[Phase, Callable[[QueryState, Reconfiguration, Context], Action]] = {
    PUBLISH: _publish,
    PREPARE: _prepare,
    PROPAGATE: _propagate,
    MIGRATE: _migrate,
    COMMIT: _free,
    ABORT: _free,
}
