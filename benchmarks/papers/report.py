"""What a paper's module gets, and how its figures become JSON, a page and a picture.

A module has `TITLE`, `measure(context)` with figures for JSON, `page(figures)` with Markdown, and
`draw(figures)` with a figure of Matplotlib; the last two know nothing but the JSON.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

Figures = dict[str, Any]


@dataclass(frozen=True)
class Context:
    """How to measure: `quick` is for tests, `streams` a folder; `say` shows progress.

    `keep` writes the figures so far: what a run that is stopped leaves.
    """

    quick: bool
    streams: Path | None
    say: Callable[[str], None]
    keep: Callable[[Figures], None]


def save(path: Path, figures: Figures) -> None:
    """Writes the figures."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(figures) + "\n")


def redraw(module: ModuleType, folder: Path, name: str) -> Iterable[Path]:
    """Page and picture of a paper from its JSON."""
    figures = json.loads((folder / f"{name}.json").read_text())
    page, picture = folder / f"{name}.md", folder / f"{name}.png"
    page.write_text(f"# {module.TITLE}\n\n{_made(figures)}\n\n{module.page(figures).strip()}\n")
    figure = module.draw(figures)
    figure.tight_layout()
    figure.savefig(picture, dpi=80)
    plt.close(figure)
    return page, picture


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table in Markdown."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def short(value: float) -> str:
    """A number as tables of papers show it: few digits, a power of ten where it is large."""
    if abs(value) >= 1e5:
        mantissa, exponent = f"{value:.1e}".split("e")
        return f"{mantissa}e{int(exponent)}"
    return f"{value:.0f}" if abs(value) >= 100 else f"{value:.1f}"


def _made(figures: Figures) -> str:
    machine = figures["machine"]
    quick = " **A quick run on little data: not a result.**" if figures["quick"] else ""
    return (
        f"Made by `make papers` at commit {figures['commit']} in {figures['seconds']} s, on "
        f"{machine['cores']} cores, {machine['memory_gib']} GiB, Python {machine['python']}."
        f"{quick}{figures.get('note', '')}"
    )
