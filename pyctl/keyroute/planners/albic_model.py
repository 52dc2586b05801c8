"""ALBIC's view of a query: key groups with load, migration cost and home, and nodes.

Key groups are the sites of all groups of a query (slots, and entries in force), one after the
other; nodes are partitions. Loads are in shares of the mean load of the nodes that stay, for each
group of the query by itself, so that each operator is balanced and not only their sum; or of all
together, as in the paper.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from keyroute.core.graph import FloatArray
from keyroute.core.plan import CannotPlan, PlanRequest
from keyroute.core.sites import flow, site_rows
from keyroute.core.table import Int32Array, Int64Array
from keyroute.planners.leaving import leaving_partitions
from keyroute.planners.scheduling import level
from keyroute.planners.slot_groups import SlotGroup, decay

BoolArray = np.ndarray[tuple[int, ...], np.dtype[np.bool_]]


@dataclass(frozen=True, slots=True, eq=False)
class Model:
    """K key groups on n nodes, of G groups that are balanced each by itself.

    `group` (K,) and `groups`, which is G, are those of the query, or all are one; `starts` has
    where those of the query begin. `load` and `cost` (K,) are shares: 1 is the mean load of a
    staying node, and all migration cost of a group. `leaving` (n,) are nodes marked for removal.
    `alone` (n, G) are nodes of a hot key group, which shall have nothing else of that group; such
    key groups are `hot` (K,), and have no part in the mean; `pins` has the node of each.
    """

    group: Int64Array
    groups: int
    load: FloatArray
    cost: FloatArray
    home: Int32Array
    leaving: BoolArray
    hot: BoolArray
    alone: BoolArray
    starts: Int64Array
    pins: Mapping[int, int]

    @property
    def pinned_cost(self) -> FloatArray:
        """Migration cost of the pins (G,)."""
        moved = [k for k, node in self.pins.items() if node != self.home[k]]
        cost = np.bincount(self.group[moved], self.cost[moved], self.groups)
        return cost.astype(np.float64)

    @property
    def nodes(self) -> int:
        """n."""
        return len(self.leaving)

    def loads(self, at: Int32Array) -> FloatArray:
        """Load of each node and group (n, G), without hot key groups."""
        cell = at.astype(np.int64) * self.groups + self.group
        flat = np.bincount(cell, np.where(self.hot, 0.0, self.load), self.nodes * self.groups)
        loads: FloatArray = flat.reshape(self.nodes, self.groups).astype(np.float64)
        return loads

    @property
    def counted(self) -> BoolArray:
        """Cells (n, G) that a load distance is of: of staying nodes without a hot key group."""
        return ~self.leaving[:, None] & ~self.alone

    def distance(self, at: Int32Array) -> float:
        """Load distance: the largest difference from the mean, as a share of it."""
        off = np.abs(self.loads(at) - 1.0)[self.counted]
        return float(off.max(initial=0.0))


@dataclass(frozen=True, slots=True, eq=False)
class Rates:
    """Rows from key group to key group, each pair once: arrays of one length.

    `scored` says whether a pair can contribute to the collocation.
    """

    upstream: Int64Array
    downstream: Int64Array
    rows: FloatArray
    scored: BoolArray


def model(request: PlanRequest, groups: Sequence[SlotGroup], together: bool = False) -> Model:
    """The model of groups that all have the same number of partitions. Raises `CannotPlan`.

    `together`: a node has one load and the plan one budget, of all groups; the state of each
    counts alike.
    """
    counts = sorted({g.table.shape.partitions for g in groups})
    if len(counts) != 1:
        raise CannotPlan(f"the groups have different numbers of partitions: {counts}")
    n = counts[0]
    leaving = leaving_partitions(request, n)
    starts = np.cumsum([0, *(len(g.rows) for g in groups)])
    rows = np.concatenate([g.rows for g in groups])
    home = np.concatenate([g.home for g in groups])
    cost = np.concatenate([_cost(request, g) for g in groups])
    bounds = starts[[0, -1]] if together else starts
    count = len(bounds) - 1
    cost /= len(groups) / count
    load = np.zeros(len(rows))
    alone = np.zeros((n, count), bool)
    pins: dict[int, int] = {}
    for index in range(count):
        own = slice(bounds[index], bounds[index + 1])
        best = level(rows[own], np.zeros(int((~leaving).sum())))
        load[own] = rows[own] / max(best.mean, 1e-300)
        budget = request.settings.max_moved
        for site in (best.hot + bounds[index]).tolist():
            loads: FloatArray = np.bincount(home[own], rows[own], n).astype(np.float64)
            node = _node_of_hot(int(home[site]), loads, leaving, alone[:, index])
            if node != home[site] and cost[site] <= budget:
                budget -= cost[site]
            else:
                node = int(home[site])
            alone[node, index] = True
            pins[site] = node
    hot = np.zeros(len(rows), bool)
    hot[list(pins)] = True
    return Model(
        group=np.repeat(np.arange(count), np.diff(bounds)),
        groups=count,
        load=load,
        cost=cost,
        home=home,
        leaving=leaving,
        hot=hot,
        alone=alone & ~leaving[:, None],
        starts=starts,
        pins=pins,
    )


def _node_of_hot(home: int, loads: FloatArray, leaving: BoolArray, alone: BoolArray) -> int:
    """Its home, or where least has to go for it."""
    if not leaving[home] and not alone[home]:
        return home
    return int(np.where(leaving | alone, np.inf, loads).argmin())


def _cost(request: PlanRequest, group: SlotGroup) -> FloatArray:
    """Share of the group's state at each site; of its newest rows where state is not known.

    A slot's state is divided between the slot and its entries like their rows. Where the newest
    rows are none, the decayed ones count, or moves would be for nothing.
    """
    newest = next(
        (
            (g, p)
            for p in reversed(request.periods)
            for g in p.groups
            if g.shape == group.table.shape
        ),
        None,
    )
    assert newest is not None  # the group has rows
    counted, period = newest
    rows = site_rows(group.table, counted, period).rows
    state = counted.slot_state_bytes if len(counted.slot_state_bytes) else counted.slot_state_rows
    cost = rows
    if len(state) and state.any():
        slots = group.table.shape.slots
        slot = np.concatenate([np.arange(slots), group.entry_slots])
        known = slot >= 0
        share = rows + 1e-9
        of_slot = np.bincount(slot[known], share[known], slots)
        cost = share * float(state.sum()) / float(share.sum())
        cost[known] = state[slot[known]] * share[known] / of_slot[slot[known]]
    cost = cost if cost.any() else group.rows
    return cost / float(cost.sum())


def rates(
    request: PlanRequest, groups: Sequence[SlotGroup], starts: Int64Array, score_factor: float
) -> list[Rates]:
    """Rows of each edge between key groups, decayed over the periods.

    Step 1 of ALBIC: a pair is scored where it has more rows than the score factor times what each
    downstream key group, of all edges, would get of its upstream one on average.
    """
    index = {g.table.shape.group: i for i, g in enumerate(groups)}
    cells: dict[tuple[int, int], list[tuple[Int64Array, FloatArray]]] = {}
    weights = decay(request.periods, request.settings.half_life)
    size = int(starts[-1])
    for period, weight in zip(request.periods, weights, strict=True):
        for edge in period.edges:
            up, down = index.get(edge.upstream_group), index.get(edge.downstream_group)
            found = flow(request.current, edge, period)
            if up is None or down is None or found is None:
                continue
            known = (found.upstream >= 0) & (found.downstream >= 0) & (found.rows > 0)
            a = found.upstream[known] + starts[up]
            b = found.downstream[known] + starts[down]
            cells.setdefault((up, down), []).append((a * size + b, weight * found.rows[known]))
    edges = [(up, down, *_summed(found, size)) for (up, down), found in sorted(cells.items())]
    sent: FloatArray = np.zeros(size)
    receivers = np.zeros(size)
    for up, down, a, _, rows in edges:
        sent += np.bincount(a, rows, size)
        receivers[starts[up] : starts[up + 1]] += starts[down + 1] - starts[down]
    average = score_factor * sent / np.maximum(receivers, 1)
    return [Rates(a, b, rows, rows > average[a]) for _, _, a, b, rows in edges]


def _summed(
    found: list[tuple[Int64Array, FloatArray]], size: int
) -> tuple[Int64Array, Int64Array, FloatArray]:
    """Upstream and downstream key groups, each pair once, with its rows."""
    cells, inverse = np.unique(np.concatenate([c for c, _ in found]), return_inverse=True)
    rows = np.bincount(inverse, np.concatenate([r for _, r in found]), len(cells))
    return cells // size, cells % size, rows.astype(np.float64)
