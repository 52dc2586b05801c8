"""Blocks user code in a batch of this process's own query."""

from __future__ import annotations

import threading
from typing import Any

from harness.eventually import eventually

_LONGEST_S = 120


class Gate:
    """What `Running.start(on_batch=...)` takes: a batch waits at it while it is shut."""

    def __init__(self) -> None:
        self._open = threading.Event()
        self._open.set()
        self._waiting = threading.Event()

    def __call__(self, _: Any, __: int) -> None:
        if not self._open.is_set():
            self._waiting.set()
            # Bounded: a test that fails leaves it shut.
            assert self._open.wait(_LONGEST_S)
            self._waiting.clear()

    def shut(self) -> None:
        """The next batch stops here, before its rows are asked for."""
        self._open.clear()

    def reached(self, seconds: float = 60) -> None:
        """Until a batch waits."""
        eventually(seconds, "a batch waits in user code", self._waiting.is_set)

    def open(self) -> None:
        """Lets it go on."""
        self._open.set()
