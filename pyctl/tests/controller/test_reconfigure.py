"""Every row of the table in `docs/protocol.md`, and a take-over in each phase."""

from __future__ import annotations

from dataclasses import replace

import pytest

from keyroute.controller.reconfigure import (
    Context,
    Free,
    Wait,
    WritePhase,
    WriteWanted,
    published,
    step,
)
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
from keyroute.zookeeper.payloads import InForce, Live, Wanted
from keyroute.zookeeper.store import QueryState, StoredReconfiguration

CONTEXT = Context(by="me", now_ms=1_000)
WANTED = Wanted(7, "hash")


def _state(phase: Phase | None, **changes: object) -> QueryState:
    value = None
    if phase is not None:
        value = Reconfiguration(
            format=1,
            phase=phase,
            version=7,
            hash="hash",
            by="other",
            updated_ms=5,
            predicted_locality=0.8,
            batch=12 if phase in (MIGRATE, COMMIT) else 0,
        )
    state = QueryState(
        query_id="q",
        meta=None,
        live=Live("app-1", "run"),
        wanted=WANTED,
        in_force=InForce(6, "old", 3),
        reconfiguration=StoredReconfiguration(value, 40 if value else -1),
        versions=(5, 6, 7),
    )
    return replace(state, **changes)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("phase", "says"),
    [(None, "no change"), (COMMIT, "in force since batch 12"), (ABORT, "given up")],
)
def test_when_a_change_has_ended_another_may_start(phase: Phase | None, says: str) -> None:
    action = step(_state(phase), CONTEXT)
    assert isinstance(action, Free)
    assert says in action.sentence


@pytest.mark.parametrize("wanted", [None, Wanted(6, "old"), Wanted(7, "another")])
def test_a_publication_that_stopped_before_wanted_goes_on(wanted: Wanted | None) -> None:
    action = step(_state(PUBLISH, wanted=wanted), CONTEXT)
    assert isinstance(action, WriteWanted)
    assert action.wanted == WANTED


def test_an_acknowledgement_is_answered_by_the_word_to_switch() -> None:
    action = step(_state(PREPARE), CONTEXT)
    assert isinstance(action, WritePhase)
    assert action.znode_version == 40
    expected = Reconfiguration(
        format=1,
        phase=PROPAGATE,
        version=7,
        hash="hash",
        by="me",
        updated_ms=1_000,
        predicted_locality=0.8,
    )
    assert action.value == expected


@pytest.mark.parametrize("phase", [PUBLISH, PROPAGATE, MIGRATE])
def test_in_the_drivers_phases_the_controller_waits(phase: Phase) -> None:
    assert isinstance(step(_state(phase), CONTEXT), Wait)


def test_an_acknowledgement_that_does_not_come_ends_in_abort() -> None:
    late = replace(CONTEXT, waited_s=60.0)
    action = step(_state(PUBLISH), late)
    assert isinstance(action, WritePhase)
    assert action.value.phase == ABORT
    assert action.value.reason == "the driver did not acknowledge within 60 s"
    assert isinstance(step(_state(PUBLISH), replace(late, waited_s=59.9)), Wait)


def test_a_query_that_does_not_run_is_not_hurried() -> None:
    action = step(_state(PUBLISH, live=None), replace(CONTEXT, waited_s=1e6))
    assert isinstance(action, Wait)
    assert "not running" in action.sentence


@pytest.mark.parametrize("phase", [PROPAGATE, MIGRATE])
def test_after_the_word_to_switch_only_the_driver_gives_up(phase: Phase) -> None:
    assert isinstance(step(_state(phase), replace(CONTEXT, waited_s=1e6)), Wait)


def test_the_drivers_reason_to_wait_is_passed_on() -> None:
    action = step(_state(PROPAGATE), replace(CONTEXT, waiting="no new rows"))
    assert "no new rows" in action.sentence


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"versions": (5, 6)}, "its table is gone from ZooKeeper"),
        ({"wanted": Wanted(8, "later")}, "replaced by version 8"),
    ],
)
def test_what_cannot_be_finished_is_given_up(changes: dict[str, object], reason: str) -> None:
    action = step(_state(PUBLISH, **changes), CONTEXT)
    assert isinstance(action, WritePhase)
    assert (action.value.phase, action.value.reason) == (ABORT, reason)


def test_a_change_starts_with_publish() -> None:
    value = published(9, "h", CONTEXT)
    assert (value.phase, value.version, value.hash, value.by) == (PUBLISH, 9, "h", "me")
    assert (value.format, value.updated_ms, value.batch) == (1, 1_000, 0)
