"""A user's planner that never ends, installed as an entry point; it says so in a file."""

from __future__ import annotations

import os
import threading
from pathlib import Path
from typing import Any

MARKER = "BLOCKED_PLANNER_MARKER"


def plan(_: Any) -> Any:
    """Blocks for ever, with all that was counted in hand."""
    Path(os.environ[MARKER]).touch()
    threading.Event().wait()


def install(folder: Path) -> dict[str, str]:
    """What pip leaves of a package with one entry point; the environment that finds it."""
    info = folder / "blocked_planner-1.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: blocked-planner\nVersion: 1\n")
    entry = "[keyroute.planners]\nblocked = apps.blocked_planner:plan\n"
    (info / "entry_points.txt").write_text(entry)
    path = [str(folder), str(Path(__file__).parents[1]), os.environ.get("PYTHONPATH", "")]
    return {"PYTHONPATH": os.pathsep.join(path), MARKER: str(folder / "planning")}
