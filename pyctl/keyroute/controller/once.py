"""Plans and applies once for every running query: `keyroute controller --once`."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass

from keyroute.controller.attendance import Attendant, Clock, Report
from keyroute.controller.carry import Carrier, Outcome
from keyroute.controller.reconfigure import ENDED
from keyroute.controller.snapshot import take_snapshot
from keyroute.core.plan import Plan
from keyroute.zookeeper.errors import UNREADABLE

_ATTEMPTS = 3


@dataclass(frozen=True, slots=True)
class PlanSummary:
    """What a plan should bring."""

    predicted_locality: float | None
    predicted_imbalance: float
    moved_keys: int
    moved_weight: float
    entries: int
    parts: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class OnceReport:
    """What was done about one query. `version` is 0 where nothing was published.

    `unread`: the driver could not be asked for its statistics.
    """

    query_id: str
    label: str
    sentence: str
    version: int = 0
    committed: bool = False
    failed: bool = False
    unfinished: bool = False
    unread: bool = False
    plan: PlanSummary | None = None


def run_once(
    attendant: Attendant,
    stop: threading.Event,
    timeout_s: float,
    clock: Clock,
    tell: Callable[[str], None],
) -> tuple[OnceReport, ...]:
    """One report for each query that runs. Raises StoreError's kinds, but for one query's nodes
    that are UNREADABLE, which is that query's failure."""
    reports = []
    for query_id in attendant.store.query_ids():
        if stop.is_set():
            break
        try:
            report = _once(attendant, query_id, stop, timeout_s, clock, tell)
        except UNREADABLE as error:
            report = OnceReport(query_id, query_id[:8], str(error), failed=True)
        if report is not None:
            reports.append(report)
    return tuple(reports)


def _once(
    attendant: Attendant,
    query_id: str,
    stop: threading.Event,
    timeout_s: float,
    clock: Clock,
    tell: Callable[[str], None],
) -> OnceReport | None:
    settings = attendant.settings
    carrier = Carrier(attendant.store, settings.by, stop, settings.prepare_timeout_s, clock, tell)
    for _ in range(_ATTEMPTS):
        pending = _pending(attendant, query_id)
        if pending and not settings.dry_run:
            finished = carrier.carry(query_id, pending, timeout_s)
            if not finished.ended:
                return _carried(query_id, query_id[:8], finished, None)
        report = attendant.attend(query_id, plan_now=True)
        if report is None:
            return None
        if report.published:
            outcome = carrier.carry(query_id, report.published, timeout_s)
            return _carried(query_id, report.label, outcome, report)
        if settings.dry_run or not report.busy:
            plan, unread = _summary(report.plan), report.unread
            return OnceReport(query_id, report.label, report.sentence, plan=plan, unread=unread)
    sentence = f"another writer was faster, {_ATTEMPTS} times in a row: no plan was published"
    return OnceReport(query_id, query_id[:8], sentence, failed=True)


def _pending(attendant: Attendant, query_id: str) -> int:
    """Version of a change that is under way in a running query; 0 where there is none."""
    state = take_snapshot(attendant.store, query_id).state
    value = state.reconfiguration.value
    if state.live is None or value is None or value.phase in ENDED:
        return 0
    return value.version


def _carried(query_id: str, label: str, outcome: Outcome, report: Report | None) -> OnceReport:
    said = f"{report.sentence}; " if report is not None else ""
    return OnceReport(
        query_id=query_id,
        label=label,
        sentence=f"{said}{outcome.sentence}",
        version=outcome.version,
        committed=outcome.committed,
        failed=outcome.ended and not outcome.committed,
        unfinished=not outcome.ended,
        plan=_summary(report.plan) if report is not None else None,
    )


def _summary(plan: Plan | None) -> PlanSummary | None:
    if plan is None:
        return None
    return PlanSummary(
        predicted_locality=plan.predicted_locality,
        predicted_imbalance=plan.worst_imbalance,
        moved_keys=plan.moved_keys,
        moved_weight=plan.moved_weight,
        entries=sum(table.entries for table in plan.groups),
        parts=plan.parts,
    )
