"""Compiling: kept on disk where it can be, and nothing that a planner depends on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from keyroute.core import compiled


def test_without_a_folder_to_keep_it_in_a_loop_is_compiled_all_the_same(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[bool] = []

    def njit(*function: Callable[..., object], cache: bool = False) -> Any:
        asked.append(cache)
        if cache:

            def refuse(_: object) -> None:
                raise RuntimeError("cannot cache function: no locator available")

            return refuse
        return function[0]

    monkeypatch.setattr(compiled, "njit", njit)
    assert compiled.compiled(len)("abc") == 3
    assert asked == [True, False]


def test_without_the_compiler_it_is_the_function_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiled, "njit", None)
    assert compiled.compiled(len) is len
