"""Shapes and tables that the tests publish."""

from __future__ import annotations

import numpy as np

from keyroute.core.table import GroupShape, GroupTable, RoutingTables, default_slots

QUERY = "6f0c7f8e-0000-4000-8000-00000000000a"


def shape(group: int = 0, partitions: int = 3) -> GroupShape:
    """A group with one string key."""
    return GroupShape(
        group=group,
        operators=(group,),
        partitions=partitions,
        slots=default_slots(partitions),
        routing_ordinals=(0,),
        key_names=("tailnum",),
        key_types=("string",),
    )


def tables(version: int, entries: int = 4, seed: int = 0) -> RoutingTables:
    """A version with `entries` random explicit entries."""
    rng = np.random.default_rng(seed)
    limits = np.iinfo(np.int64)
    fingerprints = np.unique(rng.integers(limits.min, limits.max, entries, dtype=np.int64))
    targets = rng.integers(0, 3, len(fingerprints)).astype(np.int32)
    return RoutingTables(version, QUERY, (GroupTable(shape(), fingerprints, targets),))
