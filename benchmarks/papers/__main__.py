"""`python -m papers`: measures, then writes JSON, a page and a figure for each paper."""

from __future__ import annotations

import argparse
import importlib
import sys
import time
from collections.abc import Callable
from pathlib import Path

from results import described

from papers.report import Context, Figures, redraw, save

PAPERS = ("pkg", "dkg", "autoflow", "albic", "caneill")
OUT = Path(__file__).parent / "results"


def main(words: list[str] | None = None) -> None:
    """Raises `SystemExit` for a paper that there is not."""
    asked = _arguments().parse_args(words)
    about = {**described(), "quick": asked.quick}
    for name in asked.only or PAPERS:
        module = importlib.import_module(f"papers.{name}")
        if not asked.redraw:
            _say(f"{name}: {module.TITLE}")
            keep = _keep(asked.out / f"{name}.json", about)
            keep(module.measure(Context(asked.quick, asked.streams, _say, keep)))
        for path in redraw(module, asked.out, name):
            _say(f"  wrote {path}")


def _keep(path: Path, about: Figures) -> Callable[[Figures], None]:
    """Writes figures with the commit, the machine and the time that they took."""
    began = time.perf_counter()
    return lambda figures: save(
        path, {**about, "seconds": round(time.perf_counter() - began), **figures}
    )


def _arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="papers", description=__doc__)
    parser.add_argument("only", nargs="*", choices=[[], *PAPERS], help="papers; all without any")
    parser.add_argument("--streams", type=Path, help="folder of extra streams")
    parser.add_argument("--out", type=Path, default=OUT)
    parser.add_argument(
        "--quick", action="store_true", help="little data: only to see that it runs"
    )
    parser.add_argument(
        "--redraw", action="store_true", help="pages and figures from the JSON alone"
    )
    return parser


def _say(line: str) -> None:
    print(f"{time.strftime('%H:%M:%S')} {line}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
