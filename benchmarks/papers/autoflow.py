"""Lu et al. 2021, figures 5 to 7: NEXMark bids with hot reducers, through a model of queues."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import matplotlib.pyplot as plt
import numpy as np

from keyroute.core.plan import PlanSettings
from keyroute.planners.autoflow import plan_autoflow
from papers import nexmark, queues
from papers.nexmark import Skew
from papers.operators import Operators, one_operator
from papers.report import Context, Figures, table

TITLE = "Lu et al. 2021, AutoFlow: figures 5 to 7"

PER_S = 5_000
SECONDS = 60
SLOTS_EACH = 16
HEADROOM = 1.3
"""What all reducers together can do, as a multiple of what comes."""
FACTOR = 0.05
SEED = 7


@dataclass(frozen=True)
class Workload:
    """One of the paper's workloads; `windows` are lengths of AutoFlow's window in intervals."""

    panels: str
    text: str
    reducers: int
    skews: tuple[Skew, ...]
    paper: str
    windows: tuple[int, ...] = (3,)


def _whole(share: float, *reducers: int) -> tuple[Skew, ...]:
    return (Skew(0, SECONDS, share, reducers),)


def _turns(share: float, reducers: int) -> tuple[Skew, ...]:
    return tuple(
        Skew(start, start + 10, share, (start // 10 % reducers,)) for start in range(0, SECONDS, 10)
    )


WORKLOADS = (
    Workload("5 a-d", "50 % to one of 3", 3, _whole(0.5, 1), "alleviated"),
    Workload("5 e-h", "80 % to one of 3", 3, _whole(0.8, 1), "solved from the start"),
    Workload("5 i-l", "60 % to two of 5", 5, _whole(0.6, 1, 3), "solved, slight spike"),
    Workload("5 m-o", "80 % to two of 5", 5, _whole(0.8, 1, 3), "alleviated"),
    Workload("6 a-b", "80 % for 20 s", 3, (Skew(15, 35, 0.8, (1,)),), "greatly reduced", (8, 3)),
    Workload("6 c-d", "80 % for 10 s", 3, (Skew(15, 25, 0.8, (1,)),), "to some extent", (8, 3, 1)),
    Workload("7 a-b", "50 %, in turns", 3, _turns(0.5, 3), "fixed but for one", (3, 1)),
    Workload("7 c-d", "80 %, in turns", 3, _turns(0.8, 3), "some fixed, some still there", (3, 1)),
)


def measure(context: Context) -> Figures:
    """Each workload without planner, and with each length of the window."""
    per_s = 300 if context.quick else PER_S
    found = []
    for workload in WORKLOADS[:1] if context.quick else WORKLOADS:
        stream = _stream(workload, per_s)
        capacity = HEADROOM * per_s / workload.reducers
        runs = {"none": queues.run(stream, per_s, capacity, None, PlanSettings())}
        for window in workload.windows:
            options = {"window": float(window), "factor": FACTOR, "rounds": 1.0}
            settings = PlanSettings(options=options)
            runs[str(window)] = queues.run(stream, per_s, capacity, plan_autoflow, settings)
        found.append(
            {
                "panels": workload.panels,
                "text": workload.text,
                "paper": workload.paper,
                "runs": {name: course.as_dict() for name, course in runs.items()},
            }
        )
        context.say(f"  figure {workload.panels}: {workload.text}")
    return {"per_s": per_s, "workloads": found}


def _stream(workload: Workload, per_s: int) -> Operators:
    count = per_s * SECONDS
    auctions = np.arange(int(nexmark.newest_auction(count)[-1]) + 1)
    n = workload.reducers
    operator = one_operator(auctions, n, SLOTS_EACH * n)
    owner = np.mod(operator.keys[0].hashes[0].astype(np.int64), SLOTS_EACH * n) % n
    made = nexmark.skewed_bids(count, per_s, SEED, owner.astype(np.int32), workload.skews)
    return replace(operator, codes=(made.auction,))


def page(figures: Figures) -> str:
    rows = [
        [
            of["panels"],
            of["text"],
            "none" if name == "none" else f"window {name}",
            f"{run['peak_s']:.2f}",
            f"{run['mean_s']:.2f}",
            f"{run['end_s']:.2f}",
            "" if name == "none" else str(run["moved_slots"]),
            "" if name == "none" else of["paper"],
        ]
        for of in figures["workloads"]
        for name, run in of["runs"].items()
    ]
    header = ["figure", "bids", "planner", "peak", "mean", "at the end", "slots moved"]
    return f"""
NEXMark bids, {figures["per_s"]:,} a second for {SECONDS} s, keyed by auction, with {SLOTS_EACH}
slots a reducer. The planner is `autoflow` with a factor of {FACTOR} and one step a second, as in
the paper's Algorithm 3. Latency, in seconds, is that of a model, of the reducer that has the
most: each reducer is a queue that takes at most {HEADROOM} / n of the bids that come. A table
planned after a second is in force {queues.DELAY_S} s later.

{table([*header, "the paper says of its latency"], rows)}

What is alike: with a hot reducer and no planner, latency grows as long as the skew lasts, the
faster the more skew; with `autoflow` the hot slots leave within seconds, and what queued before
is worked off. A shorter window sees a spike sooner. In turns, each reducer that becomes hot has
its peak before slots leave it.

What differs, and why: the paper measures Ray actors on three machines, where throughput itself
limits what comes in, so its latencies cannot be compared in size; here they depend on the
headroom alone. The paper names neither its number of slots and factor, nor lengths of the window.
It counts what was processed, KeyRoute what was routed: a reducer that is late shows its whole
load at once, so spikes of 10 s are caught here better than there. In turns, hot slots end up
spread over all reducers after a round here, so that later turns find no hot reducer; the paper's
later hotspots may come from wherever slots are by then. Moving a slot costs nothing in the model,
so the slight spikes that the paper sees while state moves are absent.

![latency and throughput](autoflow.png)
"""


def draw(figures: Figures) -> Any:
    workloads = figures["workloads"]
    figure, axes = plt.subplots(
        len(workloads), 4, figsize=(15, 2.4 * len(workloads)), squeeze=False
    )
    for row, of in zip(axes, workloads, strict=True):
        last = list(of["runs"])[-1]
        for column, name in ((0, "none"), (2, last)):
            run = of["runs"][name]
            row[column].plot(run["latency_s"])
            row[column + 1].plot(run["done"])
            planner = "no planner" if name == "none" else f"window {name}"
            row[column].set_title(f"{of['panels']}: {of['text']}, {planner}", fontsize=8)
            row[column].set_ylabel("latency, s", fontsize=8)
            row[column + 1].set_ylabel("bids / s", fontsize=8)
        top = max(row[0].get_ylim()[1], row[2].get_ylim()[1])
        row[0].set_ylim(0, top)
        row[2].set_ylim(0, top)
    return figure
