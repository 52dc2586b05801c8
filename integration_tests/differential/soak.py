"""Runs scenarios for as long as asked.

python -m differential.soak --minutes 60 --results FILE
python -m differential.soak --first 123 --count 1   # with the options it was drawn with: one again
python -m differential.soak --again FILE            # the scenarios of a file of results again
"""

from __future__ import annotations

import argparse
import itertools
import json
import random
import shutil
import subprocess
import tempfile
import time
import traceback
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from pathlib import Path

from harness.bare_files import bare_files
from harness.cluster import QUICK
from harness.standalone import standalone_cluster
from harness.tests_jar import class_path

from differential.bench import Bench, Verdict
from differential.scenario import Scenario, draw, from_json, to_json
from differential.workloads import ALL

_HOSTS = 2


def soak(bench: Bench, scenarios: Iterable[Scenario], seconds: float) -> Iterator[Verdict]:
    """One verdict after another until the time is over. A run that breaks is a difference."""
    end = time.monotonic() + seconds
    for scenario in scenarios:
        if time.monotonic() > end:
            return
        try:
            yield bench.run(scenario)
        except Exception:
            yield Verdict(scenario, [], [], [], [f"broke: {traceback.format_exc()}"])


def recorded(results: Path) -> Iterator[Scenario]:
    """The scenarios of a file of results."""
    for text in results.read_text().splitlines():
        yield from_json(json.loads(text)["scenario"])


def line(verdict: Verdict) -> str:
    """A verdict for people."""
    scenario = verdict.scenario
    end = "exact"
    if verdict.differences:
        again = json.dumps({"scenario": to_json(scenario)})
        end = f"DIFFERS: {'; '.join(verdict.differences)}\n  --again a file of this line: {again}"
    faults = list(itertools.chain(*verdict.faults))
    told = f", {', '.join(faults)}" if faults else ""
    asked = sum(len(trial.changes) for trial in scenario.trials)
    return (
        f"seed {scenario.seed}: {scenario.workload} on {scenario.store}, "
        f"{scenario.batches} batches, {len(scenario.trials)} trials, "
        f"{sum(verdict.changes)} of {asked} changes, {sum(verdict.moved)} rows moved{told}: {end}"
    )


def record(verdict: Verdict, commit: str) -> str:
    """A verdict as a line of the results file."""
    return json.dumps(
        {
            "commit": commit,
            "scenario": to_json(verdict.scenario),
            "changes": verdict.changes,
            "moved": verdict.moved,
            "faults": verdict.faults,
            "differences": verdict.differences,
        }
    )


def _commit() -> str:
    command = ["git", "describe", "--always", "--dirty"]
    said = subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()
    return said or "unknown"


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description="Random streams, changes and faults beside Spark.")
    parser.add_argument("--minutes", type=float, default=5, help="how long new scenarios start")
    parser.add_argument("--first", type=int, help="seed of the first scenario (default: random)")
    parser.add_argument("--count", type=int, help="run so many at most")
    parser.add_argument("--again", type=Path, help="run the scenarios of a file of results")
    parser.add_argument("--batches", type=int, default=8, help="input batches of a scenario")
    parser.add_argument("--trials", type=int, default=4, help="runs with changes of a scenario")
    parser.add_argument("--workload", action="append", choices=sorted(ALL), help="only these")
    parser.add_argument(
        "--cluster",
        action="store_true",
        help="changes on a cluster: executors fail, tasks are copied",
    )
    parser.add_argument(
        "--as-users", action="store_true", help="without settings that make short tests quick"
    )
    parser.add_argument("--results", type=Path, help="file that each verdict is appended to")
    return parser


def _scenarios(asked: argparse.Namespace, bench: Bench) -> Iterator[Scenario]:
    if asked.again:
        yield from recorded(asked.again)
        return
    first = asked.first if asked.first is not None else random.randrange(1 << 30)
    workloads = asked.workload or list(ALL)
    for seed in itertools.count(first):
        yield draw(seed, asked.batches, asked.trials, workloads, bench.faults)


def main() -> None:
    asked = _parser().parse_args()
    folder = Path(tempfile.mkdtemp(prefix="keyroute-soak-"))
    conf = class_path() if asked.as_users else {**QUICK, **bare_files()}
    commit = _commit()
    failed = 0
    with ExitStack() as stack:
        cluster = stack.enter_context(standalone_cluster(folder, _HOSTS)) if asked.cluster else None
        bench = stack.enter_context(Bench(folder, conf, cluster))
        scenarios = itertools.islice(_scenarios(asked, bench), asked.count)
        for verdict in soak(bench, scenarios, asked.minutes * 60):
            print(line(verdict), flush=True)
            failed += bool(verdict.differences)
            if asked.results:
                with asked.results.open("a") as out:
                    out.write(record(verdict, commit) + "\n")
    if failed:
        raise SystemExit(f"{failed} scenarios differ: {folder}")
    shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
