"""The demo empties its own folders, and nobody else's."""

from __future__ import annotations

from pathlib import Path

import pytest

from keyroute.demo.run import DemoFailed, empty


def test_a_folder_that_no_demo_made_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").touch()
    with pytest.raises(DemoFailed, match="what no demo has written"):
        empty(tmp_path)
    assert (tmp_path / "thesis.tex").exists()


def test_a_new_folder_and_an_earlier_demos_are_emptied(tmp_path: Path) -> None:
    work = tmp_path / "demo"
    empty(work)
    (work / "result.json").touch()
    empty(work)
    assert not (work / "result.json").exists()
    (tmp_path / "there").mkdir()
    empty(tmp_path / "there")
