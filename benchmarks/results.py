"""Where results go: `results/<commit>/<name>.json`, with the commit and the machine."""

from __future__ import annotations

import json
import os
import platform
import subprocess
from pathlib import Path
from typing import Any

_HERE = Path(__file__).parent


def save(name: str, figures: Any) -> Path:
    """Writes the figures; the path."""
    commit = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"],
        cwd=_HERE,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.strip()
    dirty = subprocess.run(
        ["git", "status", "--porcelain", "--", ":/", f":!{_HERE / 'results'}"],
        cwd=_HERE,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.strip()
    machine = {
        "cores": os.cpu_count(),
        "memory_gib": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30),
        "processor": platform.processor() or platform.machine(),
        "python": platform.python_version(),
    }
    path = _HERE / "results" / commit / f"{name}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    whole = {"commit": commit + ("+changes" if dirty else ""), "machine": machine, **figures}
    path.write_text(json.dumps(whole, indent=2) + "\n")
    return path
