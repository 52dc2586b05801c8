"""What a stateful query of the tests is, and how its output is compared."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from pyspark.sql import DataFrame

Batch = list[dict[str, Any]]
Output = Counter[tuple[Any, ...]]


@dataclass(frozen=True)
class Operator:
    """One query over the feed's frame.

    Attributes:
        ordered: whether rows of one batch reach the operator in a known order. Where they do not,
            `comparable` reduces an emitted row to what does not depend on it.
    """

    name: str
    mode: str
    build: Callable[[DataFrame], DataFrame]
    expected: Callable[[list[Batch]], list[Output]]
    comparable: Callable[[tuple[Any, ...]], tuple[Any, ...]] = lambda row: row
    needs_families: bool = False


def differences(
    operator: Operator, emitted: dict[int, list[Any]], inputs: list[Batch]
) -> list[str]:
    """One sentence for each batch whose rows are not the expected multiset; empty: exact."""
    found = []
    for number, want in enumerate(operator.expected(inputs)):
        got: Output = Counter()
        for row in emitted.get(number, []):
            reduced = operator.comparable(tuple(row))
            got.update(reduced if reduced and isinstance(reduced[0], tuple) else [reduced])
        if got != want:
            extra, missing = list((got - want).items())[:3], list((want - got).items())[:3]
            found.append(f"batch {number}: unexpected {extra}, missing {missing}")
    return found
