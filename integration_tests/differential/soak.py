"""Runs scenarios for as long as asked.

python -m differential.soak --minutes 60 --results FILE
python -m differential.soak --seed 123          # one scenario again
"""

from __future__ import annotations

import argparse
import json
import random
import tempfile
import time
import traceback
from collections.abc import Iterator
from pathlib import Path

from differential.bench import Bench, Verdict
from differential.scenario import draw
from differential.workloads import ALL


def soak(
    bench: Bench, seeds: Iterator[int], seconds: float, workloads: list[str], batches: int
) -> Iterator[Verdict]:
    """One verdict after another until the time is over. A run that breaks is a difference."""
    end = time.monotonic() + seconds
    for seed in seeds:
        if time.monotonic() > end:
            return
        scenario = draw(seed, batches, workloads)
        try:
            yield bench.run(scenario)
        except Exception:
            yield Verdict(scenario, 0, 0, (), [traceback.format_exc()])


def fresh(seed: int) -> Iterator[int]:
    """Seeds of scenarios, from a first one."""
    while True:
        yield seed
        seed += 1


def line(verdict: Verdict) -> str:
    """A verdict for people."""
    scenario = verdict.scenario
    end = "exact" if not verdict.differences else "DIFFERS: " + "; ".join(verdict.differences)
    faults = f", {', '.join(verdict.faults)}" if verdict.faults else ""
    return (
        f"seed {scenario.seed}: {scenario.workload} on {scenario.store}, "
        f"{scenario.batches} batches, {verdict.changes} of {len(scenario.changes)} changes, "
        f"{verdict.moved} rows moved{faults}: {end}"
    )


def record(verdict: Verdict) -> str:
    """A verdict as a line of the results file."""
    scenario = verdict.scenario
    return json.dumps(
        {
            "seed": scenario.seed,
            "workload": scenario.workload,
            "store": scenario.store,
            "batches": scenario.batches,
            "changes": verdict.changes,
            "moved": verdict.moved,
            "faults": verdict.faults,
            "differences": verdict.differences,
        }
    )


def main() -> None:
    parser = argparse.ArgumentParser(description="Random streams, changes and faults beside Spark.")
    parser.add_argument("--minutes", type=float, default=5, help="how long new scenarios start")
    parser.add_argument("--seed", type=int, help="run this scenario only")
    parser.add_argument("--first", type=int, help="seed of the first scenario (default: random)")
    parser.add_argument("--batches", type=int, default=10, help="input batches of a scenario")
    parser.add_argument("--workload", action="append", choices=sorted(ALL), help="only these")
    parser.add_argument("--master", default="local[2,4]", help="Spark's master")
    parser.add_argument("--results", type=Path, help="file that each verdict is appended to")
    asked = parser.parse_args()
    first = asked.first if asked.first is not None else random.randrange(1 << 30)
    seeds = iter([asked.seed]) if asked.seed is not None else fresh(first)
    folder = Path(tempfile.mkdtemp(prefix="keyroute-soak-"))
    failed = 0
    with Bench(folder, asked.master) as bench:
        workloads = asked.workload or list(ALL)
        for verdict in soak(bench, seeds, asked.minutes * 60, workloads, asked.batches):
            print(line(verdict), flush=True)
            failed += bool(verdict.differences)
            if asked.results:
                with asked.results.open("a") as out:
                    out.write(record(verdict) + "\n")
    raise SystemExit(f"{failed} scenarios differ: {folder}" if failed else 0)


if __name__ == "__main__":
    main()
