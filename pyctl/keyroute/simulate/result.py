"""What a replay came to: figures of each step, their means, and their JSON."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from statistics import fmean
from typing import Any


@dataclass(frozen=True, slots=True)
class Measure:
    """Of tables on a period: share of the pairs' rows whose two keys share an executor, and
    max/mean of each operator's partitions."""

    locality: float
    imbalance: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Step:
    """Tables planned after a period, and what they brought.

    Attributes:
        period: the period planned after, from 0; `begins` is its first time, empty where rows
            have none.
        same: on that period, `next` on the one after; `hash` is Spark's routing there.
        predicted: locality that was to be expected on the next period: what the step before brought
            on rows that it had not seen; None for the first.
        changes: how often the tables changed, between the periods and within the next.
        moved_keys: keys seen so far whose partition those changes change.
        moved_weight: share of a period's rows, over all operators, whose key they move.
        plan_s: seconds that the planner took.
    """

    period: int
    begins: str
    rows: int
    same: Measure
    next: Measure
    hash: Measure
    predicted: float | None
    changes: int
    moved_keys: int
    moved_weight: float
    plan_s: float
    why: str


@dataclass(frozen=True, slots=True)
class Replay:
    """All steps of a replay, at least one."""

    planner: str
    parts: int
    keys: tuple[str, ...]
    steps: tuple[Step, ...]
    executors: int = 0

    @property
    def places(self) -> str:
        """Partitions and executors, for people."""
        on = f" on {self.executors} executors" if self.executors else ""
        return f"{self.parts} partitions{on}"

    @property
    def prediction_error(self) -> float | None:
        """Mean distance of predicted from realised locality."""
        errors = [abs(s.predicted - s.next.locality) for s in self.steps if s.predicted is not None]
        return fmean(errors) if errors else None

    def mean(self, figure: Callable[[Step], float]) -> float:
        """Mean of a figure over the steps."""
        return fmean(figure(step) for step in self.steps)

    def mean_imbalance(self, measure: Callable[[Step], Measure]) -> list[float]:
        """Mean imbalance of each operator."""
        return [fmean(of) for of in zip(*(measure(s).imbalance for s in self.steps), strict=True)]


def to_json(replay: Replay) -> dict[str, Any]:
    """The figures for programs."""
    return {
        "planner": replay.planner,
        "parts": replay.parts,
        "executors": replay.executors or replay.parts,
        "keys": list(replay.keys),
        "periods": [_step(step) for step in replay.steps],
        "mean": {
            "locality_same": replay.mean(lambda s: s.same.locality),
            "locality_next": replay.mean(lambda s: s.next.locality),
            "locality_hash": replay.mean(lambda s: s.hash.locality),
            "imbalance_same": replay.mean_imbalance(lambda s: s.same),
            "imbalance_next": replay.mean_imbalance(lambda s: s.next),
            "imbalance_hash": replay.mean_imbalance(lambda s: s.hash),
            "changes": replay.mean(lambda s: s.changes),
            "moved_keys": replay.mean(lambda s: s.moved_keys),
            "moved_weight": replay.mean(lambda s: s.moved_weight),
            "prediction_error": replay.prediction_error,
            "plan_s": replay.mean(lambda s: s.plan_s),
        },
    }


def _step(step: Step) -> dict[str, Any]:
    figures = asdict(step)
    for name in ("same", "next", "hash"):
        measure = figures.pop(name)
        figures[f"locality_{name}"] = measure["locality"]
        figures[f"imbalance_{name}"] = list(measure["imbalance"])
    return figures
