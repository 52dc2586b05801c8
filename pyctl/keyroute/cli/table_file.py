"""Reads the file of `keyroute tables apply`: JSON that people write, or serialised tables.

    {"groups": {"0": {"keys": {"N12345": 2} | [{"key": ["N12345"], "partition": 2}],
                      "fingerprints": {"-42": 1},
                      "slotOwners": [0, 1, 2, …]}},
     "parts": [0, 1, 2]}

The file replaces the tables of all groups: one that it leaves out goes back to Spark's routing.
Text keys are for groups with one routing column; lists hold one value for each routing column.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from keyroute.cli.key_text import UnreadableKey, fingerprint
from keyroute.core import table_codec
from keyroute.core.table import GroupShape, GroupTable, InvalidTable, RoutingTables

_FIELDS = frozenset({"groups", "parts"})
_GROUP_FIELDS = frozenset({"keys", "fingerprints", "slotOwners"})


class UnreadableFile(ValueError):
    """The file holds no tables for the query; the text says where it goes wrong."""


def read_tables(data: bytes, shapes: Sequence[GroupShape], query_id: str) -> RoutingTables:
    """Tables for a query's groups, as version 1: whoever publishes them gives the number.

    Raises UnreadableFile.
    """
    if not data.strip():
        raise UnreadableFile("the file is empty")
    try:
        if data.lstrip()[:1] == b"{":
            value = json.loads(data, object_pairs_hook=_without_repetition)
            return _from_json(value, shapes, query_id)
        return _from_bytes(data, shapes, query_id)
    except (InvalidTable, UnreadableKey, json.JSONDecodeError, UnicodeDecodeError) as error:
        raise UnreadableFile(str(error)) from error


def _without_repetition(members: list[tuple[str, Any]]) -> dict[str, Any]:
    read = dict(members)
    if len(read) < len(members):
        names = [name for name, _ in members]
        twice = next(name for name in names if names.count(name) > 1)
        raise UnreadableFile(f"{json.dumps(twice)} is there twice in one object")
    return read


def _from_bytes(data: bytes, shapes: Sequence[GroupShape], query_id: str) -> RoutingTables:
    try:
        tables = table_codec.decode(data)
    except InvalidTable as error:
        raise UnreadableFile(f"neither a JSON object nor serialised tables: {error}") from error
    for group in tables.groups:
        expected = _shape(shapes, group.shape.group)
        if group.shape != expected:
            raise UnreadableFile(
                f"group {expected.group} was made for {group.shape}, the query has {expected}"
            )
    return RoutingTables(1, query_id, tables.groups, tables.parts)


def _from_json(value: Any, shapes: Sequence[GroupShape], query_id: str) -> RoutingTables:
    fields = _object(value, "the file", _FIELDS)
    groups = _object(fields.get("groups", {}), "groups")
    if not groups:
        raise UnreadableFile(
            'the file names no group; it must look like {"groups": {"0": {"keys": {"a": 1}}}} '
            "(`keyroute tables reset` goes back to Spark's routing)"
        )
    read = [_group(_shape(shapes, _integer(name, "groups")), groups[name]) for name in groups]
    read.sort(key=lambda table: table.shape.group)
    parts = tuple(_integers(fields.get("parts", []), "parts"))
    return RoutingTables(1, query_id, tuple(read), parts)


def _group(shape: GroupShape, value: Any) -> GroupTable:
    where = f"group {shape.group}"
    fields = _object(value, where, _GROUP_FIELDS)
    entries: dict[int, int] = {}
    for values, partition in _keys(fields.get("keys", {}), where):
        name = f"{where}: key {', '.join(map(_text, values))}"
        _add(shape, entries, fingerprint(shape, values), partition, name)
    for text, partition in _object(
        fields.get("fingerprints", {}), f"{where}: fingerprints"
    ).items():
        number = _integer(text, f"{where}: fingerprints")
        if not -(2**63) <= number < 2**63:
            raise UnreadableFile(f"{where}: fingerprint {text} is no signed 64-bit integer")
        _add(shape, entries, number, partition, f"{where}: fingerprint {text}")
    owners = _integers(fields.get("slotOwners", []), f"{where}: slotOwners")
    order = sorted(entries)
    return GroupTable(
        shape,
        np.array(order, dtype=np.int64),
        np.array([entries[number] for number in order], dtype=np.int32),
        np.array(owners, dtype=np.int32) if owners else None,
    )


def _keys(value: Any, where: str) -> list[tuple[list[object], Any]]:
    if isinstance(value, Mapping):
        return [([text], partition) for text, partition in value.items()]
    if not isinstance(value, list):
        raise UnreadableFile(f"{where}: keys must be an object or a list")
    read = []
    for entry in value:
        fields = _object(entry, f"{where}: an entry of keys", frozenset({"key", "partition"}))
        values = fields.get("key")
        if not isinstance(values, list) or "partition" not in fields:
            raise UnreadableFile(
                f"{where}: an entry of keys must look like "
                '{"key": [value, …], "partition": number}'
            )
        read.append((values, fields["partition"]))
    return read


def _text(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def _add(
    shape: GroupShape, entries: dict[int, int], number: int, partition: Any, where: str
) -> None:
    target = _integers([partition], where)[0]
    if target >= shape.partitions:
        raise UnreadableFile(
            f"{where}: there is no partition {target}, only 0 to {shape.partitions - 1}"
        )
    if entries.get(number, target) != target:
        raise UnreadableFile(f"{where}: has two partitions, {entries[number]} and {target}")
    entries[number] = target


def _shape(shapes: Sequence[GroupShape], group: int) -> GroupShape:
    for shape in shapes:
        if shape.group == group:
            return shape
    known = ", ".join(str(shape.group) for shape in shapes) or "none"
    raise UnreadableFile(f"the query has no group {group}; its groups: {known}")


def _object(value: Any, where: str, known: frozenset[str] | None = None) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise UnreadableFile(f"{where} must be a JSON object")
    unknown = sorted(set(value) - known) if known is not None else []
    if unknown:
        raise UnreadableFile(f"{where} has unknown fields: {', '.join(unknown)}")
    return value


def _integers(value: Any, where: str) -> list[int]:
    fits = isinstance(value, list) and all(
        isinstance(number, int) and not isinstance(number, bool) and 0 <= number < 2**31
        for number in value
    )
    if not fits:
        raise UnreadableFile(f"{where}: {value} is no partition number (0, 1, …)")
    return list(value)


def _integer(text: str, where: str) -> int:
    try:
        return int(text)
    except ValueError as error:
        raise UnreadableFile(f"{where}: {text!r} is no integer") from error
