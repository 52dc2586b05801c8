"""Random tables for a running query: any table with targets below n is a correct one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from keyroute.core.hashes import spark_hash
from keyroute.core.table import GroupShape, GroupTable, RoutingTables

_EXPLICIT_SHARE = 0.6
_MOVED_SLOT_SHARE = 0.3


def random_tables(
    version: int,
    query_id: str,
    shapes: Sequence[GroupShape],
    inputs: Sequence[Sequence[dict[str, Any]]],
    seed: int,
) -> RoutingTables:
    """Most keys of the input go to random partitions; slots that may move do so as well."""
    rng = np.random.default_rng(seed)
    groups = tuple(_random_group(shape, inputs, rng) for shape in shapes)
    return RoutingTables(version, query_id, groups)


def _random_group(
    shape: GroupShape, inputs: Sequence[Sequence[dict[str, Any]]], rng: np.random.Generator
) -> GroupTable:
    names = [shape.key_names[o] for o in shape.routing_ordinals]
    types = [shape.key_types[o] for o in shape.routing_ordinals]
    found = {tuple(row[name] for name in names) for batch in inputs for row in batch}
    keys = sorted(found, key=repr)
    prints = np.array([spark_hash(list(key), types)[1] for key in keys], dtype=np.int64)
    prints = np.unique(prints[rng.random(len(prints)) < _EXPLICIT_SHARE])
    targets = rng.integers(0, shape.partitions, len(prints)).astype(np.int32)
    owners = None
    if shape.stable_slots:
        owners = (np.arange(shape.slots) % shape.partitions).astype(np.int32)
        moved = rng.random(shape.slots) < _MOVED_SLOT_SHARE
        owners[moved] = rng.integers(0, shape.partitions, int(moved.sum()))
    return GroupTable(shape, prints, targets, owners)
