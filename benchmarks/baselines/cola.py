"""COLA: from one processing element to as many as can be balanced, each split the cheapest way.

Khandekar et al., *COLA: Optimizing Stream Processing Applications via Graph Partitioning*,
Middleware 2009, as the rival of Madsen et al. 2016, §IV-B. Slots are its operators: all begin in
one element; while the elements cannot be spread over the workers evenly enough, the largest is cut
in two by METIS with the least rows between the halves. It plans from scratch: where slots are now
does not count. A worker's load is that of all its operators.
"""

from __future__ import annotations

import itertools

import numpy as np
import pymetis
from scipy.sparse import csr_array

from keyroute.core.graph import FloatArray
from keyroute.core.plan import Plan, PlanRequest, only_options
from keyroute.core.sites import ANYWHERE, flow
from keyroute.core.table import Int32Array, Int64Array, RoutingTables
from keyroute.planners.answer import answer
from keyroute.planners.scheduling import loads_of, longest_first
from keyroute.planners.slot_groups import SlotGroups, slot_groups

UFACTOR = 30


def plan_cola(request: PlanRequest) -> Plan:
    """All slots anew, by the newest period."""
    only_options(request.settings, "cola")
    newest = request.periods[-1:]
    groups = slot_groups(request, newest, [1.0] * len(newest))
    rows = np.concatenate([g.rows for g in groups.planned])
    workers = groups.planned[0].table.shape.partitions
    between = _between(request, groups, len(rows))
    at = spread(rows, between, workers, request.settings.alpha, request.settings.seed)
    tables, start = list(groups.kept), 0
    for group in groups.planned:
        tables.append(group.moved(at[start : start + len(group.rows)]))
        start += len(group.rows)
    return answer(request, tables, (), f"COLA: all slots anew{groups.note}")


def spread(
    rows: FloatArray, between: csr_array, workers: int, alpha: float, seed: int
) -> Int32Array:
    """Worker of each item: elements are split until the longest-first schedule is within alpha."""
    elements = [np.arange(len(rows))]
    base = np.zeros(workers)
    while True:
        sizes = np.array([rows[e].sum() for e in elements])
        at = longest_first(sizes, base)
        splittable = [i for i, e in enumerate(elements) if len(e) > 1 and sizes[i] > 0]
        if not splittable or loads_of(sizes, base, at).max() <= alpha * rows.sum() / workers:
            break
        largest = max(splittable, key=lambda i: (sizes[i], -i))
        # A single slot above the bound stays so: splitting others then only costs locality.
        if sizes[largest] <= (alpha - 1) * rows.sum() / workers / 2:
            break
        elements.extend(_split(elements.pop(largest), rows, between, seed))
    found = np.zeros(len(rows), np.int32)
    for element, worker in zip(elements, at, strict=True):
        found[element] = worker
    return found


def _split(
    element: Int64Array, rows: FloatArray, between: csr_array, seed: int
) -> tuple[Int64Array, Int64Array]:
    inner = csr_array(between[element][:, element])
    inner.sort_indices()
    _, side = pymetis.part_graph(
        2,
        pymetis.CSRAdjacency(inner.indptr.astype(np.int32), inner.indices.astype(np.int32)),
        vweights=np.rint(rows[element]).astype(np.int32),
        eweights=np.maximum(np.rint(inner.data), 1).astype(np.int32),
        recursive=True,
        options=pymetis.Options(ufactor=UFACTOR, seed=seed),
    )
    first = np.array(side) == 0
    if first.all() or not first.any():
        first = np.arange(len(element)) < len(element) // 2
    return element[first], element[~first]


def _between(request: PlanRequest, groups: SlotGroups, items: int) -> csr_array:
    """Symmetric rows between items, those whose two places are known."""
    sizes = [len(g.rows) for g in groups.planned]
    starts = dict(
        zip(
            (g.table.shape.group for g in groups.planned),
            itertools.accumulate([0, *sizes[:-1]]),
            strict=True,
        )
    )
    tables: RoutingTables = request.current
    total = csr_array((items, items))
    for period in request.periods[-1:]:
        for edge in period.edges:
            ends = edge.upstream_group, edge.downstream_group
            sites = flow(tables, edge, period)
            if sites is None or not all(end in starts for end in ends):
                continue
            known = (sites.upstream != ANYWHERE) & (sites.downstream != ANYWHERE) & (sites.rows > 0)
            a = sites.upstream[known] + starts[ends[0]]
            b = sites.downstream[known] + starts[ends[1]]
            one = csr_array((sites.rows[known], (a, b)), shape=(items, items))
            total = total + one + one.T
    return csr_array(total)
