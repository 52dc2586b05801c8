"""The ways to group messages of Nasir et al. 2015, §V-B, message by message.

Keys are numbers from 0 on, one a message (N,); each function returns the worker of each message.
"""

from __future__ import annotations

import numpy as np

from baselines.choices import choice
from keyroute.core.graph import FloatArray
from keyroute.core.table import Int32Array, Int64Array

_CHUNK = 1_000_000
"""Messages that are lists of Python at a time: a loop over lists is several times faster."""


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
    return _by_first_sight(keys, workers, [tuple(range(workers))] * _count(keys))


def static_potc(keys: Int64Array, workers: int) -> Int32Array:
    """A new key goes to that of its two candidates with the fewest messages so far, for good."""
    return _by_first_sight(keys, workers, list(zip(*_candidates(keys, workers), strict=True)))


def partial_key_grouping(
    keys: Int64Array, workers: int, sources: int = 1, probe: int = 0
) -> Int32Array:
    """PKG: each message goes to the less loaded of its key's two candidates (§III).

    Message i comes from source i mod `sources`, which knows what it sent itself (§III-B, local
    estimation); one source is the global oracle. Every `probe` messages (0: never) all sources
    learn the true loads.
    """
    candidates = [np.array(c, np.int32) for c in _candidates(keys, workers)]
    first, second = (c[keys] for c in candidates)
    chosen = np.empty(len(keys), np.int32)
    estimates = [[0] * workers for _ in range(sources)]
    loads = np.zeros(workers, np.int64)
    step = probe or max(_CHUNK // sources, 1) * sources
    for start in range(0, len(keys), step):
        stop = min(start + step, len(keys))
        if probe and start:
            estimates = [loads.tolist() for _ in range(sources)]
        for source, known in enumerate(estimates):
            # Sources know nothing of each other: each can go through its messages alone.
            mine = slice(start + (source - start) % sources, stop, sources)
            chosen[mine] = _less_loaded(first[mine].tolist(), second[mine].tolist(), known)
        if probe:
            loads += np.bincount(chosen[start:stop], minlength=workers)
    return chosen


def imbalance_at(chosen: Int32Array, workers: int, points: int) -> FloatArray:
    """I(t) = max - mean of the workers' messages so far, at that many times, evenly apart (§II)."""
    bucket = np.arange(len(chosen)) * points // len(chosen)
    cells = np.bincount(bucket * workers + chosen, minlength=points * workers)
    loads = cells.reshape(points, workers).cumsum(axis=0)
    found: FloatArray = loads.max(axis=1) - loads.mean(axis=1)
    return found


def _less_loaded(first: list[int], second: list[int], loads: list[int]) -> list[int]:
    chosen = []
    for one, other in zip(first, second, strict=True):
        worker = one if loads[one] <= loads[other] else other
        loads[worker] += 1
        chosen.append(worker)
    return chosen


def _by_first_sight(
    keys: Int64Array, workers: int, candidates: list[tuple[int, ...]]
) -> Int32Array:
    at, loads = [-1] * len(candidates), [0] * workers
    for start in range(0, len(keys), _CHUNK):
        for key in keys[start : start + _CHUNK].tolist():
            worker = at[key]
            if worker < 0:
                worker = at[key] = min(candidates[key], key=loads.__getitem__)
            loads[worker] += 1
    return np.array(at, np.int32)[keys]


def _candidates(keys: Int64Array, workers: int) -> tuple[list[int], list[int]]:
    """The two candidates of each key: by two hash functions, so they may be one."""
    every = np.arange(_count(keys))
    return choice(every, 0, workers).tolist(), choice(every, 1, workers).tolist()


def _count(keys: Int64Array) -> int:
    return int(keys.max()) + 1
