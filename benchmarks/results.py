"""Where results go: `results/<commit>/<name>.json`, with the commit and the machine."""

from __future__ import annotations

import json
import os
import platform
import subprocess
from pathlib import Path
from typing import Any

_HERE = Path(__file__).parent

CHANGES = "+changes"


def save(name: str, figures: Any) -> Path:
    """Writes the figures; the path."""
    whole = {**described(), **figures}
    path = _HERE / "results" / whole["commit"].removesuffix(CHANGES) / f"{name}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(whole, indent=2) + "\n")
    return path


def described() -> dict[str, Any]:
    """The commit, with a mark where the tree differs from it, and the machine."""
    return {
        "commit": _git("rev-parse", "--short", "HEAD") + (CHANGES if _dirty() else ""),
        "machine": {
            "cores": os.cpu_count(),
            "memory_gib": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30),
            "processor": platform.processor() or platform.machine(),
            "python": platform.python_version(),
        },
    }


def _dirty() -> bool:
    return bool(_git("status", "--porcelain", "--", ":/", f":!{_HERE / 'results'}"))


def _git(*command: str) -> str:
    done = subprocess.run(["git", *command], cwd=_HERE, capture_output=True, text=True, check=True)
    return done.stdout.strip()
