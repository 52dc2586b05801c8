"""Nasir et al. 2015, table II and figures 2 and 3: imbalance of groupings of messages."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from baselines import messages as grouping

from keyroute.core.table import Int32Array, Int64Array
from papers.report import Context, Figures, short, table
from papers.skewed import by_first_sight, log_normal
from papers.streams import streams as real_streams

TITLE = "Nasir et al. 2015, The Power of Both Choices: table II, figures 2 and 3"

WORKERS = (5, 10, 50, 100)
THROUGH_TIME = (10, 50)
SOURCES = (5, 10, 15, 20)
MESSAGES = 10_000_000
POINTS = 500
PROBES = 1_000
"""Times that sources learn the true loads, of L5P1: the paper has one a minute of some days."""
DRAWN = 50
MADE = {"LN1": (1.789, 2.366), "LN2": (2.245, 1.133)}
REAL = {
    "tail_dest": {0: "flights by tail number", 1: "flights by destination"},
    "git month": {0: "git by author", 1: "git by directory"},
    "vega": {0: "vega flights by origin"},
}

Group = Callable[[Int64Array, int], Int32Array]
WAYS: dict[str, Group] = {
    "PKG": grouping.partial_key_grouping,
    "Off-Greedy": grouping.off_greedy,
    "On-Greedy": grouping.on_greedy,
    "PoTC": grouping.static_potc,
    "Hashing": grouping.hashing,
}
PAPER = {
    "WP": {
        "PKG": ("0.8", "2.9", "5.9e5", "8.0e5"),
        "Off-Greedy": ("0.8", "0.9", "1.6e6", "1.8e6"),
        "On-Greedy": ("7.8", "1.4e5", "1.6e6", "1.8e6"),
        "PoTC": ("15.8", "1.7e5", "1.6e6", "1.8e6"),
        "Hashing": ("1.4e6", "1.7e6", "2.0e6", "2.0e6"),
    },
    "TW": {
        "PKG": ("0.4", "1.7", "2.74", "4.0e6"),
        "Off-Greedy": ("0.4", "0.7", "7.8e6", "2.0e7"),
        "On-Greedy": ("8.4", "92.7", "1.2e7", "2.0e7"),
        "PoTC": ("2.2e4", "5.1e3", "1.4e7", "2.0e7"),
        "Hashing": ("4.1e7", "3.7e7", "2.4e7", "3.3e7"),
    },
}
"""Table II: Wikipedia has 22 M messages, the first key 9.32 % of them; Twitter 1.2 G, 2.67 %."""
PAPER_DATA = {"LN1": ("10M", "16k", "14.71"), "LN2": ("10M", "1.1k", "7.01")}


def measure(context: Context) -> Figures:
    """Mean imbalance of each way on each stream, and imbalance through time of some."""
    streams: dict[str, Any] = {}
    for name, keys in _streams(context):
        rows = np.bincount(keys)
        streams[name] = {
            "messages": len(keys),
            "keys": len(rows),
            "p1": float(rows.max() / len(keys)),
            "imbalance": {
                way: [_mean(group(keys, workers), workers) for workers in WORKERS]
                for way, group in _ways().items()
            },
            "time": {str(w): _through_time(keys, w) for w in THROUGH_TIME},
        }
        context.say(f"  {name}: {len(keys):,} messages, {len(rows):,} keys")
    return {"workers": WORKERS, "streams": streams}


def _streams(context: Context) -> Iterator[tuple[str, Int64Array]]:
    for seed, (name, (mu, sigma)) in enumerate(MADE.items()):
        yield name, log_normal(mu, sigma, 20_000 if context.quick else MESSAGES, seed)
    if context.quick:
        return
    for named in real_streams(context.streams):
        if named.name in REAL:
            columns = named.cuts()[0].stream.columns
            for column, label in REAL[named.name].items():
                yield label, by_first_sight(columns[column].codes)


def _ways() -> dict[str, Group]:
    def local(sources: int) -> Group:
        return lambda keys, w: grouping.partial_key_grouping(keys, w, sources)

    return {**WAYS, **{f"L{sources}": local(sources) for sources in SOURCES}}


def _mean(chosen: Int32Array, workers: int) -> float:
    points = min(POINTS, len(chosen) // 1_000)
    return float(grouping.imbalance_at(chosen, workers, points).mean())


def _through_time(keys: Int64Array, workers: int) -> dict[str, list[float]]:
    probe = max(len(keys) // PROBES, 1)
    chosen = {
        "G": grouping.partial_key_grouping(keys, workers),
        "L5": grouping.partial_key_grouping(keys, workers, 5),
        "L5P1": grouping.partial_key_grouping(keys, workers, 5, probe),
        "H": grouping.hashing(keys, workers),
    }
    agree = float((chosen["G"] == chosen["L5"]).mean())
    found = {
        way: (grouping.imbalance_at(c, workers, DRAWN) / len(keys)).tolist()
        for way, c in chosen.items()
    }
    return {**found, "jaccard": [agree / (2 - agree)]}


def page(figures: Figures) -> str:
    streams = figures["streams"]
    first = [
        [
            name,
            *PAPER_DATA.get(name, ("", "", "")),
            f"{of['messages']:,}",
            f"{of['keys']:,}",
            f"{of['p1']:.2%}",
        ]
        for name, of in streams.items()
    ]
    theirs = [
        [f"paper's {name}", str(w), *(of[way][i] for way in WAYS)]
        for name, of in PAPER.items()
        for i, w in enumerate(WORKERS)
    ]
    ours = [
        [name, str(w), *(short(of["imbalance"][way][i]) for way in WAYS)]
        for name, of in streams.items()
        for i, w in enumerate(WORKERS)
    ]
    locals_ = [
        [name, str(w), *(f"{of['imbalance'][way][i] / of['messages']:.1e}" for way in _figure_2())]
        for name, of in streams.items()
        for i, w in enumerate(WORKERS)
    ]
    jaccard = [
        [name, *(f"{of['time'][str(w)]['jaccard'][0]:.0%}" for w in THROUGH_TIME)]
        for name, of in streams.items()
    ]
    return f"""
## The streams

{table(["stream", "paper: messages", "keys", "p1 in %", "here: messages", "keys", "p1"], first)}

The paper gives mu and sigma, and no more of how LN1 and LN2 were drawn. Draws rounded to whole
numbers have its number of keys and its p1, so that is how they are made here. Wikipedia, Twitter
and the graphs are not at hand: flights (and others, with a folder of streams) stand for real
ones.

## Table II: mean imbalance (most loaded worker above the mean, in messages) while the stream runs

{table(["stream", "W", *WAYS], theirs + ours)}

As in the paper: PKG stays within a few messages as long as it can, no way that keeps a key whole
does, hashing is worst, and where the first key is too heavy for W workers all ways that keep it
whole are alike. What differs, and why:

- Absolute numbers scale with the messages: 22 M and 1.2 G there, 10 M and fewer here. Imbalance
  that must grow with the stream is, in the mean, half of what it is at the end.
- p1 of LN1 and LN2 is large for the W of the table. The first key on two workers is p1 / 2 each:
  that is above 1 / W from W = 2 / p1 on, 13.6 for LN1 and 28.6 for LN2. There PKG is at (p1 / 2 -
  1 / W) / 2 of the messages, the others at (p1 - 1 / W) / 2, which the rows of 50 and 100 show.
- At W = 10, PKG is not balanced on LN1 and LN2, but by far better than most. The theorem of the
  paper is for p1 of at most 1 / (5 W). Here it is more, and with these hash functions there are
  some workers which have both candidates of keys with more messages than their share: no choice
  can help.
- On git, popular authors change with time: Off-Greedy balances all of the stream and not its
  course, so that On-Greedy is ahead of it for few workers.

## Figure 2: mean imbalance as a share of the messages, global and local estimation

{table(["stream", "W", *_figure_2().values()], locals_)}

The paper has no numbers to this figure, but says that the difference from G is always below one
order of magnitude. That holds for 5 sources, and wherever G is off by more than a few messages.
Where G is off by one to ten, that of each source adds up, and 20 sources are off by up to 20
times as much: still some 100 messages of 10 M.

## Figure 3: through time, 5 sources

The picture has G, L5, L5P1 (all sources learn the true loads {PROBES:,} times) and H. The Jaccard
overlap of G's and L5's choices was 47 % in the paper:

{table(["stream", *(f"W = {w}" for w in THROUGH_TIME)], jaccard)}

Probing brings nothing, as in the paper. Where little is out of balance it makes things worse:
sources that just learned the same loads all choose the same workers.

![figures 2 and 3](pkg.png)
"""


def _figure_2() -> dict[str, str]:
    return {"Hashing": "H", "PKG": "G", **{f"L{s}": f"L{s}" for s in SOURCES}}


def draw(figures: Figures) -> Any:
    streams = figures["streams"]
    shown = [*MADE, *(name for name in streams if name not in MADE)][:4]
    figure, axes = plt.subplots(3, len(shown), figsize=(4 * len(shown), 10), squeeze=False)
    for column, name in enumerate(shown):
        of = streams[name]
        axes[0, column].set_title(name)
        for way, label in _figure_2().items():
            share = np.array(of["imbalance"][way]) / of["messages"]
            axes[0, column].plot(range(len(WORKERS)), np.maximum(share, 1e-9), "o-", label=label)
        axes[0, column].set_xticks(range(len(WORKERS)), [str(w) for w in WORKERS])
        axes[0, column].set_xlabel("workers (figure 2)")
        for row, w in enumerate(THROUGH_TIME, start=1):
            for way, values in of["time"][str(w)].items():
                if way != "jaccard":
                    at = np.arange(1, len(values) + 1) / len(values)
                    axes[row, column].plot(at, np.maximum(values, 1e-9), label=way)
            axes[row, column].set_xlabel(f"share of the stream, W = {w} (figure 3)")
        for axis in axes[:, column]:
            axis.set_yscale("log")
    axes[0, 0].legend(fontsize=7)
    axes[1, 0].legend(fontsize=7)
    for axis in axes[:, 0]:
        axis.set_ylabel("imbalance / messages")
    return figure
