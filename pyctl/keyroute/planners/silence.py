"""Keeps what a C library prints from stdout, where commands print JSON."""

from __future__ import annotations

import ctypes
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager

_flush = ctypes.CDLL(None).fflush
_one_at_a_time = threading.Lock()


@contextmanager
def silenced() -> Iterator[None]:
    """Nothing that is written to file descriptor 1 meanwhile is seen, also of other threads.

    C holds back what it prints: it is flushed before and after, to go where it belongs.
    """
    with _one_at_a_time:
        _flush(None)
        stdout = os.dup(1)
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, 1)
        os.close(nowhere)
        try:
            yield
        finally:
            _flush(None)
            os.dup2(stdout, 1)
            os.close(stdout)
