"""Waiting on conditions, never on time."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")

_PAUSE_S = 0.1


def eventually(seconds: float, what: str, check: Callable[[], T | None]) -> T:
    """The first answer of `check` that is truthy; an AssertionError that says `what` after
    `seconds`."""
    deadline = time.monotonic() + seconds
    while True:
        answer = check()
        if answer:
            return answer
        if time.monotonic() > deadline:
            raise AssertionError(f"not within {seconds:g} s: {what}")
        time.sleep(_PAUSE_S)
