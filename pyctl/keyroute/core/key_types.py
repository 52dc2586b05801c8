"""Types of key columns, from the DDL text in a group's shape (`DataType.sql` in Spark)."""

from __future__ import annotations

import re
from dataclasses import dataclass

_TOKEN = re.compile(r"\s*(`(?:[^`]|``)*`|[A-Za-z0-9_]+|[<>(),:])")

_ALIASES = {
    "byte": "tinyint",
    "short": "smallint",
    "int": "int",
    "integer": "int",
    "long": "bigint",
    "real": "float",
    "dec": "decimal",
    "numeric": "decimal",
    "char": "string",
    "varchar": "string",
    "timestamp_ltz": "timestamp",
}
_SIMPLE = frozenset(
    [
        *("boolean", "tinyint", "smallint", "int", "bigint", "float", "double", "string"),
        *("binary", "date", "timestamp", "timestamp_ntz", "void", "time"),
    ]
)


class UnknownKeyType(ValueError):
    """A key type that cannot be hashed outside Spark; the message names it."""


@dataclass(frozen=True, slots=True)
class KeyType:
    """A type: `name` in lower case, `precision` of decimals, types of fields or of elements."""

    name: str
    precision: int = 0
    scale: int = 0
    children: tuple[KeyType, ...] = ()


def parse(ddl: str) -> KeyType:
    """The type of a DDL text such as `STRUCT<a: INT, b: DECIMAL(20,2)>`.

    Raises `UnknownKeyType`, also for strings with a collation: Spark hashes their collation key,
    which only Spark can make.
    """
    tokens = _Tokens(ddl)
    parsed = _type(tokens)
    if tokens.peek():
        raise UnknownKeyType(f"key type {ddl!r}: unexpected {tokens.peek()!r}")
    return parsed


class _Tokens:
    def __init__(self, ddl: str) -> None:
        self.ddl = ddl
        self._tokens = _TOKEN.findall(ddl)
        if "".join(self._tokens) != re.sub(r"\s+(?=(?:[^`]*`[^`]*`)*[^`]*$)", "", ddl):
            raise UnknownKeyType(f"key type {ddl!r} cannot be read")
        self._at = 0

    def peek(self) -> str:
        return self._tokens[self._at] if self._at < len(self._tokens) else ""

    def next(self) -> str:
        token = self.peek()
        if not token:
            raise UnknownKeyType(f"key type {self.ddl!r} ends too early")
        self._at += 1
        return token

    def skip(self, token: str) -> bool:
        if self.peek().lower() == token:
            self._at += 1
            return True
        return False

    def expect(self, token: str) -> None:
        if not self.skip(token):
            raise UnknownKeyType(f"key type {self.ddl!r}: expected {token!r} at {self.peek()!r}")


def _type(tokens: _Tokens) -> KeyType:
    word = tokens.next().lower()
    name = _ALIASES.get(word, word)
    if name == "decimal":
        numbers = _numbers(tokens) or [10, 0]
        return KeyType(name, numbers[0], numbers[1] if len(numbers) > 1 else 0)
    if name == "struct":
        return KeyType(name, children=tuple(_fields(tokens)))
    if name == "array":
        tokens.expect("<")
        element = _type(tokens)
        tokens.expect(">")
        return KeyType(name, children=(element,))
    if name == "interval":
        return _interval(tokens)
    if name not in _SIMPLE:
        raise UnknownKeyType(f"keys of type {tokens.ddl!r} cannot be hashed outside Spark")
    _numbers(tokens)
    _default_collation(tokens)
    return KeyType(name)


def _numbers(tokens: _Tokens) -> list[int]:
    if not tokens.skip("("):
        return []
    numbers = [int(tokens.next())]
    while tokens.skip(","):
        numbers.append(int(tokens.next()))
    tokens.expect(")")
    return numbers


def _fields(tokens: _Tokens) -> list[KeyType]:
    tokens.expect("<")
    fields: list[KeyType] = []
    while not tokens.skip(">"):
        tokens.next()
        tokens.skip(":")
        fields.append(_type(tokens))
        if tokens.skip("not"):
            tokens.expect("null")
        tokens.skip(",")
    return fields


def _interval(tokens: _Tokens) -> KeyType:
    unit = tokens.next().lower()
    if tokens.skip("to"):
        tokens.next()
    return KeyType("interval_months" if unit in ("year", "month") else "interval_micros")


def _default_collation(tokens: _Tokens) -> None:
    if tokens.skip("collate") and (name := tokens.next().upper()) != "UTF8_BINARY":
        raise UnknownKeyType(
            f"a string of collation {name} cannot be hashed outside Spark, which alone knows its "
            "collation keys"
        )
