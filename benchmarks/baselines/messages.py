"""The ways to group messages of Nasir et al. 2015, §V-B, message by message.

Keys are numbers from 0 on, one a message (N,); each function returns the worker of each message.
Loops over messages are compiled where numba is installed, else they are Python's own on lists.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np

from baselines.choices import choice
from keyroute.core.graph import FloatArray
from keyroute.core.table import Int32Array, Int64Array

_CHUNK = 1_000_000
"""Messages that are lists of Python at a time."""


def hashing(keys: Int64Array, workers: int) -> Int32Array:
    """H: key grouping by one hash function."""
    return choice(np.arange(_count(keys)), 0, workers)[keys]


def off_greedy(keys: Int64Array, workers: int) -> Int32Array:
    """Keys by decreasing frequency, each to the least loaded worker; knows the whole stream."""
    rows = np.bincount(keys)
    at, loads = np.zeros(len(rows), np.int32), np.zeros(workers)
    for key in np.argsort(-rows, kind="stable"):
        at[key] = int(loads.argmin())
        loads[at[key]] += rows[key]
    return at[keys]


def on_greedy(keys: Int64Array, workers: int) -> Int32Array:
    """A new key goes to the worker with the fewest messages so far, for good."""
    every = np.tile(np.arange(workers, dtype=np.int32), (_count(keys), 1))
    return _by_first_sight(keys, workers, every)


def static_potc(keys: Int64Array, workers: int) -> Int32Array:
    """A new key goes to that of its two candidates with the fewest messages so far, for good."""
    return _by_first_sight(keys, workers, np.stack(_candidates(keys, workers), axis=1))


def partial_key_grouping(
    keys: Int64Array, workers: int, sources: int = 1, probe: int = 0
) -> Int32Array:
    """PKG: each message goes to the less loaded of its key's two candidates (§III).

    Message i comes from source i mod `sources`, which knows what it sent itself (§III-B, local
    estimation); one source is the global oracle. Every `probe` messages (0: never) all sources
    learn the true loads.
    """
    first, second = (candidate[keys] for candidate in _candidates(keys, workers))
    chosen = np.empty(len(keys), np.int32)
    known = np.zeros((sources, workers), np.int64)
    loads = np.zeros(workers, np.int64)
    step = probe or max(_CHUNK // sources, 1) * sources
    for start in range(0, len(keys), step):
        stop = min(start + step, len(keys))
        if probe:
            known[:] = loads
        for source in range(sources):
            # Sources know nothing of each other: each can go through its messages alone.
            mine = slice(start + (source - start) % sources, stop, sources)
            chosen[mine], known[source] = _run(
                _less_loaded, known[source], first[mine], second[mine]
            )
        if probe:
            loads += np.bincount(chosen[start:stop], minlength=workers)
    return chosen


def imbalance_at(chosen: Int32Array, workers: int, points: int) -> FloatArray:
    """I(t) = max - mean of the workers' messages so far, at that many times, evenly apart (§II)."""
    bounds = np.arange(points + 1) * len(chosen) // points
    parts = [chosen[a:b] for a, b in itertools.pairwise(bounds.tolist())]
    loads = np.cumsum([np.bincount(part, minlength=workers) for part in parts], axis=0)
    found: FloatArray = loads.max(axis=1) - loads.mean(axis=1)
    return found


def _less_loaded(loads: Any, chosen: Any, first: Any, second: Any) -> None:
    for i in range(len(first)):
        one, other = first[i], second[i]
        worker = one if loads[one] <= loads[other] else other
        loads[worker] += 1
        chosen[i] = worker


def _least_loaded(loads: Any, chosen: Any, keys: Any, at: Any, candidates: Any) -> None:
    for i in range(len(keys)):
        key = keys[i]
        worker = at[key]
        if worker < 0:
            worker = candidates[key][0]
            for other in candidates[key]:
                if loads[other] < loads[worker]:
                    worker = other
            at[key] = worker
        loads[worker] += 1
        chosen[i] = worker


def _compiled() -> dict[Callable[..., None], Any]:
    try:
        from numba import njit
    except ImportError:
        return {}
    return {loop: njit(loop) for loop in (_less_loaded, _least_loaded)}


_COMPILED = _compiled()


def _run(
    loop: Callable[..., None], loads: Int64Array, messages: Int32Array | Int64Array, *others: Any
) -> tuple[Int32Array, Int64Array]:
    """The worker of each message, and the loads after them."""
    if loop in _COMPILED:
        chosen, after = np.empty(len(messages), np.int32), loads.copy()
        _COMPILED[loop](after, chosen, messages, *others)
        return chosen, after
    # Python is several times faster on lists than on arrays.
    sent, known = [0] * len(messages), loads.tolist()
    loop(known, sent, messages.tolist(), *(other.tolist() for other in others))
    return np.array(sent, np.int32), np.array(known)


def _by_first_sight(keys: Int64Array, workers: int, candidates: Int32Array) -> Int32Array:
    at = np.full(len(candidates), -1)
    chosen, _ = _run(_least_loaded, np.zeros(workers, np.int64), keys, at, candidates)
    return chosen


def _candidates(keys: Int64Array, workers: int) -> tuple[Int32Array, Int32Array]:
    """The two candidates of each key: by two hash functions, so they may be one."""
    every = np.arange(_count(keys))
    return choice(every, 0, workers), choice(every, 1, workers)


def _count(keys: Int64Array) -> int:
    return int(keys.max()) + 1
