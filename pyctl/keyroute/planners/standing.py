"""An assignment while it is worked on, with what each key has in each part.

Sums of pairs' weights are exact (`KeyGraph`), so that they can be taken from one part and
given to another as keys move, and nothing is lost.
"""

from __future__ import annotations

import numpy as np

from keyroute.core.graph import FloatArray
from keyroute.core.table import Int32Array, Int64Array
from keyroute.planners.assignment import Problem
from keyroute.planners.pulls import pulls

MANY = 0.1
"""Share of moved keys from which on all is summed anew."""


class Pulls:
    """Pulls of an assignment in each part (V, parts), kept up while that changes."""

    def __init__(self, problem: Problem, assignment: Int32Array) -> None:
        self._problem = problem
        self._at = problem.part_of(assignment).copy()
        self._rows = self._sum()

    def follow(self, assignment: Int32Array) -> None:
        """Takes over another assignment."""
        now = self._problem.part_of(assignment)
        moved = np.flatnonzero(self._at != now)
        if len(moved) > MANY * len(now):
            self._at = now.copy()
            self._rows = self._sum()
        elif len(moved):
            self._shift(moved, self._at[moved], -1.0)
            self._shift(moved, now[moved], 1.0)
            self._at[moved] = now[moved]

    def of(self, members: slice) -> FloatArray:
        """Those of some keys in each partition (m, n), with what a move costs on top of where they
        are."""
        return self._problem.with_home(self._rows[members], members)

    @property
    def local_weight(self) -> float:
        """Weight of pairs whose two keys share a part."""
        placed = np.flatnonzero(self._at >= 0)
        return float(self._rows[placed, self._at[placed]].sum()) / 2

    def _sum(self) -> FloatArray:
        posed = self._problem
        members = slice(0, posed.graph.vertices)
        return pulls((posed.below, posed.above), members, self._at, posed.executors)

    def _shift(self, moved: Int64Array, to: Int32Array, sign: float) -> None:
        """Adds the moved keys' pairs to, or takes them from, what their partners have."""
        moved, to = moved[to >= 0], to[to >= 0]
        cells = self._rows.reshape(-1)
        for graph in (self._problem.below, self._problem.above):
            low, count = graph.indptr[moved], np.diff(graph.indptr)[moved]
            # All entries of these rows of the matrix, one after the other.
            at = np.arange(count.sum()) + np.repeat(low - np.cumsum(count) + count, count)
            cell = graph.indices[at].astype(np.int64) * self._rows.shape[1] + np.repeat(to, count)
            np.add.at(cells, cell, sign * graph.data[at])
