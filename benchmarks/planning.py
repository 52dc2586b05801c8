"""Quality of the default planner beside plain METIS, by replays of real and made streams.

`--streams DIR` is a folder with a `loaders.py` (a function a stream), `--vega FILE` the package
vega-datasets' flights-3m.parquet; without them, what the packages' data allow. Each stream is
replayed for each planner and seed with all defaults, by `keyroute simulate`'s own code. Writes
target/bench/planning.json.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from statistics import fmean
from typing import Any

from baselines.reference import plan_reference
from grouped import GroupedAfterwards
from planning_streams import Named, all_streams, renewed, shuffled
from planning_time import times
from results import described
from sampled import Sampled

from keyroute import planners
from keyroute.core.plan import Planner, PlanSettings
from keyroute.simulate.replay import OPEN_TO_ALL, Setup, replay
from keyroute.simulate.result import Replay
from keyroute.simulate.stream import Cut

PARTS = 6
SEEDS = (1, 2, 3)
RENEWED = (1.0, 0.5, 0.2)
"""Shares of keys that get another partner each period, in the made streams."""

PLANNERS: dict[str, Planner] = {
    "reference": plan_reference,
    "default": planners.load(planners.DEFAULT),
}
OUT = Path("target/bench/planning.json")


def figures(cuts: Sequence[Cut], setup: Setup, seeds: Sequence[int]) -> dict[str, Any]:
    """Means over the periods and seeds; imbalances are lists, one for each operator."""
    runs = [_run(cuts, replace(setup, plan=PlanSettings(seed=seed))) for seed in seeds]
    return {name: _mean([run[name] for run in runs]) for name in runs[0]}


def _run(cuts: Sequence[Cut], setup: Setup) -> dict[str, Any]:
    steps = tuple(replay(cuts, setup))
    done = Replay("", setup.parts, ("key1", "key2"), steps, setup.executors)
    return {
        "locality_next": done.mean(lambda s: s.next.locality),
        "imbalance_next": done.mean_imbalance(lambda s: s.next),
        "imbalance_build": done.mean_imbalance(lambda s: s.same),
        "moved_weight": done.mean(lambda s: s.moved_weight),
        "moved_keys": done.mean(lambda s: s.moved_keys),
        "periods_with_a_change": done.mean(lambda s: s.changes > 0),
        "prediction_error": done.prediction_error,
        "plan_s": done.mean(lambda s: s.plan_s),
        "locality_hash": done.mean(lambda s: s.hash.locality),
    }


def _mean(values: list[Any]) -> Any:
    if isinstance(values[0], list):
        return [fmean(of) for of in zip(*values, strict=True)]
    return None if None in values else fmean(values)


def made(first: Named, loads: Callable[[], Any]) -> list[Named]:
    """Streams on which history is a trap, and one on which nothing carries over."""
    redrawn = [Named(f"renewed {share:.0%}", partial(renewed, 7, share), 7) for share in RENEWED]
    return [
        *redrawn,
        replace(first, name=f"{first.name} shuffled", load=lambda: shuffled(loads(), 7)),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--streams", type=Path, help="folder of loaders.py")
    parser.add_argument("--vega", type=Path, help="flights-3m.parquet of vega-datasets")
    parser.add_argument("--only", default="", help="names that hold this text")
    parser.add_argument("--planners", default=",".join(PLANNERS))
    parser.add_argument("--seeds", type=int, default=len(SEEDS))
    parser.add_argument("--time", type=float, metavar="EDGES", help="also time plans of so many")
    parser.add_argument(
        "--gated",
        action="store_true",
        help="also the default planner where tables change only as a controller's would",
    )
    parser.add_argument(
        "--sampled",
        type=int,
        nargs="*",
        default=[],
        metavar="ROWS",
        help="planners `default, ROWS`: as where tasks take so many rows before they sample",
    )
    parser.add_argument("--parts", type=int, default=PARTS, help="partitions")
    parser.add_argument(
        "--executors",
        type=int,
        default=0,
        help="where those are fewer; also the planner `default, grouped`: keys are assigned to "
        "partitions as if each had an executor, and those grouped afterwards",
    )
    parser.add_argument("--out", type=Path, default=OUT)
    asked = parser.parse_args()
    sampled = {f"default, {rows}": Sampled(PLANNERS["default"], rows) for rows in asked.sampled}
    streams = all_streams(asked.streams, asked.vega)
    streams += made(streams[0], streams[0].load)
    done: dict[str, Any] = {}
    for stream in streams:
        if asked.only not in stream.name:
            continue
        cuts = stream.cuts()
        done[stream.name] = {"periods": len(cuts)}
        named = {name: PLANNERS[name] for name in asked.planners.split(",")}
        arms = {name: (plan, None) for name, plan in {**named, **sampled}.items()}
        if asked.gated:
            arms["default, gated"] = (PLANNERS["default"], OPEN_TO_ALL)
        if asked.executors:
            arms["default, grouped"] = (GroupedAfterwards(PLANNERS["default"]), None)
        for arm, (plan, gate) in arms.items():
            setup = Setup(plan, asked.parts, gate=gate, executors=asked.executors)
            found = figures(cuts, setup, SEEDS[: asked.seeds])
            done[stream.name][arm] = found
            print(f"{stream.name:20} {arm:16} {_line(found)}", file=sys.stderr, flush=True)
    timed = {"time": times(int(asked.time))} if asked.time else {}
    asked.out.parent.mkdir(parents=True, exist_ok=True)
    how = {"parts": asked.parts, "executors": asked.executors or asked.parts}
    result = {**described(), **how, "streams": done, **timed}
    asked.out.write_text(json.dumps(result, indent=2) + "\n")


def _line(found: dict[str, Any]) -> str:
    ratios = {
        k: "/".join(f"{v:.3f}" for v in found[k]) for k in ("imbalance_next", "imbalance_build")
    }
    return (
        f"next {found['locality_next']:.3f}, {ratios['imbalance_next']}, "
        f"build {ratios['imbalance_build']}, moved {found['moved_weight']:.3f}, "
        f"changed {found['periods_with_a_change']:.2f}, "
        f"error {found['prediction_error'] or 0:.3f}, {found['plan_s']:.2f} s"
    )


if __name__ == "__main__":
    main()
