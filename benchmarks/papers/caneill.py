"""Caneill et al. 2016, figures 11a, 11b and 12: locality and balance, over time and by edges."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from statistics import fmean
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from baselines.reference import plan_reference

from keyroute import planners
from keyroute.core.plan import Plan, Planner, PlanRequest, PlanSettings
from keyroute.core.statistics import EdgeStatistics, GroupStatistics, PairCounts, Period
from keyroute.planners.answer import answer
from keyroute.simulate.replay import Setup, replay
from keyroute.simulate.result import Step
from keyroute.simulate.stream import Cut
from papers.report import Context, Figures, table
from papers.streams import streams

TITLE = "Caneill et al. 2016, Locality-Aware Routing: figures 11a, 11b and 12"

PARTS = 6
PARALLELISMS = (2, 4, 6)
SHARES = (0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0)
"""Of the edges of a period that are kept: the heaviest."""
SEED = 1
ORDER = (
    "tail_dest",
    "git month",
    "carrier_route",
    "green taxi",
    "tail_route",
    "git quarter",
    "flightno_tail",
    "vega",
)
"""Streams of figure 11, the longest last."""
BY_EDGES = ("tail_dest", "git month")
"""Streams of figure 12."""
ITS_PERIODS = 6


def measure(context: Context) -> Figures:
    """Each stream: plain METIS each period, once, never; and KeyRoute's own planner."""
    over_time: Figures = {}
    by_edges: Figures = {}
    found: Figures = {"parts": PARTS, "over_time": over_time, "by_edges": by_edges}
    there = {named.name: named for named in streams(context.streams)}
    for name in ORDER[:1] if context.quick else ORDER:
        if name not in there:
            continue
        cuts = there[name].cuts()[: 4 if context.quick else None]
        if name in BY_EDGES:
            by_edges[name] = _by_edges(cuts, context.quick)
            context.say(f"  figure 12, {name}")
        over_time[name] = _over_time(cuts)
        context.say(f"  figure 11, {name}: {len(cuts)} periods of {there[name].days} days")
        context.keep(found)
    return found


def _over_time(cuts: Sequence[Cut]) -> dict[str, Any]:
    online = _replay(cuts, plan_reference, PARTS)
    return {
        "begins": [
            str(np.datetime64(cut.begins, "ns").astype("datetime64[D]")) for cut in cuts[1:]
        ],
        "online": _series(online),
        "offline": _series(_replay(cuts, once(plan_reference), PARTS)),
        "keyroute": _series(_replay(cuts, planners.load(planners.DEFAULT), PARTS)),
        "hash": {
            "locality": [s.hash.locality for s in online],
            "imbalance": [list(s.hash.imbalance) for s in online],
        },
        "same": fmean(s.same.locality for s in online),
    }


def _by_edges(cuts: Sequence[Cut], quick: bool) -> list[dict[str, Any]]:
    """Locality on the next period, and balance, by share of edges; means over some periods."""
    first = len(cuts) // 2
    some = cuts[first : first + (2 if quick else ITS_PERIODS)] if len(cuts) > 2 else cuts
    found = []
    for parts in PARALLELISMS[:1] if quick else PARALLELISMS:
        for share in SHARES[-2:] if quick else SHARES:
            steps = _replay(some, top_edges(plan_reference, share), parts)
            found.append(
                {
                    "parts": parts,
                    "share": share,
                    "edges": round(share * fmean(_edges(cut) for cut in some[:-1])),
                    "locality": fmean(s.next.locality for s in steps),
                    "imbalance": fmean(max(s.next.imbalance) for s in steps),
                    "imbalance_same": fmean(max(s.same.imbalance) for s in steps),
                }
            )
    return found


def once(planner: Planner) -> Planner:
    """Offline: plans when there are no tables, then keeps them."""

    def plan(request: PlanRequest) -> Plan:
        if not request.current.version:
            return planner(request)
        groups = [request.current.group(shape) for shape in request.shapes]
        return answer(request, groups, request.current.parts, "offline: the first tables stay")

    return plan


def top_edges(planner: Planner, share: float) -> Planner:
    """A planner that knows no more than the heaviest edges: their keys, and their rows."""

    def plan(request: PlanRequest) -> Plan:
        periods = tuple(_less(period, share) for period in request.periods)
        return planner(replace(request, periods=periods))

    return plan


def _less(period: Period, share: float) -> Period:
    edges = tuple(_top(edge, share) for edge in period.edges)
    return replace(
        period, edges=edges, groups=tuple(_without_keys(group) for group in period.groups)
    )


def _top(edge: EdgeStatistics, share: float) -> EdgeStatistics:
    pairs = edge.pairs
    count = max(round(share * len(pairs.counts)), 1)
    kept = np.argsort(-pairs.counts, kind="stable")[:count]
    fields = pairs.upstream, pairs.downstream, pairs.counts, pairs.errors
    return replace(edge, pairs=PairCounts(pairs.rows, *(f[kept] for f in fields)))


def _without_keys(group: GroupStatistics) -> GroupStatistics:
    """The paper has no sketch of keys: their weights are those of their edges."""
    keys = group.keys
    none = keys.fingerprints[:0]
    return replace(
        group, keys=replace(keys, fingerprints=none, counts=none, errors=none, slots=none)
    )


def _replay(cuts: Sequence[Cut], planner: Planner, parts: int) -> list[Step]:
    return list(replay(cuts, Setup(planner, parts, PlanSettings(seed=SEED))))


def _series(steps: list[Step]) -> dict[str, Any]:
    return {
        "locality": [s.next.locality for s in steps],
        "imbalance": [list(s.next.imbalance) for s in steps],
    }


def _edges(cut: Cut) -> int:
    size = len(cut.stream.columns[1].values)
    return len(np.unique(cut.codes(0) * size + cut.codes(1)))


WAYS = ("hash", "online", "offline", "keyroute")


def page(figures: Figures) -> str:
    over_time = figures["over_time"]
    locality = [
        [
            name,
            str(len(of["begins"])),
            *(f"{fmean(of[way]['locality']):.1%}" for way in ("hash", "online", "offline")),
            f"{fmean(of['offline']['locality'][:3]):.1%} → "
            f"{fmean(of['offline']['locality'][-3:]):.1%}",
            f"{of['same']:.1%}",
            f"{fmean(of['keyroute']['locality']):.1%}",
        ]
        for name, of in over_time.items()
    ]
    balance = [
        [name, *(_balance(of[way]["imbalance"]) for way in WAYS)] for name, of in over_time.items()
    ]
    edges = [
        [
            name,
            str(of["parts"]),
            f"{of['share']:.1%}",
            f"{of['edges']:,}",
            f"{of['locality']:.1%}",
            f"{of['imbalance_same']:.2f}",
            f"{of['imbalance']:.2f}",
        ]
        for name, all_of in figures["by_edges"].items()
        for of in all_of
    ]
    head = ["stream", "hash", "online", "offline", "KeyRoute"]
    return f"""
Streams of two keys at a parallelism of {figures["parts"]}. Online: plain METIS on the last
period, each period, as in the paper (`baselines.reference`). Offline: once, after the first. Each
is measured on periods after the one planned from. KeyRoute: its default planner, each period. The
picture has the first four streams over time.

## Figure 11a: locality on the next period, means

{
        table(
            [
                "stream",
                "periods",
                "hash",
                "online",
                "offline",
                "offline, first 3 → last 3",
                "online, on its own period",
                "KeyRoute",
            ],
            [
                [
                    "paper: Twitter, week",
                    "about 25",
                    "16.6%",
                    "about 50%",
                    "",
                    "49% → 40%",
                    "75%",
                    "",
                ],
                *locality,
            ],
        )
    }

## Figure 11b: imbalance (max/mean) on the next period, the worse operator: mean, worst period

{
        table(
            head,
            [
                ["paper: Twitter, week", "1.12", "close to 1, with spikes", "about 1.4", ""],
                *balance,
            ],
        )
    }

As in the paper: hash has about 1 / n; a table of one period has far more on the next, and less
than on the period that it was made of, because keys are new and partners change. Where partners
change, offline falls with time, and online stays where it was; where they do not, both are alike.
Tables that balance what was counted drift from balance with the next period, and online is put
right each period.

What differs, and why: Twitter's 173 M pairs in 25 weeks are not at hand. Flights by aircraft and
destination behave like them closely. These streams are smaller and have fewer keys, so that
single keys weigh more: hash is further from balance than in the paper, and any table is nearer.
Bursts, where a stream has them, are not in the period before, and no table is balanced then.

## Figure 12: locality by number of edges kept

The paper: more edges bring more locality; with 0.1 % of them, locality at a parallelism of 6 is
twice that of hash; 10^6 edges are enough there.

{
        table(
            ["stream", "n", "edges kept", "of a period", "locality next", "imbalance same", "next"],
            edges,
        )
    }

Alike: more edges bring more locality, on a logarithmic scale. What differs, and why: a period has
some thousand edges here, so 0.1 % of them are a handful, where the paper's are tens of thousands;
and edges are less skewed than those of hashtags. With flights, locality at a parallelism of 6 is
twice that of hash with some 30 % of the edges. Balance suffers from few edges as much as
locality: METIS sees of a key only the rows of its edges that were kept, and all else is left to
the hash of keys. That is why KeyRoute takes loads from exact counts of slots.

![locality, imbalance and edges](caneill.png)
"""


def _balance(imbalances: list[list[float]]) -> str:
    worse = [max(of) for of in imbalances]
    return f"{fmean(worse):.2f}, {max(worse):.2f}"


def draw(figures: Figures) -> Any:
    shown = list(figures["over_time"].items())[:4]
    figure, axes = plt.subplots(3, max(len(shown), 2), figsize=(16, 10), squeeze=False)
    for column, (name, of) in enumerate(shown):
        days = np.array(of["begins"], dtype="datetime64[D]")
        for way in WAYS:
            axes[0, column].plot(days, of[way]["locality"], label=way)
            axes[1, column].plot(days, [max(v) for v in of[way]["imbalance"]], label=way)
        axes[0, column].set_title(name)
        axes[0, column].set_ylim(0, 1)
        for row in (0, 1):
            axes[row, column].tick_params(axis="x", rotation=45)
    for axis in axes[:2, len(shown) :].flat:
        axis.set_axis_off()
    axes[0, 0].set_ylabel("locality (11a)")
    axes[1, 0].set_ylabel("imbalance (11b)")
    axes[0, 0].legend(fontsize=7)
    for axis in axes[2]:
        axis.set_axis_off()
    for axis, (name, all_of) in zip(axes[2], figures["by_edges"].items(), strict=False):
        axis.set_axis_on()
        for parts in dict.fromkeys(of["parts"] for of in all_of):
            points = [of for of in all_of if of["parts"] == parts]
            x, y = [of["edges"] for of in points], [of["locality"] for of in points]
            axis.plot(x, y, ".-", label=f"n = {parts}")
        axis.set_xscale("log")
        axis.set_ylim(0, 1)
        axis.set_title(f"{name}: locality by edges (12)", fontsize=9)
        axis.legend(fontsize=7)
    return figure
