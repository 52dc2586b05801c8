"""The heaviest keys of a group, for people: their names, how heavy they are, where they go."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from keyroute.core.sites import ANYWHERE, key_slots, partitions_of, sites_of
from keyroute.core.statistics import Period
from keyroute.core.table import GroupShape, RoutingTables


@dataclass(frozen=True, slots=True)
class HeavyKey:
    """A key and its rows in so many periods: at least those, or an estimate where tasks sample.

    `label` is empty where the statistics have none, `partition` None where its slot is not known.
    """

    group: int
    label: str
    fingerprint: int
    rows: int
    share: float
    partition: int | None


def heavy_keys(
    shape: GroupShape, periods: Sequence[Period], tables: RoutingTables, most: int
) -> list[HeavyKey]:
    """The heaviest keys over some periods, the heaviest first, with their partitions."""
    counted = [g for period in periods for g in period.groups if g.shape.group == shape.group]
    total = sum(group.rows for group in counted)
    prints = np.concatenate([np.empty(0, np.int64), *(g.keys.fingerprints for g in counted)])
    least = [g.keys.counts - g.keys.errors for g in counted]
    keys, at = np.unique(prints, return_inverse=True)
    rows = np.bincount(at, np.concatenate([np.empty(0, np.int64), *least]), minlength=len(keys))
    first = np.lexsort((keys, -rows))[:most]
    names = labels(shape.group, periods)
    table = tables.group(shape)
    sites = sites_of(table, key_slots(shape.group, periods), keys[first])
    partitions = partitions_of(table)
    return [
        HeavyKey(
            group=shape.group,
            label=names.get(key, ""),
            fingerprint=key,
            rows=int(of),
            share=float(of / total) if total else 0.0,
            partition=None if site == ANYWHERE else int(partitions[site]),
        )
        for key, of, site in zip(
            keys[first].tolist(), rows[first].tolist(), sites.tolist(), strict=True
        )
    ]


def labels(group: int, periods: Sequence[Period]) -> dict[int, str]:
    """Values of a group's keys by their fingerprints, as far as the statistics have them."""
    return {
        fingerprint: label
        for period in periods
        for counted in period.groups
        if counted.shape.group == group
        for fingerprint, label in zip(
            counted.keys.fingerprints.tolist(), counted.keys.labels, strict=False
        )
        if label
    }
