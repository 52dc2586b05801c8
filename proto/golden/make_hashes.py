"""Makes hashes.json: Murmur3 and XXH64 of keys of each type, as Spark itself computes them.

Run with the project's environment (it needs PySpark and Java): python proto/golden/make_hashes.py

Each vector is {"types": [DDL], "values": [...], "murmur3": int, "xxh64": "int"}. In JSON a date is
its days and a timestamp its microseconds since 1970, a decimal and a 64-bit integer are decimal
strings, a binary is hex, a float or double is its repr ("NaN", "-0.0"), a struct or array a list.
"""

from __future__ import annotations

import json
import random
import string
from collections.abc import Iterator
from pathlib import Path

from pyspark.sql import SparkSession

Vector = dict[str, object]


def scalars(rng: random.Random) -> dict[str, list[object]]:
    """Values of each plain type, in the form that the JSON has."""
    words = ["", "a", "ab", "abc", "abcd", "N14228", "EWR-IAH", "ü", "日本語", "\U0001f6eb", "\x7f"]
    words += ["".join(rng.choices(string.printable[:94], k=k)) for k in (5, 7, 8, 12, 31, 32, 33)]
    words += ["".join(rng.choices("aéß漢\U0001f600", k=k)) for k in (9, 20, 40, 70)]
    blobs = [bytes(rng.randrange(256) for _ in range(k)).hex() for k in (0, 1, 3, 4, 7, 31, 32, 70)]
    floats = ["0.0", "-0.0", "NaN", "Infinity", "-Infinity", "1.5", "-2.25", "1e-30", "3.25e30"]
    wide = ["1234567890123456789012345678901234.5678", "-9999999999999999999999999999999999.9999"]
    return {
        "STRING": [None, *words],
        "BINARY": [None, *blobs, "ff80"],
        "BOOLEAN": [None, True, False],
        "TINYINT": [None, *ints(rng, 8)],
        "SMALLINT": [None, *ints(rng, 16)],
        "INT": [None, *ints(rng, 32)],
        "BIGINT": [None, *map(str, ints(rng, 64))],
        "FLOAT": [None, *floats, "1.401298464324817e-45"],
        "DOUBLE": [None, *floats, "5e-324", "1.7976931348623157e+308"],
        "DATE": [None, 0, -1, 15706, 2932896, -719162],
        "TIMESTAMP": [None, "0", "-1", "1357038000000000", "253402300799999999"],
        "TIMESTAMP_NTZ": [None, "0", "-1", "1357038000000000", "253402300799999999"],
        "DECIMAL(10,2)": [None, "0.00", "1.00", "-1.00", "12345678.90", "-0.01"],
        "DECIMAL(18,0)": [None, "999999999999999999", "-999999999999999999"],
        "DECIMAL(38,4)": [None, "0", "1", "-1", "0.0127", "0.0128", "-0.0128", "-0.0129", *wide],
    }


def ints(rng: random.Random, bits: int) -> list[int]:
    """Edges of a signed integer type, and some of its values."""
    low, high = -(1 << bits - 1), (1 << bits - 1) - 1
    return [0, 1, -1, low, high, *(rng.randint(low, high) for _ in range(8))]


def keys(rng: random.Random) -> Iterator[tuple[list[str], list[object]]]:
    """(types, values) of every vector: one column, several, structs, arrays."""
    plain = scalars(rng)
    for ddl, values in plain.items():
        yield from (([ddl], [value]) for value in values)
    for _ in range(60):
        types = [rng.choice(list(plain)) for _ in range(rng.randint(2, 4))]
        yield types, [rng.choice(plain[t]) for t in types]
    for _ in range(30):
        types = [rng.choice(list(plain)) for _ in range(rng.randint(1, 3))]
        struct = f"STRUCT<{', '.join(f'f{i}: {t}' for i, t in enumerate(types))}>"
        value = rng.choice([None, *[[rng.choice(plain[t]) for t in types] for _ in range(5)]])
        yield ["INT", struct], [rng.choice(plain["INT"]), value]
    nested = "STRUCT<a: STRUCT<b: STRING, c: BIGINT>, d: ARRAY<INT>>"
    yield [nested], [[["x", "7"], [1, None, 3]]]
    yield [nested], [[None, []]]


def literal(ddl: str, value: object) -> str:
    """SQL text of a value."""
    if value is None:
        return f"CAST(NULL AS {ddl})"
    if ddl == "STRING":
        return f"CAST(unhex('{str(value).encode().hex()}') AS STRING)"
    if ddl == "BINARY":
        return f"unhex('{value}')"
    if ddl == "DATE":
        return f"date_from_unix_date({value})"
    if ddl == "TIMESTAMP":
        return f"timestamp_micros({value})"
    if ddl == "TIMESTAMP_NTZ":
        return f"CAST(timestamp_micros({value}) AS TIMESTAMP_NTZ)"
    if ddl.startswith("ARRAY"):
        return f"CAST(array({', '.join(literal('INT', v) for v in value)}) AS {ddl})"
    if ddl.startswith("STRUCT"):
        return f"CAST(named_struct({', '.join(fields(ddl, value))}) AS {ddl})"
    return f"CAST('{value}' AS {ddl})"


def fields(ddl: str, values: object) -> Iterator[str]:
    """Arguments of named_struct."""
    inner = ddl[ddl.index("<") + 1 : -1]
    depth, start, parts = 0, 0, []
    for i, c in enumerate(inner):
        depth += (c in "<(") - (c in ">)")
        if c == "," and depth == 0:
            parts.append(inner[start:i])
            start = i + 1
    for part, value in zip([*parts, inner[start:]], values, strict=True):
        name, _, child = part.strip().partition(": ")
        yield f"'{name}', {literal(child, value)}"


def text(spark: SparkSession) -> str:
    """What hashes.json must hold. The session's time zone must be UTC."""
    vectors: list[Vector] = [{"types": t, "values": v} for t, v in keys(random.Random(42))]
    for start in range(0, len(vectors), 40):
        part = vectors[start : start + 40]
        columns = []
        for i, vector in enumerate(part):
            sql = ", ".join(map(literal, vector["types"], vector["values"]))
            columns += [f"hash({sql}) AS m{i}", f"xxhash64({sql}) AS x{i}"]
        row = spark.range(1).selectExpr(*columns).first()
        for i, vector in enumerate(part):
            vector |= {"murmur3": row[f"m{i}"], "xxh64": str(row[f"x{i}"])}
    lines = ",\n".join(json.dumps(v, ensure_ascii=True) for v in vectors)
    return f"[\n{lines}\n]\n"


def main() -> None:
    """Writes hashes.json beside this script."""
    spark = (
        SparkSession.builder.master("local[1]")
        .config("spark.ui.enabled", "false")
        .config("spark.sql.session.timeZone", "UTC")
        .config("spark.sql.codegen.wholeStage", "false")
        .getOrCreate()
    )
    (Path(__file__).parent / "hashes.json").write_text(text(spark))
    spark.stop()


if __name__ == "__main__":
    main()
