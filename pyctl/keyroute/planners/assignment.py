"""An assignment of keys to partitions, its capacities and its worth. Shared by graph planners.

Assignments are int32 (V,) arrays of partitions, -1 where a key has none yet. Each partition is held
to its capacity; a pair is local where its keys' partitions are of one part, which is an executor.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from keyroute.core.graph import FloatArray, KeyGraph
from keyroute.core.table import Int32Array
from keyroute.planners.pulls import local_weight, pulls

OVERLOAD_COST = 2.0
"""Locality that a row above capacity costs in `Problem.worth`; more than a row can bring."""

NEWEST_ROOM = 1.2
"""How much more a partition may hold of the newest period's rows than of the decayed ones."""


@dataclass(frozen=True, slots=True, eq=False)
class Problem:
    """What an assignment is judged by.

    Each key has K = 2 loads (V, K): the decayed one, which foretells the next period best, and that
    of the newest period, so that what is planned is balanced on the rows that are there. `capacity`
    (G, K) bounds the loads of any partition of a group, its even share of the `tail` (G, K)
    included; `home` (V,) is where the table in force has a key, -1 where it has none. `parts` (n,)
    is each partition's part.
    Pair weights are in `above` (V, V), from the lower vertex to the higher, and `below`, the other
    way.
    """

    graph: KeyGraph
    parts: Int32Array
    load: FloatArray
    tail: FloatArray
    capacity: FloatArray
    home: Int32Array
    move_cost: float
    above: csr_array
    below: csr_array

    @property
    def partitions(self) -> int:
        """n of each group."""
        return len(self.parts)

    @property
    def executors(self) -> int:
        """How many parts there are."""
        return int(self.parts.max()) + 1

    @property
    def alone(self) -> bool:
        """Whether each partition is a part, by its own number: then both are the same."""
        return np.array_equal(self.parts, np.arange(len(self.parts)))

    @property
    def adjacency(self) -> csr_array:
        """The symmetric matrix of pair weights; made anew each time."""
        both: csr_array = self.below + self.above
        return both

    @property
    def all_load(self) -> FloatArray:
        """All of each group's first load, the tail included (G,)."""
        graph = self.graph
        sums = np.bincount(graph.group, self.load[:, 0], minlength=len(graph.shapes))
        total: FloatArray = sums + self.tail[:, 0]
        return total

    def loads(self, assignment: Int32Array) -> FloatArray:
        """Loads of each group's partitions (G, n, K), the tail included."""
        return np.stack([self.loads_of(i, assignment) for i in range(len(self.graph.shapes))])

    def loads_of(self, index: int, assignment: Int32Array) -> FloatArray:
        """Loads of one group's partitions (n, K), the tail included."""
        members, n = self.graph.members(index), self.partitions
        # From 1 on: at 0 is what has no partition.
        at = assignment[members] + 1
        each = [np.bincount(at, of, minlength=n + 1)[1:] for of in self.load[members].T]
        even: FloatArray = np.stack(each, axis=1) + self.tail[index] / n
        return even

    def part_of(self, assignment: Int32Array) -> Int32Array:
        """Part of each key (V,), -1 where it has no partition; perhaps the very array."""
        return assignment if self.alone else parts_of_keys(self.parts, assignment)

    def attraction(self, assignment: Int32Array, members: slice) -> FloatArray:
        """What each member has in each partition (m, n): pair weight, and what a move costs."""
        at = self.part_of(assignment)
        rows = pulls((self.below, self.above), members, at, self.executors)
        return self.with_home(rows, members)

    def with_home(self, of_parts: FloatArray, members: slice) -> FloatArray:
        """The pair weight of some members in each partition (m, n), which is that in its part, with
        what a move costs added where they are."""
        pull: FloatArray = of_parts.copy() if self.alone else of_parts[:, self.parts]
        home = self.home[members]
        at_home = np.flatnonzero(home >= 0)
        pull[at_home, home[at_home]] += self.move_cost * self.graph.weight[members][at_home]
        return pull

    def local_weight(self, assignment: Int32Array) -> float:
        """Weight of pairs whose two keys share a part."""
        return self.together(self.part_of(assignment))

    def together(self, parts: Int32Array) -> float:
        """The same for the keys' parts (V,)."""
        return local_weight(self.above.indptr, self.above.indices, self.above.data, parts)

    def moved_weight(self, assignment: Int32Array) -> float:
        """Weight of keys that leave their partition; unknown ones leave it with chance 1 - 1/n."""
        known = self.home >= 0
        moved = np.where(known, self.home != assignment, 1.0 - 1.0 / self.partitions)
        # Not `@`: that would be work for all processors, which costs more than it saves.
        return float((self.graph.weight * moved).sum())

    def worth(self, assignment: Int32Array, known_local: float | None = None) -> float:
        """The objective: local weight, which may be known, less what moves and overload cost."""
        local = self.local_weight(assignment) if known_local is None else known_local
        over = np.maximum(self.loads(assignment) - self.capacity[:, None], 0.0).sum(axis=1)
        shares = over / np.maximum(self.capacity * self.partitions, 1e-300)
        return (
            local
            - self.move_cost * self.moved_weight(assignment)
            - OVERLOAD_COST * float(shares.sum()) * float(self.graph.edge_weight.sum())
        )


def parts_of_keys(parts: Int32Array, assignment: Int32Array) -> Int32Array:
    """Part of each key (V,) by the parts of partitions (n,), -1 where it has no partition."""
    return np.append(parts, np.int32(-1))[assignment]


def pose(
    graph: KeyGraph, parts: Int32Array, alpha: float, home: Int32Array, move_cost: float
) -> Problem:
    """The problem of a graph: capacities are alpha times the mean, or the floor.

    The floor is the heaviest key of the group on top of the even tail: no table without key
    splitting can do better. The newest period alone has more room: to balance its bursts, pairs
    would be torn apart that are together again in the next.
    """
    load = np.stack([graph.load, graph.newest_load], axis=1)
    tail = np.stack([graph.tail_load, graph.newest_tail_load], axis=1)
    total, heaviest = tail.copy(), np.zeros_like(tail)
    for index in range(len(graph.shapes)):
        of = load[graph.members(index)]
        total[index] += of.sum(axis=0)
        heaviest[index] = of.max(axis=0, initial=0.0)
    # The pairs are sorted: nothing is to be sorted here.
    vertices = np.arange(graph.vertices + 1, dtype=np.int32)
    starts = np.searchsorted(graph.edge_from, vertices).astype(np.int32)
    above = csr_array(
        (graph.edge_weight, graph.edge_to, starts), shape=(graph.vertices, graph.vertices)
    )
    partitions = len(parts)
    most = alpha * total / partitions * [1.0, NEWEST_ROOM]
    return Problem(
        graph=graph,
        parts=parts,
        load=load,
        tail=tail,
        capacity=np.maximum(most, heaviest + tail / partitions),
        home=home,
        move_cost=move_cost,
        above=above,
        below=above.T.tocsr(),
    )
