"""Where parts lie, from where partitions were seen to run."""

from __future__ import annotations

from collections.abc import Sequence

from keyroute.core.plan import Topology
from keyroute.core.statistics import PartitionPlacement
from keyroute.core.table import GroupShape


def topology(
    placement: Sequence[PartitionPlacement],
    shapes: Sequence[GroupShape],
    parts: tuple[int, ...],
    executors: int = 0,
) -> Topology:
    """Host of each part, numbered in the order of their names; nothing where it is not clear.

    `parts` are those of the tables in force; without them each partition is a part, unless fewer
    `executors` are wanted: then nobody knows yet which partitions will be together. A part whose
    partitions are on several hosts, as while one is lost, makes the hosts unclear.
    """
    for shape in sorted(shapes, key=lambda s: s.group):
        n = shape.partitions
        seen = {p.partition: p.host for p in placement if p.group == shape.group}
        if len(seen) == n and all(seen.values()):
            if not parts and 0 < executors < n:
                return Topology()
            return Topology(_hosts(seen, parts if len(parts) >= n else tuple(range(n))))
    return Topology()


def _hosts(seen: dict[int, str], parts: tuple[int, ...]) -> tuple[int, ...]:
    of_part: dict[int, set[str]] = {}
    for partition, host in seen.items():
        of_part.setdefault(parts[partition], set()).add(host)
    if any(len(hosts) > 1 for hosts in of_part.values()):
        return ()
    if sorted(of_part) != list(range(len(of_part))):
        return ()
    names = {host: i for i, host in enumerate(sorted(set(seen.values())))}
    return tuple(names[next(iter(of_part[part]))] for part in range(len(of_part)))
