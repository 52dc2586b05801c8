"""Keys as people write them in a table file, turned into what Spark hashes."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable
from datetime import date, datetime
from decimal import Decimal, InvalidOperation

from keyroute.core.hashes import spark_hash
from keyroute.core.key_types import KeyType, UnknownKeyType, parse
from keyroute.core.table import GroupShape


class UnreadableKey(ValueError):
    """A key does not fit its group's routing columns; the text says which and why."""


def fingerprint(shape: GroupShape, values: list[object]) -> int:
    """The 64-bit fingerprint of a key: `values` are JSON values, one for each routing column.

    Dates and timestamps are ISO texts, decimals texts or integers, binary is base64, a null is
    null, a struct an array of its fields. Raises UnreadableKey.
    """
    types = [shape.key_types[ordinal] for ordinal in shape.routing_ordinals]
    names = [shape.key_names[ordinal] for ordinal in shape.routing_ordinals]
    if len(values) != len(types):
        raise UnreadableKey(
            f"group {shape.group}: key {values} has {len(values)} values, its routing columns are "
            f"{', '.join(names) or 'none'}"
        )
    try:
        read = [_read(value, parse(ddl)) for value, ddl in zip(values, types, strict=True)]
        return spark_hash(read, types)[1]
    except (ValueError, OverflowError, InvalidOperation) as error:
        raise UnreadableKey(f"group {shape.group}: key {values}: {error}") from error


def _read(value: object, key_type: KeyType) -> object:
    if value is None:
        return None
    if isinstance(value, list) and key_type.name in ("struct", "array"):
        children = key_type.children
        types = children if key_type.name == "struct" else children * len(value)
        if len(types) != len(value):
            raise UnknownKeyType(f"{len(value)} values for a struct of {len(types)} fields")
        return [_read(child, of) for child, of in zip(value, types, strict=True)]
    if isinstance(value, str) and key_type.name in _FROM_TEXT:
        return _FROM_TEXT[key_type.name](value)
    return value


def _boolean(text: str) -> bool:
    if text not in ("true", "false"):
        raise UnknownKeyType(f"{text!r} is neither true nor false")
    return text == "true"


def _binary(text: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except binascii.Error as error:
        raise UnknownKeyType(f"{text!r} is no base64") from error


def _moment(text: str) -> datetime:
    # Python 3.10 does not read the Z of UTC.
    return datetime.fromisoformat(f"{text[:-1]}+00:00" if text.endswith("Z") else text)


_FROM_TEXT: dict[str, Callable[[str], object]] = {
    "boolean": _boolean,
    "tinyint": int,
    "smallint": int,
    "int": int,
    "bigint": int,
    "float": float,
    "double": float,
    "decimal": Decimal,
    "binary": _binary,
    "date": date.fromisoformat,
    "timestamp": _moment,
    "timestamp_ntz": _moment,
}
