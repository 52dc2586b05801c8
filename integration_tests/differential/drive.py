"""Runs a scenario in a lane, batch by batch."""

from __future__ import annotations

import json
import random
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.change import carry, propagate, publish_random
from harness.eventually import eventually
from harness.feed import Feed

from differential import routelog
from differential.events import Batch
from differential.lane import Lane
from differential.scenario import OF_ATTEMPTS, Fault, Scenario, Trial
from keyroute.controller.publish import ChangeUnderWay
from keyroute.core.table import GroupShape, RoutingTables
from keyroute.core.table_codec import shape_from_proto
from keyroute.v1.route_log_pb2 import RouteEntry
from keyroute.zookeeper.store import Store

_POLL_S = 0.002
_POINT_S = 20.0
_REST_S = 60.0
_ENDED_S = 5.0


@dataclass(frozen=True)
class Run:
    """What one run gave.

    Attributes:
        outputs: rows of each batch, as JSON, sorted.
        states: for each read of the workload (partition, row as JSON, hash and fingerprints).
        shapes: the routing groups.
        bypassed: operators that stayed on Spark's hash, and why.
        tables: in force at the end; None: no table.
        changes: tables that came into force.
        moved: state rows that their switches moved.
        faults: kinds of the faults that happened.
    """

    outputs: dict[int, list[str]]
    states: list[list[list[Any]]]
    shapes: list[GroupShape]
    bypassed: list[str]
    tables: RoutingTables | None
    changes: int
    moved: int
    faults: tuple[str, ...]


class Drive:
    """One run of a scenario: of a trial of it, or without changes of tables."""

    def __init__(
        self,
        lane: Lane,
        scenario: Scenario,
        batches: list[Batch],
        folder: Path,
        store: Store,
        trial: Trial | None = None,
    ) -> None:
        self.lane = lane
        self.scenario = scenario
        self.batches = batches
        self.keys = [[scenario.query.columns(row) for row in batch] for batch in batches]
        self.folder = folder
        self.store = store
        self.trial = trial or Trial({})
        self.feed = Feed(folder / "in")
        self.checkpoint = folder / "checkpoint"
        self.id = ""
        self.version = 0
        self.committed = 0
        self.moved: dict[int, int] = {}
        self.switched: set[tuple[int, int]] = set()
        self.happened: list[str] = []

    def run(self) -> Run:
        """Runs it to its end. A lane whose run breaks starts anew."""
        try:
            return self._run()
        except BaseException:
            self.lane.kill()
            raise

    def _run(self) -> Run:
        self._start()
        for number, rows in enumerate(self.batches):
            if number in self.trial.changes:
                self._change(self.trial.changes[number])
            self._batch(rows, [f for f in self.trial.faults if f.batch == number])
            self._note_switches()
        self.lane.ask("stop")
        newest = self._newest()
        return Run(
            outputs=outputs(self.folder),
            states=self.lane.ask(
                "states", workload=self.scenario.workload, folder=str(self.folder)
            ),
            shapes=[shape_from_proto(g) for g in newest.groups] if newest else [],
            bypassed=[f"operator {b.operator}: {b.reason}" for b in newest.bypassed]
            if newest
            else [],
            tables=(
                routelog.tables(self.checkpoint, newest)
                if newest and newest.table_version
                else None
            ),
            changes=len(self.switched),
            moved=sum(self.moved.values()),
            faults=(*self.happened, *self._done()),
        )

    def _done(self) -> list[str]:
        """Faults that attempts say they had."""
        return sorted(p.name.removeprefix("done-") for p in self.folder.glob("done-*"))

    def _start(self) -> None:
        scenario = self.scenario
        self.id = self.lane.ask(
            "start", workload=scenario.workload, store=scenario.store, folder=str(self.folder)
        )
        self.committed = self._committed()

    def _committed(self) -> int:
        """Batches of the query that have ended, of any run."""
        return len(list((self.checkpoint / "commits").glob("[0-9]*")))

    def _change(self, seed: int | None) -> None:
        if self.version:
            # The end of a change is told after its batch. One that waits for a batch may go on.
            carry(self.store, self.id, self.version, _ENDED_S)
        try:
            self.version = publish_random(self.store, self.id, self.keys, seed)
        except ChangeUnderWay:
            return
        if self._committed() > self.committed:
            propagate(self.store, self.id, self.version)
        # Else the driver has seen no plan since it started: it hears of the change with its batch.

    def _batch(self, rows: Batch, faults: list[Fault]) -> None:
        for fault in faults:
            if fault.kind in OF_ATTEMPTS:
                (self.folder / f"fault-{fault.kind}").touch()
        kills = [f for f in faults if f.kind not in OF_ATTEMPTS]
        number = self._next_batch()
        self.feed.put(rows)
        if kills:
            self._killed(kills[0], number)
        self.lane.ask("settle")

    def _next_batch(self) -> int:
        offsets = self.checkpoint / "offsets"
        numbers = [int(p.name) for p in offsets.glob("[0-9]*")] if offsets.exists() else []
        return max(numbers, default=-1) + 1

    def _killed(self, fault: Fault, batch: int) -> None:
        """Kills at the fault's point of the batch, where that comes."""
        if not self._comes(fault.point, batch):
            return
        happened = f"{fault.kind} at {fault.point}"
        if fault.kind == "executor":
            self.lane.kill_an_executor()
            self.happened.append(happened)
            return
        if fault.point == "commit":
            self._wait_for_more_or_rest(batch)
        self.lane.kill()
        if fault.kind in ("lost", "damaged") and not self._harm(fault.kind, batch):
            happened = f"driver at {fault.point}"
        self._start()
        self.happened.append(happened)

    def _comes(self, point: str, batch: int) -> bool:
        """Whether the point comes; without a switch some never do."""
        deadline = time.monotonic() + _POINT_S
        committed = self.checkpoint / "commits" / str(batch)
        while time.monotonic() < deadline:
            if self._is_there(point, batch):
                return True
            if committed.exists():
                return False
            time.sleep(_POLL_S)
        return False

    def _wait_for_more_or_rest(self, batch: int) -> None:
        """Until the next batch has begun, or there is none.

        A query of Spark's that starts after a batch, before the no-data batch that is due after it,
        leaves that out; the rows come in a later batch than in the run that was not killed.
        """
        self.lane.send("settle")
        eventually(
            _REST_S,
            f"more than batch {batch}, or rest",
            lambda: self._is_there("offsets", batch + 1) or self.lane.has_answered(),
        )

    def _is_there(self, point: str, batch: int) -> bool:
        ours = self.checkpoint / "keyroute"
        match point:
            case "offsets":
                return (self.checkpoint / "offsets" / str(batch)).exists()
            case "handoff":
                return (ours / "handoff" / str(batch)).exists()
            case "route":
                return (ours / "routes" / str(batch)).exists()
            case "state":
                version = batch + 1
                files = (self.checkpoint / "state").glob(f"*/*/**/{version}[._]*")
                return next(iter(files), None) is not None
            case "commit":
                return (self.checkpoint / "commits" / str(batch)).exists()
        raise ValueError(point)

    def _harm(self, kind: str, batch: int) -> bool:
        """Whether there was a handoff file to harm, and a batch that still needs it."""
        if (self.checkpoint / "commits" / str(batch)).exists():
            return False
        files = sorted(
            p for p in self.checkpoint.glob(f"keyroute/handoff/{batch}/*") if p.is_file()
        )
        if not files:
            return False
        chosen = random.Random(self.scenario.seed).choice(files)
        if kind == "lost":
            chosen.unlink()
        else:
            data = bytearray(chosen.read_bytes())
            data[len(data) // 2] ^= 0x55
            chosen.write_bytes(bytes(data))
        # Hadoop's local file system would say so before we could.
        chosen.with_name(f".{chosen.name}.crc").unlink(missing_ok=True)
        return True

    def _newest(self) -> RouteEntry | None:
        entries = routelog.entries(self.checkpoint)
        return entries[max(entries)] if entries else None

    def _note_switches(self) -> None:
        for batch, entry in routelog.entries(self.checkpoint).items():
            if entry.HasField("switch"):
                self.switched.add((batch, entry.table_version))
                moved = sum(m.rows for m in entry.switch.moved)
                self.moved[batch] = moved


def outputs(folder: Path) -> dict[int, list[str]]:
    """Rows of each batch that a worker's query emitted, as JSON, sorted."""
    return {
        int(path.stem): json.loads(path.read_text())
        for path in (folder / "out").glob("[0-9]*.json")
    }
