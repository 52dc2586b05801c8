"""Routing tables: one version of a query's tables, and how a table routes a key (design §2).

    route(key) = explicit[fingerprint(key)]            if present
               = slot_owner[pmod(spark_hash(key), S)]  otherwise

A table that exists is valid: constructors raise `InvalidTable`. Bytes are `table_codec`'s.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from keyroute.core.distinct import looked_up

Int64Array: TypeAlias = NDArray[np.int64]
Int32Array: TypeAlias = NDArray[np.int32]

HASH_MURMUR3_XXH64 = 1
"""`HashId.HASH_ID_MURMUR3_XXH64` of the contract: the only hash there is."""

MIN_SLOTS = 1024


class InvalidTable(ValueError):
    """A table or its bytes break a rule of the contract; the message says which and where."""


def default_slots(partitions: int) -> int:
    """S for n partitions: the least multiple of n that is at least max(1024, 8n)."""
    if partitions < 1:
        raise InvalidTable(f"a group needs at least 1 partition, not {partitions}")
    least = max(MIN_SLOTS, 8 * partitions)
    return -(-least // partitions) * partitions


@dataclass(frozen=True, slots=True)
class GroupShape:
    """What is fixed about a routing group when its query is first seen.

    `partitions` is n, `slots` is S (a multiple of n), `routing_ordinals` are the positions of the
    routing columns in the exchange key. `stable_slots` is False where the exchange key holds a
    window or an event-time column: then slots must not be moved.
    """

    group: int
    operators: tuple[int, ...]
    partitions: int
    slots: int
    routing_ordinals: tuple[int, ...]
    key_names: tuple[str, ...]
    key_types: tuple[str, ...]
    hash: int = HASH_MURMUR3_XXH64
    stable_slots: bool = True

    def __post_init__(self) -> None:
        where = f"group {self.group}"
        if self.partitions < 1:
            raise InvalidTable(f"{where}: needs at least 1 partition, not {self.partitions}")
        if self.slots < 1 or self.slots % self.partitions:
            raise InvalidTable(
                f"{where}: {self.slots} slots are not a multiple of {self.partitions} partitions"
            )
        if len(self.key_names) != len(self.key_types):
            raise InvalidTable(
                f"{where}: {len(self.key_names)} key names for {len(self.key_types)} key types"
            )
        _require_ascending(where, "operators", self.operators)
        _require_ascending(where, "routing ordinals", self.routing_ordinals)
        if self.routing_ordinals and (
            self.routing_ordinals[0] < 0 or self.routing_ordinals[-1] >= len(self.key_types)
        ):
            raise InvalidTable(
                f"{where}: routing ordinals {list(self.routing_ordinals)} do not fit a key of "
                f"{len(self.key_types)} columns"
            )
        if self.hash != HASH_MURMUR3_XXH64:
            raise InvalidTable(f"{where}: hash id {self.hash} is not known to this version")


@dataclass(frozen=True, slots=True, eq=False)
class GroupTable:
    """The table of one group.

    `fingerprints` int64 (k,), strictly ascending; `targets` int32 (k,), each below n;
    `slot_owners` int32 (S,), each below n, or None where slot s belongs to partition s mod n.
    """

    shape: GroupShape
    fingerprints: Int64Array
    targets: Int32Array
    slot_owners: Int32Array | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "fingerprints", _frozen64(self.fingerprints))
        object.__setattr__(self, "targets", _frozen32(self.targets))
        if self.slot_owners is not None:
            object.__setattr__(self, "slot_owners", _frozen32(self.slot_owners))
        _check_entries(self)
        _check_slots(self)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, GroupTable):
            return NotImplemented
        return (
            self.shape == other.shape
            and np.array_equal(self.fingerprints, other.fingerprints)
            and np.array_equal(self.targets, other.targets)
            and np.array_equal(self.owners(), other.owners())
        )

    def __hash__(self) -> int:
        return hash((self.shape, self.fingerprints.tobytes(), self.targets.tobytes()))

    @property
    def entries(self) -> int:
        """Number of explicit entries."""
        return len(self.fingerprints)

    def owners(self) -> Int32Array:
        """Owner of each slot, (S,)."""
        if self.slot_owners is not None:
            return self.slot_owners
        return np.arange(self.shape.slots, dtype=np.int32) % np.int32(self.shape.partitions)

    def explicit(self, fingerprints: Int64Array) -> Int32Array:
        """Explicit target of each fingerprint, -1 where there is none."""
        return looked_up(self.fingerprints, self.targets, fingerprints, -1)

    def route(self, hashes: Int32Array, fingerprints: Int64Array) -> Int32Array:
        """Partition of each key, from its Spark Murmur3 hash and its XXH64 fingerprint."""
        by_slot = self.owners()[np.mod(hashes.astype(np.int64), self.shape.slots)]
        explicit = self.explicit(fingerprints)
        return np.where(explicit >= 0, explicit, by_slot).astype(np.int32)


@dataclass(frozen=True, slots=True)
class RoutingTables:
    """One version of a query's tables; a group that is left out has the empty table.

    `parts` is the part of each partition; empty: partition i is part i. Version 0 is reserved for
    "no table".
    """

    version: int
    query_id: str
    groups: tuple[GroupTable, ...] = ()
    parts: tuple[int, ...] = ()
    _by_id: dict[int, GroupTable] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if self.version < 0:
            raise InvalidTable(f"version {self.version} is negative")
        _require_ascending("tables", "groups", tuple(g.shape.group for g in self.groups))
        object.__setattr__(self, "_by_id", {g.shape.group: g for g in self.groups})
        for g in self.groups:
            if self.parts and len(self.parts) != g.shape.partitions:
                raise InvalidTable(
                    f"group {g.shape.group}: {len(self.parts)} parts for "
                    f"{g.shape.partitions} partitions"
                )
        wrong = [part for part in self.parts if not 0 <= part < len(self.parts)]
        if wrong:
            raise InvalidTable(
                f"part {wrong[0]} does not exist: {len(self.parts)} partitions have at most "
                f"{len(self.parts)} parts"
            )

    @property
    def entries(self) -> int:
        """Number of explicit entries over all groups."""
        return sum(g.entries for g in self.groups)

    def group(self, shape: GroupShape) -> GroupTable:
        """The table of a group, the empty one where it is left out.

        Raises `InvalidTable` where the version holds a table of another shape for that group.
        """
        table = self._by_id.get(shape.group)
        if table is None:
            return empty(shape)
        if table.shape != shape:
            raise InvalidTable(
                f"group {shape.group}: version {self.version} was made for {table.shape}, "
                f"the query has {shape}"
            )
        return table


def empty(shape: GroupShape) -> GroupTable:
    """The table that routes every key as Spark does."""
    return GroupTable(shape, np.empty(0, np.int64), np.empty(0, np.int32))


def no_tables(query_id: str) -> RoutingTables:
    """Version 0: Spark's own routing for every group."""
    return RoutingTables(0, query_id)


def _frozen64(values: Int64Array) -> Int64Array:
    array = np.array(values, dtype=np.int64)
    array.setflags(write=False)
    return array


def _frozen32(values: Int32Array) -> Int32Array:
    array = np.array(values, dtype=np.int32)
    array.setflags(write=False)
    return array


def _require_ascending(where: str, what: str, values: tuple[int, ...]) -> None:
    if any(b <= a for a, b in itertools.pairwise(values)):
        raise InvalidTable(f"{where}: {what} {list(values)} are not strictly ascending")


def _check_entries(table: GroupTable) -> None:
    where = f"group {table.shape.group}"
    if len(table.fingerprints) != len(table.targets):
        raise InvalidTable(
            f"{where}: {len(table.fingerprints)} fingerprints for {len(table.targets)} targets"
        )
    if not table.entries:
        return
    if not table.shape.routing_ordinals:
        raise InvalidTable(f"{where}: has no routing columns, so it can have no explicit entries")
    wrong = np.flatnonzero(table.fingerprints[1:] <= table.fingerprints[:-1])
    if len(wrong):
        raise InvalidTable(f"{where}: fingerprints are not strictly ascending at {wrong[0] + 1}")
    _require_below(where, "target", table.targets, table.shape.partitions)


def _check_slots(table: GroupTable) -> None:
    if table.slot_owners is None:
        return
    where = f"group {table.shape.group}"
    if len(table.slot_owners) != table.shape.slots:
        raise InvalidTable(
            f"{where}: {len(table.slot_owners)} slot owners for {table.shape.slots} slots"
        )
    _require_below(where, "slot owner", table.slot_owners, table.shape.partitions)
    if not table.shape.stable_slots and not np.array_equal(
        table.slot_owners, empty(table.shape).owners()
    ):
        raise InvalidTable(
            f"{where}: its key holds a window or an event time, so its slots must not be moved"
        )


def _require_below(where: str, what: str, values: Int32Array, partitions: int) -> None:
    wrong = np.flatnonzero((values < 0) | (values >= partitions))
    if len(wrong):
        raise InvalidTable(
            f"{where}: {what} {values[wrong[0]]} at {wrong[0]} is not below {partitions} partitions"
        )
