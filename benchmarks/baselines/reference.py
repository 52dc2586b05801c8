"""Plain METIS, the reference of the benchmarks: no planner imports it.

Caneill et al. 2016, §3.3 as it stands: the key graph of the last period only, METIS k-way with an
imbalance of 1.03 on the sum of both operators' load, the best cut of three seeds. Keys that the
period does not have stay with Spark's hash, and partitions keep the names that METIS gave them.
"""

from __future__ import annotations

import numpy as np
import pymetis

from keyroute.core import score
from keyroute.core.graph import KeyGraph, build
from keyroute.core.plan import Plan, PlanRequest
from keyroute.core.table import GroupTable, RoutingTables

SEEDS = 3
UFACTOR = 30


def plan_reference(request: PlanRequest) -> Plan:
    """Entries for the keys of the last period."""
    newest = request.periods[-1:]
    graph = build(request.shapes, newest, half_life=1.0, load_half_life=1.0)
    assignment = _cut(graph, request.shapes[0].partitions, request.settings.seed)
    groups = tuple(
        GroupTable(shape, graph.fingerprint[members], assignment[members])
        for shape, members in ((s, graph.members(i)) for i, s in enumerate(graph.shapes))
    )
    tables = RoutingTables(0, request.query_id, groups)
    return Plan(
        groups=groups,
        parts=(),
        predicted_locality=score.locality(tables, newest),
        predicted_imbalance=score.expected_imbalance(tables, newest),
        moved_weight=0.0,
        moved_keys=0,
        why=f"METIS on the last period, the best of {SEEDS} seeds",
    )


def _cut(graph: KeyGraph, partitions: int, seed: int) -> np.ndarray:
    adjacency = pymetis.CSRAdjacency(*_csr(graph))
    weights = np.concatenate([graph.edge_weight, graph.edge_weight]).astype(np.int32)
    weights = weights[_order(graph)]
    cuts = [
        pymetis.part_graph(
            partitions,
            adjacency,
            vweights=graph.load.astype(np.int32),
            eweights=weights,
            recursive=False,
            options=pymetis.Options(ufactor=UFACTOR, seed=SEEDS * seed + i),
        )
        for i in range(SEEDS)
    ]
    return np.array(min(cuts, key=lambda c: c[0])[1], dtype=np.int32)


def _order(graph: KeyGraph) -> np.ndarray:
    return np.argsort(np.concatenate([graph.edge_from, graph.edge_to]), kind="stable")


def _csr(graph: KeyGraph) -> tuple[np.ndarray, np.ndarray]:
    ends = np.concatenate([graph.edge_from, graph.edge_to])
    others = np.concatenate([graph.edge_to, graph.edge_from])
    starts = np.concatenate([[0], np.cumsum(np.bincount(ends, minlength=graph.vertices))])
    return starts.astype(np.int32), others[_order(graph)].astype(np.int32)
