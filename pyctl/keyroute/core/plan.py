"""What planners are asked and answer. A planner is a pure function `PlanRequest -> Plan`."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from keyroute.core.statistics import Period
from keyroute.core.table import GroupShape, GroupTable, RoutingTables


@dataclass(frozen=True, slots=True)
class PlanSettings:
    """How planners plan.

    `alpha` bounds each operator's imbalance (Caneill et al. 2016, §3.1). Pair counts decay with
    `half_life` periods, or, for planners that back-test, with the best of `half_lives` (0: the
    newest period alone); the loads that capacities are held against with `load_half_life`. A plan
    makes at most `seeds` cuts of METIS, of which the best counts; another `seed` means other cuts.
    `move_cost` is the locality (share of rows) that moving a key must bring for each row of it.
    `max_moved` is the migration budget: the share of a group's rows whose key may change its
    partition, which planners keep that name one. `options` are a planner's own settings by name.
    """

    alpha: float = 1.03
    half_life: float = 4.0
    half_lives: tuple[float, ...] = (0.0, 1.0, 4.0, math.inf)
    load_half_life: float = 1.0
    seeds: int = 3
    seed: int = 42
    move_cost: float = 0.03
    max_moved: float = 1.0
    options: Mapping[str, float] = field(default_factory=dict)

    @property
    def metis_seeds(self) -> range:
        """Seeds of the cuts."""
        return range(self.seed * self.seeds, (self.seed + 1) * self.seeds)


@dataclass(frozen=True, slots=True)
class Topology:
    """Host and zone of each part, numbered from 0 on; empty where they are not known.

    Levels are nested: parts of one host are in one zone.
    """

    hosts: tuple[int, ...] = ()
    zones: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class PlanRequest:
    """A question to a planner.

    `periods` oldest first; `current` is the version in force. `executors` is how many parts are
    wanted (0: one for each partition). It must not be the number of executors seen at a moment:
    parts planned while one is lost would keep its successor idle. `placed` is the executor of each
    partition as seen, numbered from 0 on (empty: not known); it only tells what is local now.
    `leaving` are parts that shall be emptied, as far as the planner can (scaling in).
    """

    query_id: str
    shapes: tuple[GroupShape, ...]
    periods: tuple[Period, ...]
    current: RoutingTables
    executors: int = 0
    placed: tuple[int, ...] = ()
    topology: Topology = field(default_factory=Topology)
    leaving: frozenset[int] = frozenset()
    settings: PlanSettings = field(default_factory=PlanSettings)

    @property
    def parts(self) -> tuple[int, ...]:
        """The parts that there are, ascending: those in force, else one for each partition."""
        most = max((shape.partitions for shape in self.shapes), default=0)
        return tuple(sorted(set(self.current.parts))) or tuple(range(most))


@dataclass(frozen=True, slots=True)
class Plan:
    """An answer: the wanted tables, what they should bring on the request's own periods, and why.

    `predicted_locality` is None where no pairs of keys were counted. `moved_weight` is the share of
    the counted rows whose key changes its partition.
    `locality_by_level` has the share of rows that stay within a level of the topology, by the names
    "executor", "host" and "zone". `floors` has the least imbalance that any table can reach, of
    groups in which one key alone is above alpha.
    """

    groups: tuple[GroupTable, ...]
    parts: tuple[int, ...]
    predicted_locality: float | None
    predicted_imbalance: Mapping[int, float]
    moved_weight: float
    moved_keys: int
    why: str
    locality_by_level: Mapping[str, float] = field(default_factory=dict)
    floors: Mapping[int, float] = field(default_factory=dict)

    @property
    def worst_imbalance(self) -> float:
        """The largest imbalance of any group; 1.0 without groups."""
        return max(self.predicted_imbalance.values(), default=1.0)

    def tables(self, version: int, query_id: str) -> RoutingTables:
        """The plan as a version that can be published."""
        return RoutingTables(version, query_id, self.groups, self.parts)


class Planner(Protocol):
    """A strategy: pure, and the same answer for the same request."""

    def __call__(self, request: PlanRequest) -> Plan:
        """Plans, or raises `CannotPlan`, as for a request without groups."""
        ...


def between_of(planner: Planner) -> Planner | None:
    """What a planner does between full plans, where it has something: its attribute `between`.

    It is asked as the planner is, with the open period as the last one, and gives keys a place that
    have none in the table in force; it moves no other key.
    """
    between: Planner | None = getattr(planner, "between", None)
    return between


class CannotPlan(ValueError):
    """The planner has no answer for this request; the message says why, for people."""


class BadOption(CannotPlan):
    """A setting of the planner's own that it does not have, or not with that value."""


def option(settings: PlanSettings, name: str, default: float, low: float, high: float) -> float:
    """A planner's own setting, in [low, high]. Raises `BadOption`."""
    value = settings.options.get(name, default)
    if not low <= value <= high:
        raise BadOption(f"option {name} must be from {low:g} to {high:g}, not {value:g}")
    return value


def whole_option(settings: PlanSettings, name: str, default: int, low: int, high: int) -> int:
    """The same, of a whole number. Raises `BadOption`."""
    value = option(settings, name, default, low, high)
    if value != int(value):
        raise BadOption(f"option {name} must be a whole number, not {value:g}")
    return int(value)


def only_options(settings: PlanSettings, planner: str, *names: str) -> None:
    """Raises `BadOption` where there is an option that the planner does not have."""
    unknown = sorted(set(settings.options) - set(names))
    if unknown:
        has = ", ".join(names) or "none"
        raise BadOption(f"{planner} has no option {unknown[0]!r}; it has: {has}")
