"""Splits a collocated set into pieces that are small enough, with few rows between them.

By balanced graph partitioning (METIS), into halves until they are small enough: asked for many
parts of few vertices at once, METIS fails.
"""

from __future__ import annotations

import numpy as np
import pymetis
from numpy.typing import NDArray
from scipy.sparse import csr_array

from keyroute.core.graph import FloatArray
from keyroute.core.table import Int64Array
from keyroute.planners.albic_model import Model

METIS_SEED = 42


def split(
    model: Model, between: csr_array, members: Int64Array, max_load: float, budget: float
) -> list[Int64Array]:
    """Pieces of some key groups, none above the load or the cost unless it is one key group.

    The weights of vertices are their cost or their load, whichever asks for more pieces.
    """
    pieces: list[Int64Array] = []
    open_ = [members]
    while open_:
        inside = open_.pop()
        by_load = _most(model, inside, model.load) / max_load
        by_cost = _most(model, inside, model.cost) / budget if budget > 0 else 0.0
        if len(inside) == 1 or max(by_load, by_cost) <= 1:
            pieces.append(inside)
            continue
        weight = model.load if by_load >= by_cost else model.cost
        second = _halves(between[inside][:, inside].tocsr(), weight[inside])
        open_ += [inside[second], inside[~second]]
    return pieces


def _most(model: Model, inside: Int64Array, values: FloatArray) -> float:
    """The largest sum of any group."""
    return float(np.bincount(model.group[inside], values[inside]).max())


def _halves(graph: csr_array, weight: FloatArray) -> NDArray[np.bool_]:
    """Which vertices are in the second half; neither half is empty."""
    if len(weight) > 2:
        try:
            _, parts = pymetis.part_graph(
                2,
                pymetis.CSRAdjacency(graph.indptr.astype(np.int32), graph.indices.astype(np.int32)),
                vweights=_integers(weight),
                eweights=np.maximum(_integers(graph.data), 1),
                recursive=True,
                options=pymetis.Options(seed=METIS_SEED),
            )
            second: NDArray[np.bool_] = np.asarray(parts) == 1
            if second.any() and not second.all():
                return second
        except RuntimeError:
            pass
    # Every other one by weight.
    second = np.zeros(len(weight), bool)
    second[np.argsort(weight, kind="stable")[::2]] = True
    return second


def _integers(values: FloatArray) -> NDArray[np.int32]:
    return np.rint(values * (1e8 / max(float(values.sum()), 1e-300))).astype(np.int32)
