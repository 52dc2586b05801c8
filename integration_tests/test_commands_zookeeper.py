"""The `keyroute` command on a real ZooKeeper, with a driver that keeps its side."""

from __future__ import annotations

import json
import signal
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

import pytest
from harness.commands import at, keyroute, started
from harness.eventually import eventually
from harness.fake_driver import FakeDriver
from harness.tables import QUERY, shape, tables
from harness.zookeeper import TICK_MS

from keyroute.core.hashes import spark_hash
from keyroute.zookeeper.paths import Tree
from keyroute.zookeeper.server import ZooKeeperServer, is_ok
from keyroute.zookeeper.store import Store

Run = Callable[..., CompletedProcess[str]]


@pytest.fixture
def run(zookeeper: ZooKeeperServer, tree: Tree) -> Run:
    """A command on the test's root."""
    return lambda *arguments: keyroute(*arguments, *at(zookeeper, tree))


def _file(folder: Path, groups: object) -> str:
    file = folder / "table.json"
    file.write_text(json.dumps({"groups": groups}))
    return str(file)


@pytest.mark.parametrize("node", ["wanted", "in_force", "reconfiguration"])
def test_damaged_nodes_of_one_query_leave_the_others_alone(
    run: Run, driver: FakeDriver, store: Store, node: str
) -> None:
    bad = "0bad0bad-0000-4000-8000-000000000000"
    path = f"{store.tree.queries}/{bad}/{node}"
    with driver.running():
        store.tables.session.create(path, b"\xcc\x00 no message")
        shown = run("status", "--json")
        assert shown.returncode == 0, shown.stderr
        said = json.loads(shown.stdout)
        assert [query["query_id"] for query in said["queries"]] == [QUERY]
        (sentence,) = said["damaged"]
        assert sentence.startswith(f"The znode {path} is damaged")
        assert f"The znode {path}" in run("status").stdout.replace("\n", "")
        assert run("tables", "list", "flights").returncode == 0
        itself = run("tables", "list", bad)
        assert itself.returncode == 1
        assert path in itself.stderr.replace("\n", "")


def test_a_table_is_applied_shown_compared_and_reset(
    run: Run, driver: FakeDriver, store: Store, tmp_path: Path
) -> None:
    file = _file(tmp_path, {"0": {"keys": {"N1": 2, "N2": 1}}, "1": {"fingerprints": {"-7": 0}}})
    with driver.running():
        applied = run("tables", "apply", QUERY, file, "--json")
        assert applied.returncode == 0, applied.stderr
        said = json.loads(applied.stdout)
        assert (said["version"], said["phase"], said["committed"]) == (1, "COMMIT", True)
        assert said["groups"] == [
            {"group": 0, "key_columns": ["tailnum"], "entries": 2, "slots_moved": 0},
            {"group": 1, "key_columns": ["tailnum"], "entries": 1, "slots_moved": 0},
        ]
        slots = _file(tmp_path, {"1": {"slotOwners": [0] * shape().slots}})
        reset = run("tables", "reset", "flights")
        assert reset.returncode == 0, reset.stderr
        assert "Version 2 is in force since batch 2" in reset.stdout
        assert "group 0 (by tailnum): Spark's own routing" in reset.stdout
        part = run("tables", "apply", QUERY, slots)
        assert part.returncode == 0, part.stderr
        moved = shape().slots * 2 // 3
        assert f"group 1 (by tailnum): {moved} slots moved" in part.stdout
    assert store.tables.read(QUERY, 2).groups == ()

    shown = json.loads(run("tables", "show", QUERY[:8], "1", "--json").stdout)
    fingerprints = {str(spark_hash([key], ["string"])[1]): p for key, p in (("N1", 2), ("N2", 1))}
    assert shown["groups"][0]["fingerprints"] == fingerprints
    assert shown["groups"][0]["entriesOfPartition"] == [0, 1, 1]
    assert "2 entries" in run("tables", "show", QUERY, "1").stdout
    assert "where Spark would send it" in run("tables", "show", QUERY, "2").stdout

    listed = json.loads(run("tables", "list", QUERY, "--json").stdout)
    states = [(row["version"], row["state"]) for row in listed]
    assert states == [(1, ""), (2, ""), (3, "in force")]
    compared = json.loads(run("tables", "diff", QUERY, "1", "2", "--json").stdout)
    assert [(row["group"], row["removed"], row["added"]) for row in compared] == [
        (0, 2, 0),
        (1, 1, 0),
    ]


def test_what_cannot_be_applied_has_a_code_and_a_sentence(
    run: Run, driver: FakeDriver, tmp_path: Path
) -> None:
    wrong = run("tables", "apply", QUERY, _file(tmp_path, {"9": {}}))
    assert wrong.returncode == 2
    assert "no group 9; its groups: 0, 1" in wrong.stderr
    nothing = run("tables", "apply", QUERY, _file(tmp_path, {}))
    assert nothing.returncode == 2
    assert "names no group" in nothing.stderr
    assert run("tables", "list", "nobody").returncode == 2
    missing = run("tables", "show", QUERY, "5")
    assert missing.returncode == 1
    assert "no table version 5" in missing.stderr

    driver.refusal = "wrong shape"
    with driver.running():
        refused = run("tables", "reset", QUERY)
    assert refused.returncode == 1
    assert "wrong shape" in refused.stderr


def test_the_same_command_again_finishes_a_change_and_another_one_is_refused(
    run: Run, driver: FakeDriver, store: Store, tmp_path: Path
) -> None:
    file = _file(tmp_path, {"0": {"keys": {"N1": 2, "N2": 1}}})
    driver.poll()
    for _ in range(2):
        late = run("tables", "apply", QUERY, file, "--timeout", "0.3")
        assert late.returncode == 4, late.stderr
        assert "or the same command again" in late.stdout.replace("\n", " ")
    again = "Version 1 was published before and is under way: group 0 (by tailnum): 2 entries"
    assert again in late.stdout.replace("\n", " ")
    for other in (("apply", QUERY, _file(tmp_path, {"0": {"keys": {"N1": 1}}})), ("reset", QUERY)):
        busy = run("tables", *other)
        assert busy.returncode == 1
        said = busy.stderr.replace("\n", " ")
        assert "The change to version 1 is under way (PUBLISH)" in said
        assert "a running controller, or `keyroute controller --once`, finishes it" in said

    _file(tmp_path, {"0": {"keys": {"N2": 1, "N1": 2}}})
    with driver.running():
        finished = run("tables", "apply", QUERY, file, "--json")
    assert finished.returncode == 0, finished.stderr
    ended = json.loads(finished.stdout)
    assert (ended["version"], ended["phase"], ended["committed"]) == (1, "COMMIT", True)
    assert store.tables.numbers(QUERY) == (1,)

    # An ended change is no longer under way: the same tables are a change of their own.
    for _ in range(2):
        assert run("tables", "reset", QUERY, "--timeout", "0.3").returncode == 4
    with driver.running():
        reset = run("tables", "reset", QUERY)
        assert reset.returncode == 0, reset.stderr
        assert "Version 2 is in force since batch 2" in reset.stdout
        anew = json.loads(run("tables", "reset", QUERY, "--json").stdout)
    assert (anew["version"], anew["committed"]) == (3, True)


def test_status_works_without_a_gateway(
    run: Run, driver: FakeDriver, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("KEYROUTE_GATEWAY_TOKEN", raising=False)
    store.tables.write(tables(1), by="test", now_ms=0)
    said = json.loads(run("status", "--json").stdout)
    assert [application["app_id"] for application in said["applications"]] == ["app-1"]
    (query,) = said["queries"]
    assert (query["query_id"], query["name"], query["running"]) == (QUERY, "flights", True)
    assert query["versions"] == [1]
    assert "no token" in query["problem"]
    assert driver.version == query["version"] == 0
    people = run("status")
    assert people.returncode == 0
    assert "Spark's own routing" in people.stdout
    assert [group["key_columns"] for group in query["groups"]] == [["tailnum"], ["tailnum"]]
    assert "tailnum string" in people.stdout


def test_once_and_dry_run_fail_where_statistics_cannot_be_read(
    run: Run, driver: FakeDriver
) -> None:
    for options in (["--once"], ["--dry-run"]):
        result = run("controller", *options, "--planner", "hash", "--json")
        assert result.returncode == 3, result.stderr
        (report,) = json.loads(result.stdout)
        assert (report["label"], report["version"], report["plan"]) == ("flights", 0, None)
        assert "no statistics" in report["sentence"]
        assert report["unread"]
    assert driver.version == 0


def test_what_cannot_be_dumped_leaves_no_file(run: Run, driver: FakeDriver, tmp_path: Path) -> None:
    unread = run("dump", "flights", str(tmp_path / "dump"))
    assert unread.returncode == 3, unread.stderr
    assert "There are no statistics of flights" in unread.stderr.replace("\n", " ")
    assert run("dump", "nobody", str(tmp_path / "dump")).returncode == 2
    assert not list(tmp_path.iterdir())
    assert driver.version == 0


def test_the_daemon_logs_a_sentence_and_stops_on_sigterm(
    zookeeper: ZooKeeperServer, tree: Tree, driver: FakeDriver, tmp_path: Path
) -> None:
    log = tmp_path / "controller.log"
    with started(log, "controller", "--planner", "hash", *at(zookeeper, tree)) as process:
        eventually(20, "a sentence", lambda: "flights: stays: no statistics" in log.read_text())
        process.send_signal(signal.SIGTERM)
        assert process.wait(20) == 0
    assert "stopped" in log.read_text()
    assert driver.version == 0


def test_no_zookeeper_is_a_code_of_its_own() -> None:
    result = keyroute("controller", "--planner", "hash", "--zookeeper", "127.0.0.1:1")
    assert result.returncode == 3
    assert "No ZooKeeper answers at 127.0.0.1:1" in result.stderr


def test_the_server_command_prints_its_address_and_stops(tmp_path: Path) -> None:
    log = tmp_path / "out"
    with started(log, "zookeeper", "--port", "0", "--data-dir", str(tmp_path / "zk")) as process:
        eventually(30, "an address", lambda: "127.0.0.1:" in log.read_text())
        port = int(log.read_text().rsplit(":", 1)[1])
        assert is_ok(port)
        process.send_signal(signal.SIGTERM)
        assert process.wait(20) == 0
    assert not is_ok(port)


def test_a_daemon_that_lost_zookeeper_says_so_goes_on_and_still_stops(
    tree: Tree, tmp_path: Path
) -> None:
    log = tmp_path / "controller.log"
    with ZooKeeperServer(tick_ms=TICK_MS) as own:
        arguments = ("controller", "--planner", "hash", *at(own, tree))
        with started(log, *arguments) as process:
            eventually(20, "its turn", lambda: _count(log, "this controller's turn: ") == 1)
            own.stop()
            eventually(20, "a warning", lambda: "ZooKeeper does not answer" in log.read_text())
            own.start()
            eventually(60, "it is back", lambda: "ZooKeeper answers again" in log.read_text())
            own.stop()
            eventually(20, "a warning", lambda: _count(log, "ZooKeeper does not answer") == 2)
            process.send_signal(signal.SIGTERM)
            assert process.wait(20) == 0
    assert "Traceback" not in log.read_text()


def _count(log: Path, text: str) -> int:
    return log.read_text().count(text)
