"""Parts: which partitions shall share an executor, where there are more partitions than executors.

Where a planner assigns keys to partitions one by one, parts then take together the partitions
between which most pairs are left; `metis` fills parts that it knows before (`parts_to_fill`). All
parts have the same number of partitions, or one less. Where hosts and zones of
parts are known, parts that have most pairs between them get names of one host, and of one zone.
"""

from __future__ import annotations

import numpy as np

from keyroute.core.graph import FloatArray
from keyroute.core.plan import PlanRequest, Topology
from keyroute.core.table import Int32Array

MIN_GAIN = 0.01
"""Share of all pairs' weight that new parts must bring, since whole partitions move with them."""


def arrange(
    between: FloatArray, total: float, executors: int, current: tuple[int, ...]
) -> tuple[int, ...]:
    """Part of each partition (n,); empty where each partition is a part of its own.

    `between` (n, n) is the symmetric weight between partitions, `total` that of all pairs.
    """
    n = len(between)
    if executors <= 0 or executors >= n:
        return ()
    keep = _usable(current, n, executors)
    start = np.array(current, dtype=np.int32) if keep else _in_turn(n, executors)
    better = _swap(between, start)
    gain = _inside(between, better) - _inside(between, start)
    return tuple((start if keep and gain < MIN_GAIN * total else better).tolist())


def parts_to_fill(request: PlanRequest, partitions: int) -> Int32Array:
    """Part of each partition (n,) to plan for: that in force, else in turn; each one its own where
    no fewer executors are meant."""
    if not 0 < request.executors < partitions:
        return np.arange(partitions, dtype=np.int32)
    if _usable(request.current.parts, partitions, request.executors):
        return np.array(request.current.parts, dtype=np.int32)
    return _in_turn(partitions, request.executors)


def on_hosts(
    between: FloatArray, total: float, parts: tuple[int, ...], topology: Topology
) -> tuple[int, ...]:
    """The same parts with their names changed, so that near parts are those with most pairs left.

    Weights and empty parts are as in `arrange`. Names are changed for `MIN_GAIN` only.
    """
    n = len(between)
    of = np.array(parts or range(n), dtype=np.int32)
    count = int(of.max(initial=0)) + 1
    near = _nearness(topology, count)
    if near is None:
        return parts
    member = np.zeros((count, n))
    member[of, np.arange(n)] = 1.0
    weight = member @ between @ member.T
    np.fill_diagonal(weight, 0.0)
    names = _rename(weight, near)
    gain = (weight * (near[np.ix_(names, names)] - near)).sum() / 2
    return tuple(names[of].tolist()) if gain >= max(MIN_GAIN * total, 1e-9) else parts


def _nearness(topology: Topology, count: int) -> FloatArray | None:
    """1 where two parts share a host, half where only a zone; None where that tells nothing."""
    near = np.zeros((count, count))
    for level, worth in ((topology.zones, 0.5), (topology.hosts, 1.0)):
        if len(level) >= count:
            names = np.array(level[:count])
            near = np.where(names[:, None] == names[None, :], worth, near)
    return near if near[~np.eye(count, dtype=bool)].any() and not near.all() else None


def _rename(weight: FloatArray, near: FloatArray) -> Int32Array:
    """A name for each part: two swap theirs, the best swap first, while one gains."""
    count = len(weight)
    names = np.arange(count, dtype=np.int32)
    for _ in range(count**2):
        at = near[np.ix_(names, names)]
        # Row a of pull: what a would have with the name of each other part.
        pull = weight @ at
        own = np.diag(pull)
        gain = pull + pull.T - own[:, None] - own[None, :] - weight * (2 * near.max() - 2 * at)
        np.fill_diagonal(gain, -np.inf)
        a, b = np.unravel_index(int(np.argmax(gain)), gain.shape)
        if not gain[a, b] > 1e-9:
            break
        names[[a, b]] = names[[b, a]]
    return names


def _usable(current: tuple[int, ...], partitions: int, executors: int) -> bool:
    if len(current) != partitions or max(current) >= executors:
        return False
    sizes = np.bincount(current, minlength=executors)
    return bool(sizes.max() - sizes.min() <= 1)


def _in_turn(partitions: int, executors: int) -> Int32Array:
    return np.arange(partitions, dtype=np.int32) % np.int32(executors)


def _inside(between: FloatArray, parts: Int32Array) -> float:
    return float(between[parts[:, None] == parts[None, :]].sum()) / 2


def _swap(between: FloatArray, start: Int32Array) -> Int32Array:
    """Swaps two partitions of different parts, the best swap first, while one gains."""
    parts = start.copy()
    rows = np.arange(len(parts))
    for _ in range(len(parts) ** 2):
        pull = np.stack([between[:, parts == p].sum(axis=1) for p in range(parts.max() + 1)], 1)
        own = pull[rows, parts]
        gain = pull[:, parts] + pull[:, parts].T - own[:, None] - own[None, :] - 2 * between
        gain[parts[:, None] == parts[None, :]] = -np.inf
        a, b = np.unravel_index(int(np.argmax(gain)), gain.shape)
        if not gain[a, b] > 1e-9:
            break
        parts[a], parts[b] = parts[b], parts[a]
    return parts
