"""Where parts lie, from where partitions were seen to run."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from keyroute.core.plan import Topology
from keyroute.core.statistics import PartitionPlacement
from keyroute.core.table import GroupShape


def topology(
    placement: Sequence[PartitionPlacement],
    shapes: Sequence[GroupShape],
    parts: tuple[int, ...],
    executors: int = 0,
) -> Topology:
    """Host and zone of each part, numbered in the order of their names; nothing where not clear.

    `parts` are those of the tables in force; without them each partition is a part, unless fewer
    `executors` are wanted: then nobody knows yet which partitions will be together. A part whose
    partitions are on several hosts, as while one is lost, makes the hosts unclear. Zones are told
    where hosts are and each host is in one.
    """
    for shape in sorted(shapes, key=lambda s: s.group):
        n = shape.partitions
        seen = {p.partition: p for p in placement if p.group == shape.group}
        if len(seen) == n and all(p.host for p in seen.values()):
            if not parts and 0 < executors < n:
                return Topology()
            hosts = _hosts(seen, parts if len(parts) >= n else tuple(range(n)))
            zones = _zones(seen.values())
            return Topology(_numbers(hosts), _numbers([zones[h] for h in hosts] if zones else ()))
    return Topology()


def _hosts(seen: dict[int, PartitionPlacement], parts: tuple[int, ...]) -> Sequence[str]:
    """Of each part, where it is clear for all."""
    of_part: dict[int, set[str]] = {}
    for partition, place in seen.items():
        of_part.setdefault(parts[partition], set()).add(place.host)
    if any(len(hosts) > 1 for hosts in of_part.values()):
        return ()
    if sorted(of_part) != list(range(len(of_part))):
        return ()
    return [next(iter(of_part[part])) for part in range(len(of_part))]


def _zones(seen: Iterable[PartitionPlacement]) -> dict[str, str]:
    """Of each host, where it is clear for all."""
    pairs = {(place.host, place.zone) for place in seen}
    zones = dict(pairs)
    return zones if len(zones) == len(pairs) and all(zones.values()) else {}


def _numbers(names: Sequence[str]) -> tuple[int, ...]:
    number = {name: i for i, name in enumerate(sorted(set(names)))}
    return tuple(number[name] for name in names)
