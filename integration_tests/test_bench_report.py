"""The table of what soaks ran counts what their files say."""

from __future__ import annotations

from differential import report
from differential.bench import Verdict
from differential.scenario import Fault, Scenario, Trial
from differential.soak import record

_TRIALS = (Trial({1: 7, 2: None}, (Fault("driver", 2, "route"),)), Trial({3: 8}))


def _line(query: str, store: str, *differences: str, broke: bool = False) -> str:
    scenario = Scenario(1, query, store, 5, _TRIALS)
    happened = [("driver at route", "copy-after"), ()]
    if broke:
        return record(Verdict(scenario, [], [], [], ["broke: no ZooKeeper"]), "abc")
    return record(Verdict(scenario, [2, 1], [30, 4], happened, list(differences)), "abc")


def _cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip("|").split("|")]


def test_a_row_for_each_query_and_store_and_one_for_all() -> None:
    lines = [
        _line("totals", "rocksdb-1-changelog"),
        _line("totals", "hdfs"),
        _line("totals", "hdfs", "trial 1: batch 3 differs", "trial 1: the state differs"),
        _line("distinct", "hdfs", broke=True),
    ]
    columns, _, *rows = map(_cells, report.table(lines).splitlines())
    found = [dict(zip(columns, row, strict=True)) for row in rows]
    assert [(row["query"], row["provider, format"]) for row in found] == [
        ("distinct", "HDFS-backed"),
        ("totals", "HDFS-backed"),
        ("totals", "RocksDB, 1, changelog"),
        ("all", "all"),
    ]
    broken, twice, once, everything = found
    assert (broken["runs"], broken["runs that broke"], broken["runs that differ"]) == (
        "2",
        "2",
        "0",
    )
    assert (twice["runs"], twice["reconfigurations"], twice["state rows moved"]) == ("4", "6", "68")
    assert (twice["runs that differ"], once["runs that differ"]) == ("1", "0")
    assert (once["driver killed"], once["attempt copied"]) == ("1", "1")
    assert (once["executor killed"], once["attempt failed"]) == ("0", "0")
    assert (everything["runs"], everything["reconfigurations"]) == ("8", "9")
