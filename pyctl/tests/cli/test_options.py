"""How QUERY names a query."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import cast

import pytest

from keyroute.cli.exits import Usage
from keyroute.cli.options import find_query
from keyroute.zookeeper.errors import StoreForbidden
from keyroute.zookeeper.paths import Tree
from keyroute.zookeeper.payloads import Live, QueryMeta
from keyroute.zookeeper.store import QueryState, Store, StoredReconfiguration

LIVE = Live("app-1", "run")


@dataclass
class Queries:
    """A store that has nothing but the names of queries; `forbidden` ones cannot be read."""

    states: dict[str, QueryState]
    forbidden: set[str] = field(default_factory=set)
    tree: Tree = field(default_factory=lambda: Tree("/keyroute"))

    def query_ids(self) -> tuple[str, ...]:
        return tuple(sorted(self.states))

    def query(self, query_id: str) -> QueryState:
        if query_id in self.forbidden:
            raise StoreForbidden("another user's")
        return self.states[query_id]


def _query(query_id: str, name: str) -> QueryState:
    meta = QueryMeta(query_id, name, ())
    return QueryState(query_id, meta, None, None, None, StoredReconfiguration(None), ())


def _store(**names: str) -> Queries:
    return Queries({query_id: _query(query_id, name) for query_id, name in names.items()})


def _find(queries: Queries, wanted: str) -> str:
    return find_query(cast(Store, queries), wanted)


def test_an_id_wins_over_a_name_and_a_name_over_the_beginning_of_an_id() -> None:
    queries = _store(a1f3="orders", b2="a", c3="b2")
    assert _find(queries, "a") == "b2"
    assert _find(queries, "b2") == "b2"
    assert _find(queries, "a1") == _find(queries, "orders") == "a1f3"


def test_several_that_fit_are_named_but_for_one_that_runs() -> None:
    queries = _store(a1="orders", a2="orders", a3="orders")
    for wanted in ("a", "orders"):
        with pytest.raises(Usage, match="fits several queries: a1, a2, a3"):
            _find(queries, wanted)
    queries.states["a2"] = replace(queries.states["a2"], live=LIVE)
    assert _find(queries, "orders") == "a2"


@pytest.mark.parametrize("wanted", ["z", ""])
def test_what_names_no_query_is_wrong_usage(wanted: str) -> None:
    with pytest.raises(Usage, match="No query"):
        _find(_store(a1=""), wanted)


def test_a_query_that_may_not_be_read_hides_no_other() -> None:
    queries = _store(a1="x", b1="orders")
    queries.forbidden.add("a1")
    assert _find(queries, "orders") == "b1"
    assert _find(queries, "a") == "a1"
