"""An assignment of keys to partitions, its capacities and its worth. Shared by graph planners.

Assignments are int32 (V,) arrays of partitions, -1 where a key has none yet.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from keyroute.core.graph import FloatArray, KeyGraph
from keyroute.core.table import Int32Array

OVERLOAD_COST = 2.0
"""Locality that a row above capacity costs in `Problem.worth`; more than a row can bring."""


@dataclass(frozen=True, slots=True, eq=False)
class Problem:
    """What an assignment is judged by.

    `capacity` (G,) bounds the load of any partition of a group, its even share of the tail
    included; `home` (V,) is where the table in force has a key, -1 where it has none.
    `adjacency` is the symmetric (V, V) matrix of pair weights.
    """

    graph: KeyGraph
    partitions: int
    capacity: FloatArray
    home: Int32Array
    move_cost: float
    adjacency: csr_array

    def loads(self, assignment: Int32Array) -> FloatArray:
        """Load of each group's partitions (G, n), the tail included."""
        graph, n = self.graph, self.partitions
        placed = assignment >= 0
        cell = graph.group[placed].astype(np.int64) * n + assignment[placed]
        loads = np.bincount(cell, graph.load[placed], minlength=len(graph.shapes) * n)
        even: FloatArray = loads.reshape(-1, n) + graph.tail_load[:, None] / n
        return even

    def attraction(self, assignment: Int32Array, members: slice) -> FloatArray:
        """What each member has in each partition (m, n): pair weight, and what a move costs."""
        graph = self.graph
        placed = np.flatnonzero(assignment >= 0)
        onehot = csr_array(
            (np.ones(len(placed)), (placed, assignment[placed])),
            shape=(graph.vertices, self.partitions),
        )
        pull: FloatArray = (self.adjacency[members] @ onehot).toarray()
        home = self.home[members]
        at_home = np.flatnonzero(home >= 0)
        pull[at_home, home[at_home]] += self.move_cost * graph.weight[members][at_home]
        return pull

    def local_weight(self, assignment: Int32Array) -> float:
        """Weight of pairs whose two keys share a partition."""
        graph = self.graph
        same = assignment[graph.edge_from] == assignment[graph.edge_to]
        return float(graph.edge_weight[same].sum())

    def moved_weight(self, assignment: Int32Array) -> float:
        """Weight of keys that leave their partition; unknown ones leave it with chance 1 - 1/n."""
        known = self.home >= 0
        moved = np.where(known, self.home != assignment, 1.0 - 1.0 / self.partitions)
        return float(self.graph.weight @ moved)

    def worth(self, assignment: Int32Array) -> float:
        """The objective: local weight, less what moves and overload cost."""
        over = np.maximum(self.loads(assignment) - self.capacity[:, None], 0.0).sum()
        return (
            self.local_weight(assignment)
            - self.move_cost * self.moved_weight(assignment)
            - OVERLOAD_COST * float(over)
        )


def pose(
    graph: KeyGraph, partitions: int, alpha: float, home: Int32Array, move_cost: float
) -> Problem:
    """The problem of a graph: capacities are alpha times the mean, or the floor.

    The floor is the heaviest key of the group on top of the even tail: no table without key
    splitting can do better.
    """
    mean = graph.group_load / partitions
    heaviest = np.zeros(len(graph.shapes))
    np.maximum.at(heaviest, graph.group, graph.load)
    ends = np.concatenate([graph.edge_from, graph.edge_to])
    others = np.concatenate([graph.edge_to, graph.edge_from])
    weights = np.concatenate([graph.edge_weight, graph.edge_weight])
    return Problem(
        graph=graph,
        partitions=partitions,
        capacity=np.maximum(alpha * mean, heaviest + graph.tail_load / partitions),
        home=home,
        move_cost=move_cost,
        adjacency=csr_array((weights, (ends, others)), shape=(graph.vertices, graph.vertices)),
    )
