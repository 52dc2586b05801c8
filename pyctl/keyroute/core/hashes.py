"""Spark's hashes of keys, computed outside Spark: Murmur3 for slots, XXH64 for fingerprints.

Both chain over columns: the hash of one is the seed of the next, and a null passes its seed on.
`proto/golden/hashes.json` holds vectors made by Spark itself.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from datetime import date, datetime, timedelta, timezone
from decimal import Decimal

from keyroute.core.hash_functions import HashFunction, Murmur3, XxHash64
from keyroute.core.key_types import KeyType, UnknownKeyType, parse

SEED = 42

_EPOCH = datetime(1970, 1, 1)


def spark_hash(values: Sequence[object], types: Sequence[str]) -> tuple[int, int]:
    """(Murmur3, XXH64) of a key, signed as in Spark, both with seed 42.

    `types` are DDL texts, one for each value. Dates may be `date` or days since 1970, timestamps
    `datetime` or microseconds since 1970, intervals are months or microseconds. Raises
    `UnknownKeyType`, and `ValueError` where a value does not fit its type.
    """
    if len(values) != len(types):
        raise ValueError(f"{len(values)} values for {len(types)} key types")
    murmur, xx = SEED, SEED
    for value, ddl in zip(values, types, strict=True):
        key_type = parse(ddl)
        murmur = _fold(Murmur3, value, key_type, murmur)
        xx = _fold(XxHash64, value, key_type, xx)
    return _signed(murmur, 32), _signed(xx, 64)


def _fold(hash_: type[HashFunction], value: object, key_type: KeyType, seed: int) -> int:
    """Hash of one value, which is the seed of the next."""
    if value is None or key_type.name == "void":
        return seed
    if key_type.name in ("struct", "array"):
        return _fold_children(hash_, value, key_type, seed)
    plain = _plain(value, key_type)
    if isinstance(plain, bytes):
        return hash_.of_bytes(plain, seed)
    width, number = plain
    return hash_.of_int(number, seed) if width == 32 else hash_.of_long(number, seed)


def _fold_children(hash_: type[HashFunction], value: object, key_type: KeyType, seed: int) -> int:
    if not isinstance(value, (list, tuple)):
        raise _misfit(value, key_type)
    types = key_type.children if key_type.name == "struct" else key_type.children * len(value)
    if len(types) != len(value):
        raise ValueError(f"{len(value)} values for a struct of {len(types)} fields")
    for child, child_type in zip(value, types, strict=True):
        seed = _fold(hash_, child, child_type, seed)
    return seed


def _plain(value: object, key_type: KeyType) -> bytes | tuple[int, int]:
    """What Spark hashes: bytes, or (32 or 64 bits, number)."""
    name = key_type.name
    if name == "string" and isinstance(value, str):
        return value.encode()
    if name == "binary" and isinstance(value, bytes):
        return value
    if name == "boolean" and isinstance(value, bool):
        return 32, int(value)
    if name in ("float", "double") and isinstance(value, (int, float)):
        return _float_bits(float(value), name)
    if name == "decimal" and isinstance(value, (Decimal, int)):
        return _decimal(Decimal(value), key_type)
    if name == "date" and isinstance(value, date) and not isinstance(value, datetime):
        return 32, (value - _EPOCH.date()).days
    if name in ("timestamp", "timestamp_ntz") and isinstance(value, datetime):
        return 64, _micros(value, name)
    if isinstance(value, int) and not isinstance(value, bool) and name in _BITS:
        return _whole(value, name)
    raise _misfit(value, key_type)


_BITS = {
    "tinyint": 8,
    "smallint": 16,
    "int": 32,
    "date": 32,
    "interval_months": 32,
    "bigint": 64,
    "timestamp": 64,
    "timestamp_ntz": 64,
    "time": 64,
    "interval_micros": 64,
}


def _whole(value: int, name: str) -> tuple[int, int]:
    bits = _BITS[name]
    if not -(1 << bits - 1) <= value < 1 << bits - 1:
        raise ValueError(f"{value} is out of the range of {name}")
    return max(bits, 32), value


def _float_bits(value: float, name: str) -> tuple[int, int]:
    width, of_float, of_int = (32, "<f", "<i") if name == "float" else (64, "<d", "<q")
    if value == 0.0:
        return width, 0
    if value != value:
        return width, 0x7FC00000 if width == 32 else 0x7FF8000000000000
    (bits,) = struct.unpack(of_int, struct.pack(of_float, value))
    return width, int(bits)


def _decimal(value: Decimal, key_type: KeyType) -> bytes | tuple[int, int]:
    sign, digits, exponent = value.as_tuple()
    if not isinstance(exponent, int) or -exponent > key_type.scale:
        raise ValueError(f"{value} has more than {key_type.scale} decimal places")
    if value and value.adjusted() >= key_type.precision - key_type.scale:
        ddl = f"decimal({key_type.precision},{key_type.scale})"
        raise ValueError(f"{value} is out of the range of {ddl}")
    number: int = int("".join(map(str, digits))) * 10 ** (key_type.scale + exponent)
    unscaled = -number if sign else number
    if key_type.precision <= 18:
        return 64, unscaled
    bits = (unscaled if unscaled >= 0 else ~unscaled).bit_length()
    big_endian: bytes = unscaled.to_bytes(bits // 8 + 1, "big", signed=True)
    return big_endian


def _micros(value: datetime, name: str) -> int:
    if (value.tzinfo is None) != (name == "timestamp_ntz"):
        raise ValueError(
            f"a {name} needs a datetime {'without' if name == 'timestamp_ntz' else 'with'} a zone"
        )
    plain = value if value.tzinfo is None else value.astimezone(timezone.utc).replace(tzinfo=None)
    return (plain - _EPOCH) // timedelta(microseconds=1)


def _misfit(value: object, key_type: KeyType) -> ValueError:
    return UnknownKeyType(f"a {type(value).__name__} is no key of type {key_type.name}")


def _signed(value: int, bits: int) -> int:
    return value - (1 << bits) if value >> (bits - 1) else value
