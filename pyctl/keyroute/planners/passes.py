"""The loops of `refine`, over plain arrays: compiled where that is possible.

`at` (m,) is each key's partition, `load` (m, K) what it weighs in each of K loads, `pull` (m, n)
what it has in each partition, `loads` (n, K) the partitions' loads and `capacity` (K,) their bound.
`at` and `loads` are written.
"""

from __future__ import annotations

import numpy as np

from keyroute.core.compiled import COMPILES, compiled
from keyroute.core.graph import FloatArray
from keyroute.core.table import Int32Array, Int64Array


@compiled
def fits(loads: FloatArray, to: int, more: FloatArray, capacity: FloatArray) -> bool:
    """Whether a partition can take so much more."""
    room = True
    for k in range(len(capacity)):
        room = room and loads[to, k] + more[k] <= capacity[k]
    return room


@compiled
def move(key: int, to: int, at: Int32Array, load: FloatArray, loads: FloatArray) -> None:
    """A key that has a partition goes to another."""
    loads[at[key]] -= load[key]
    loads[to] += load[key]
    at[key] = to


@compiled
def place(
    order: Int64Array,
    at: Int32Array,
    load: FloatArray,
    pull: FloatArray,
    loads: FloatArray,
    capacity: FloatArray,
) -> None:
    """Keys without a partition: to their pairs where there is room, or to the lightest."""
    for key in order:
        best, most = -1, -1.0
        lightest = 0
        for p in range(loads.shape[0]):
            if loads[p, 0] < loads[lightest, 0]:
                lightest = p
            if fits(loads, p, load[key], capacity) and (
                pull[key, p] > most or (pull[key, p] == most and loads[p, 0] < loads[best, 0])
            ):
                best, most = p, pull[key, p]
        if best < 0:
            best = lightest
        at[key] = best
        loads[best] += load[key]


@compiled
def settle(
    order: Int64Array,
    part: Int32Array,
    parts: Int32Array,
    home: Int32Array,
    at: Int32Array,
    load: FloatArray,
    loads: FloatArray,
    capacity: FloatArray,
) -> None:
    """Keys take a partition of their part (m,): their home if there is room, or the lightest.

    `parts` (n,) is each partition's part, `home` (m,) where keys are, -1 where nowhere.
    """
    for key in order:
        to = home[key]
        if to < 0 or parts[to] != part[key] or not fits(loads, to, load[key], capacity):
            to = -1
            for p in range(len(parts)):
                if parts[p] == part[key] and (to < 0 or loads[p, 0] < loads[to, 0]):
                    to = p
        at[key] = to
        loads[to] += load[key]


@compiled
def relieve(
    order: Int64Array,
    at: Int32Array,
    load: FloatArray,
    pull: FloatArray,
    loads: FloatArray,
    capacity: FloatArray,
) -> None:
    """Keys leave overloaded partitions in that order, each to where it loses least."""
    for key in order:
        here = at[key]
        over = False
        for k in range(len(capacity)):
            if loads[here, k] > capacity[k] and load[key, k] > 0:
                over = True
        if not over:
            continue
        best = -1
        for p in range(loads.shape[0]):
            if (
                p != here
                and fits(loads, p, load[key], capacity)
                and (best < 0 or pull[key, p] > pull[key, best])
            ):
                best = p
        if best >= 0:
            move(key, best, at, load, loads)


@compiled
def improve(
    order: Int64Array,
    at: Int32Array,
    load: FloatArray,
    pull: FloatArray,
    loads: FloatArray,
    capacity: FloatArray,
) -> None:
    """Keys move to where they gain most and there is room."""
    for key in order:
        here = at[key]
        best = here
        for p in range(loads.shape[0]):
            if pull[key, p] > pull[key, best] and fits(loads, p, load[key], capacity):
                best = p
        if best != here:
            move(key, best, at, load, loads)


def keys_in_a_loop(partition: int, at: Int32Array) -> Int64Array:
    """Keys that have that partition, ascending."""
    keys = np.empty(len(at), np.int64)
    count = 0
    for key in range(len(at)):
        # Written in any case, and kept where it counts: without a jump, which is hard to guess.
        keys[count] = key
        count += at[key] == partition
    return keys[:count]


def keys_at_once(partition: int, at: Int32Array) -> Int64Array:
    """The same, without a compiler."""
    return np.flatnonzero(at == partition)


keys_of = compiled(keys_in_a_loop) if COMPILES else keys_at_once


@compiled
def exchange(
    order: Int64Array,
    at: Int32Array,
    load: FloatArray,
    pull: FloatArray,
    loads: FloatArray,
    capacity: FloatArray,
) -> None:
    """Keys that gain but find no room trade places with cheaper ones."""
    for key in order:
        here = at[key]
        there = int(np.argmax(pull[key]))
        gain = pull[key, there] - pull[key, here]
        if gain <= 0:
            continue
        others = keys_of(there, at)
        loss = pull[others, there] - pull[others, here]
        cheaper = (loss < gain) & (load[others, 0] > 0)
        others, loss = others[cheaper], loss[cheaper]
        # Of negative losses, the largest load first: it is a gain, and makes the most room.
        others = others[np.argsort(loss / load[others, 0], kind="mergesort")]
        room = loads[there] + load[key]
        back = loads[here] - load[key]
        cost, taken = 0.0, 0
        for other in others:
            if np.all(room <= capacity):
                break
            cost += pull[other, there] - pull[other, here]
            room = room - load[other]
            back = back + load[other]
            taken += 1
        if cost >= gain or np.any(room > capacity) or np.any(back > capacity):
            continue
        for other in others[:taken]:
            at[other] = here
        at[key] = there
        loads[there] = room
        loads[here] = back
