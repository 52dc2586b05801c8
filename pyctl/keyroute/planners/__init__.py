"""Planners by name: entry points of the group `keyroute.planners`.

Another package adds a planner by an entry point `name = "module:function"` in that group.
"""

from __future__ import annotations

from importlib.metadata import entry_points

from keyroute.core.plan import Planner
from keyroute.planners.albic import plan_albic
from keyroute.planners.autoflow import plan_autoflow
from keyroute.planners.dkg import plan_dkg
from keyroute.planners.hash import plan_hash
from keyroute.planners.metis import plan_metis

GROUP = "keyroute.planners"
DEFAULT = "metis"

_BUILT_IN: dict[str, Planner] = {
    "albic": plan_albic,
    "autoflow": plan_autoflow,
    "dkg": plan_dkg,
    "hash": plan_hash,
    "metis": plan_metis,
}


class UnknownPlanner(ValueError):
    """No planner of that name; the message lists those there are."""


def names() -> tuple[str, ...]:
    """Names of all planners, built in and installed, ascending."""
    return tuple(sorted({*_BUILT_IN, *(e.name for e in entry_points(group=GROUP))}))


def load(name: str) -> Planner:
    """The planner of that name. Raises `UnknownPlanner`."""
    if name in _BUILT_IN:
        return _BUILT_IN[name]
    for entry in entry_points(group=GROUP):
        if entry.name == name:
            planner: Planner = entry.load()
            return planner
    raise UnknownPlanner(f"there is no planner {name!r}; there are: {', '.join(names())}")
