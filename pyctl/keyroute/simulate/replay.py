"""Asks a planner after each period and measures its tables on the next."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from keyroute.core.decision import DecisionSettings, Move, decide
from keyroute.core.dump import Dump
from keyroute.core.plan import Plan, Planner, PlanRequest, PlanSettings, between_of
from keyroute.core.statistics import PartitionPlacement, Period, QueryStatistics, imbalance
from keyroute.core.table import GroupShape, no_tables
from keyroute.simulate.counting import Segment, count, executor_of, targets, went_where
from keyroute.simulate.result import Measure, Step
from keyroute.simulate.stream import QUERY, BadStream, Cut

HISTORY = 16
"""Periods that a planner gets at most, the newest: as many as a driver keeps by default."""

OPEN_TO_ALL = DecisionSettings(min_rows=1, min_interval_ms=0, holdout_rows=1)
"""The controller's gate, for replays: a period is long enough to plan on, however few its rows."""


@dataclass(frozen=True)
class Setup:
    """How a stream is replayed. `parts` is the number of partitions, each on an executor, or on one
    of fewer `executors`.

    A period is fed in `steps` of as many rows each: between them a planner may place keys that are
    new. `gate` is what a plan must hold up against, as in the controller, which places no keys
    between plans either; without it all plans are taken. `keep` is given what is known at the end,
    for other planners.
    """

    planner: Planner
    parts: int
    plan: PlanSettings = field(default_factory=PlanSettings)
    steps: int = 8
    gate: DecisionSettings | None = None
    executors: int = 0
    keep: Callable[[Dump], None] | None = None
    clock: Callable[[], float] = time.perf_counter


def replay(cuts: Sequence[Cut], setup: Setup) -> Iterator[Step]:
    """One step for each period but the last. Raises `BadStream`, `CannotPlan`."""
    if len(cuts) < 2:
        raise BadStream(
            f"the stream is {len(cuts)} period long: tables planned on one are measured on the "
            "next, so take shorter periods"
        )
    if setup.parts < 2:
        raise BadStream("at least two parts are needed: with one, all is local")
    if setup.executors == 1 or setup.executors > setup.parts:
        raise BadStream(
            f"{setup.executors} executors are meant for {setup.parts} partitions: take 2 to "
            f"{setup.parts}, since an executor without a partition idles, and with one all is local"
        )
    run = _Run(cuts[0], setup)
    predicted = None
    for number, (now, following) in enumerate(itertools.pairwise(cuts)):
        step = run.step(number, now, following, predicted)
        yield step
        predicted = step.next.locality
    if setup.keep is not None:
        setup.keep(run.dump(len(cuts) - 1))


@dataclass
class _Moved:
    keys: int = 0
    weight: float = 0.0


class _Run:
    """What a replay carries from period to period."""

    def __init__(self, first: Cut, setup: Setup) -> None:
        columns = first.stream.columns
        self.setup = setup
        self.shapes = tuple(c.shape(group, setup.parts) for group, c in enumerate(columns))
        self.tables = no_tables(QUERY)
        self.periods: tuple[Period, ...] = ()
        self.segments = [Segment(first, self.tables)]
        self.seen = [np.zeros(len(column.values), dtype=bool) for column in columns]
        self._see(first)

    def step(self, number: int, now: Cut, following: Cut, predicted: float | None) -> Step:
        newest = self._count(number)
        self.periods = (*self.periods, newest)[-HISTORY:]
        moved = _Moved()
        began = self.setup.clock()
        plan, why = self._plan()
        took = self.setup.clock() - began
        if plan is not None:
            self._change(plan, now, moved)
        planned = self.tables
        changes = int(plan is not None) + self._feed(number + 1, following, moved)
        nothing = [Segment(following, no_tables(QUERY))]
        return Step(
            period=number,
            begins=now.since,
            rows=int(now.weights.sum()),
            same=self._measure([Segment(now, planned)]),
            next=self._measure(self.segments),
            hash=self._measure(nothing),
            predicted=predicted,
            changes=changes,
            moved_keys=moved.keys,
            moved_weight=moved.weight,
            plan_s=took,
            why=why,
        )

    def dump(self, number: int) -> Dump:
        """All that a driver would know after the last period, whose number it is."""
        newest = self._count(number)
        at = executor_of(self.tables, self.setup.parts, self.setup.executors)
        where = tuple(
            PartitionPlacement(shape.group, partition, f"executor {at[partition]}", "")
            for shape in self.shapes
            for partition in range(shape.partitions)
        )
        periods = (*self.periods, newest)[-HISTORY:]
        version = self.tables.version
        known = QueryStatistics(QUERY, "", QUERY, periods, where, version, number)
        return Dump(known, self.shapes, self.tables, by="keyroute simulate")

    def _plan(self) -> tuple[Plan | None, str]:
        request = self._request(self.periods)
        if self.setup.gate is None:
            plan = self.setup.planner(request)
            return plan, plan.why
        decision = decide(self.setup.planner, request, self.setup.gate, None)
        return (decision.plan if isinstance(decision, Move) else None), decision.reason

    def _feed(self, number: int, cut: Cut, moved: _Moved) -> int:
        """The period's rows, step by step; how often the tables changed between."""
        # A controller places no keys between its plans, unless it is told to.
        between = between_of(self.setup.planner) if self.setup.gate is None else None
        bounds = np.linspace(cut.start, cut.stop, self.setup.steps + 1).astype(int).tolist()
        pieces = [Cut(cut.stream, a, b) for a, b in itertools.pairwise(bounds) if b > a]
        self.segments = []
        changes = 0
        for piece in pieces:
            self.segments.append(Segment(piece, self.tables))
            self._see(piece)
            if between is None or piece is pieces[-1] or not self.tables.entries:
                continue
            so_far = self._count(number)
            plan = between(self._request((*self.periods, so_far)))
            if plan.moved_keys:
                self._change(plan, Cut(cut.stream, cut.start, piece.stop), moved, cut)
                changes += 1
        return changes

    def _change(self, plan: Plan, rows: Cut, moved: _Moved, of: Cut | None = None) -> None:
        """Other tables; counts keys seen so far that move, weighed by `rows` as a share of `of`."""
        planned = plan.tables(self.tables.version + 1, QUERY)
        old, new = targets(rows, self.shapes, self.tables), targets(rows, self.shapes, planned)
        total = float((of or rows).weights.sum()) * len(self.shapes)
        for index, seen in enumerate(self.seen):
            moves = (old[index] != new[index]) & seen
            moved.keys += int(moves.sum())
            moved.weight += float(rows.rows_of_values(index)[moves].sum()) / total if total else 0.0
        self.tables = planned

    def _see(self, cut: Cut) -> None:
        for index, seen in enumerate(self.seen):
            seen[cut.codes(index)] = True

    def _request(self, periods: tuple[Period, ...]) -> PlanRequest:
        executors = self.setup.executors
        at = executor_of(self.tables, self.setup.parts, executors)
        return PlanRequest(
            QUERY,
            self.shapes,
            periods,
            self.tables,
            executors=executors,
            placed=tuple(at.tolist()),
            settings=self.setup.plan,
        )

    def _count(self, number: int) -> Period:
        return count(number, self.segments, self.shapes, self.setup.executors)

    def _measure(self, segments: Sequence[Segment]) -> Measure:
        return measure(segments, self.shapes, self.setup.executors)


def measure(
    segments: Sequence[Segment], shapes: tuple[GroupShape, ...], executors: int = 0
) -> Measure:
    """What tables bring on a period, row by row."""
    went = went_where(segments, shapes, executors)
    rows = sum(float(s.cut.weights.sum()) for s in segments) * len(went.local_rows)
    return Measure(
        locality=sum(went.local_rows) / rows if rows else 0.0,
        imbalance=tuple(imbalance(of) for of in went.partition_rows),
    )
