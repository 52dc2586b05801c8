"""Compiles hot loops where numba is installed (`pip install 'keyroute[fast]'`).

Without it the same functions run as they are written: the same answers, slower on large graphs.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

Function = TypeVar("Function", bound=Callable[..., object])

try:
    from numba import njit
except ImportError:
    njit = None

COMPILES = njit is not None


def compiled(function: Function) -> Function:
    """The function, compiled at its first call and kept on disk; itself without numba."""
    if njit is None:
        return function
    try:
        fast: Function = njit(cache=True)(function)
    except RuntimeError:
        # There is no folder that it could be kept in.
        fast = njit(function)
    return fast
