"""Rivetti et al. 2015: imbalance of distribution-aware key grouping on Zipf streams."""

from __future__ import annotations

from statistics import fmean
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from baselines.greedy import plan_off_greedy

from keyroute.core.plan import Planner, PlanSettings
from keyroute.core.statistics import imbalance
from keyroute.core.table import Int64Array, no_tables
from keyroute.planners.dkg import plan_dkg
from papers.operators import QUERY, Operators, one_operator
from papers.report import Context, Figures, table
from papers.skewed import zipf

TITLE = "Rivetti et al. 2015, distribution-aware key grouping: Zipf streams"

KEYS = 10_000
LEARNED = 50_000
MEASURED = 200_000
EXPONENTS = (0.5, 0.8, 1.0, 1.2, 1.5, 2.0)
INSTANCES = (4, 5, 6, 8, 10)
SEEDS = (1, 2, 3)
THETAS = (0.3, 0.1, 0.03, 0.01, 0.003)
MUS = (1, 2, 4, 10, 50)
LEARNING = (100, 300, 1_000, 3_000, 10_000, 50_000)
THETA, MU = 0.1, 2
"""Those of the paper's figure 2, where k is 4."""
BUCKETS = 4_096
"""Slots for each instance: the planner deals mu buckets of them to each."""


def measure(context: Context) -> Figures:
    """Max/mean of the instances on messages after those learned from; means over seeds."""
    seeds, scale = (SEEDS[:1], 0.1) if context.quick else (SEEDS, 1.0)
    learned, measured = int(LEARNED * scale), int(MEASURED * scale)
    context.say("  by exponent and k")
    by_k = [
        {"k": k, "exponent": e, **_both(e, k, learned, measured, seeds)}
        for k in (INSTANCES[:1] if context.quick else INSTANCES)
        for e in (EXPONENTS[2:3] if context.quick else EXPONENTS)
    ]
    context.say("  by theta and mu")
    by_theta = [
        {"theta": t, "mu": m, "imbalance": _dkg(1.0, 10, learned, measured, seeds, t, m)}
        for t in (THETAS[1:2] if context.quick else THETAS)
        for m in MUS
    ]
    context.say("  by the length of the learning phase")
    by_length = [
        {"learned": n, "k": k, "imbalance": _dkg(1.0, k, n, measured, seeds, 1 / 20, 20)}
        for k in (4, 10)
        for n in LEARNING
        if n <= learned
    ]
    return {
        "learned": learned,
        "measured": measured,
        "by_k": by_k,
        "by_theta": by_theta,
        "by_length": by_length,
    }


def _both(
    exponent: float, k: int, learned: int, measured: int, seeds: tuple[int, ...]
) -> dict[str, Any]:
    """Of the paper's setting, of theta and mu as theorem 2.3 has them, of hash, of Off-Greedy.

    `bound` is the least max/mean that any grouping by key has: max(p1 k, 1).
    """
    streams = [_stream(exponent, k, learned + measured, seed) for seed in seeds]
    settings = {
        "dkg": (plan_dkg, {"theta": THETA, "mu": float(MU)}),
        "dkg, theorem": (plan_dkg, {"theta": 1 / (2 * k), "mu": 2.0 * k}),
        "Off-Greedy": (plan_off_greedy, {}),
        "hash": (None, {}),
    }
    found: dict[str, Any] = {
        name: fmean(_imbalance(s, planner, options, learned) for s in streams)
        for name, (planner, options) in settings.items()
    }
    p1 = fmean(float(np.bincount(_codes(s)[learned:]).max()) / measured for s in streams)
    return {**found, "p1": p1, "bound": max(p1 * k, 1.0)}


def _dkg(
    exponent: float,
    k: int,
    learned: int,
    measured: int,
    seeds: tuple[int, ...],
    theta: float,
    mu: float,
) -> float:
    options = {"theta": theta, "mu": float(mu)}
    return fmean(
        _imbalance(_stream(exponent, k, learned + measured, seed), plan_dkg, options, learned)
        for seed in seeds
    )


def _stream(exponent: float, k: int, messages: int, seed: int) -> Operators:
    # Keys are numbered by their rank: mixed, so that hashes of small numbers do not matter.
    names = np.random.default_rng(seed).permutation(10 * KEYS)
    return one_operator(names[zipf(exponent, KEYS, messages, seed)], k, BUCKETS * k)


def _codes(stream: Operators) -> Int64Array:
    return stream.codes[0]


def _imbalance(
    stream: Operators, planner: Planner | None, options: dict[str, float], learned: int
) -> float:
    """Learns on the first messages and measures on the rest."""
    tables = no_tables(QUERY)
    if planner is not None:
        period = stream.period(0, tables, 0, learned)
        # The bound of the planner's own tables is theta: nothing stays for the sake of staying.
        settings = PlanSettings(alpha=1.0, options=options)
        _, tables = stream.plan(planner, [period], tables, settings)
    return imbalance(stream.loads(tables, learned, len(_codes(stream)))[0])


def page(figures: Figures) -> str:
    by_k = [
        [
            str(of["k"]),
            str(of["exponent"]),
            f"{of['p1']:.1%}",
            *(f"{of[w]:.3f}" for w in ("hash", "dkg", "dkg, theorem", "Off-Greedy", "bound")),
            f"{of['hash'] / of['dkg']:.2f}",
            f"{of['hash'] / of['dkg, theorem']:.2f}",
        ]
        for of in figures["by_k"]
    ]
    mus = sorted({of["mu"] for of in figures["by_theta"]})
    cell = {(of["theta"], of["mu"]): of["imbalance"] for of in figures["by_theta"]}
    thetas = sorted({t for t, _ in cell}, reverse=True)
    by_theta = [[str(t), *(f"{cell[t, m]:.3f}" for m in mus)] for t in thetas]
    length = {(of["k"], of["learned"]): of["imbalance"] for of in figures["by_length"]}
    lengths = sorted({n for _, n in length})
    by_length = [[str(k), *(f"{length[k, n]:.3f}" for n in lengths)] for k in (4, 10)]
    ratios = [of["hash"] / of["dkg, theorem"] for of in figures["by_k"]]
    best = max(ratios)
    within = max(
        of["dkg, theorem"] / of["bound"] / (1 + 1 / (2 * of["k"])) for of in figures["by_k"]
    )
    said = [
        [
            "twice the throughput of modulo for k in 4, 5, 6, 8, 10, on a trace of players",
            f"up to {best:.2f} times on Zipf streams, by the load of the fullest instance",
        ],
        [
            "within (1 + theta) of the optimum",
            f"at worst {within:.3f} times (1 + theta) `bound`, on messages not learned from",
        ],
        [
            "all instances are well balanced",
            "`theorem` is close to 1 where p1 is below 1 / k, else at the bound",
        ],
    ]
    return f"""
Zipf streams over {KEYS:,} keys. `dkg` learns on {figures["learned"]:,} messages; the imbalance
(max/mean of the instances) is that of the next {figures["measured"]:,}. Means over seeds.

## By exponent and number of instances

`dkg` has the theta {THETA} and mu {MU} of the paper's figure 2; "theorem" has theta 1 / (2k)
and mu 2k, as theorem 2.3 wants them (mu ≥ 1 / theta ≥ k). `bound` is the least that any grouping
by key has, max(k p1, 1). The last columns are how many times hashing's throughput one has where
the fullest instance is the bottleneck.

{
        table(
            [
                "k",
                "exponent",
                "p1",
                "hash",
                "dkg",
                "dkg, theorem",
                "Off-Greedy",
                "bound",
                "hash / dkg",
                "hash / theorem",
            ],
            by_k,
        )
    }

The text at hand is the short version of the paper, with one figure: CPU use of 4 instances over
300 s. Its companion (DEBS 2015) has the simulations, whose figures are not at hand; their axes
are the ones here. What the text says can be compared:

{table(["the paper", "here"], said)}

The factor of two is of a trace on whose few dozen hot cells modulo does badly. In a Zipf stream
of exponent 2 the first key has more than half of the messages, which no grouping by key can
split: there `dkg` is at the bound, and hashing is not far from it.

## By theta and mu (exponent 1, k = 10)

{table(["theta", *(f"mu = {m}" for m in mus)], by_theta)}

With few buckets the largest of them decides, so mu helps until heavy keys do; a theta above the
frequency of all keys (0.3 here: the first key has about a tenth) leaves them in their buckets.

## By the length of the learning phase (exponent 1, theta 0.05, mu 20)

{table(["k", *(f"{n:,}" for n in lengths)], by_length)}

The paper finds that results do not get better after less than 1,000 tuples, on 4 instances and a
trace of few keys. Here, with {KEYS:,} keys, some more are of use, the more so for larger k.

![imbalance](dkg.png)
"""


def draw(figures: Figures) -> Any:
    figure, axes = plt.subplots(1, 3, figsize=(14, 4))
    for k, style in ((4, "-"), (10, "--")):
        rows = [of for of in figures["by_k"] if of["k"] == k]
        for way, color in (("hash", "grey"), ("dkg", "C0"), ("dkg, theorem", "C1"), ("bound", "k")):
            x = [of["exponent"] for of in rows]
            axes[0].plot(x, [of[way] for of in rows], style, color=color, label=f"{way}, k={k}")
    axes[0].set_xlabel("exponent of Zipf")
    for theta in dict.fromkeys(v["theta"] for v in figures["by_theta"]):
        of = [v for v in figures["by_theta"] if v["theta"] == theta]
        axes[1].plot([v["mu"] for v in of], [v["imbalance"] for v in of], ".-", label=f"Θ={theta}")
    axes[1].set_xlabel("mu (exponent 1, k = 10)")
    axes[1].set_xscale("log")
    for k in (4, 10):
        of = [v for v in figures["by_length"] if v["k"] == k]
        axes[2].plot([v["learned"] for v in of], [v["imbalance"] for v in of], ".-", label=f"k={k}")
    axes[2].set_xlabel("messages learned from (exponent 1)")
    axes[2].set_xscale("log")
    for axis in axes:
        axis.set_ylabel("imbalance (max/mean)")
        axis.legend(fontsize=7)
    return figure
