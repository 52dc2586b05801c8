"""README, as a stranger does it: plain PySpark under `spark-submit` with the jar and the plugin, a
table by hand, and a look at it with the `keyroute` command and with ZooKeeper's own shell."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from subprocess import CompletedProcess, Popen
from typing import Any

from harness.cluster import PARTITIONS, jvm
from harness.commands import at, keyroute
from harness.eventually import eventually
from harness.feed import Feed
from harness.operators import CHAIN, differences
from harness.submit import submitted, zookeeper_shell

from keyroute.core.hashes import spark_hash
from keyroute.zookeeper.paths import Tree
from keyroute.zookeeper.server import ZooKeeperServer

_SCRIPT = Path(__file__).parent / "apps" / "pairs.py"
_KEYS = [f"k{i}" for i in range(200)]
_GROUPS = [f"g{i}" for i in range(13)]
_ALL_IN = 2
_START_S, _BATCH_S, _COMMAND_S = 120, 90, 180


class _Query:
    """The feed and the output of the script, and the commands that name it."""

    def __init__(self, process: Popen[bytes], folder: Path, where: tuple[str, ...]) -> None:
        self.process, self.out, self.where = process, folder / "out", where
        self.feed = Feed(folder / "in")

    def run(self, seconds: float = _BATCH_S) -> None:
        """One more batch, until its output is there. Some of its pairs are new, some are not."""
        number = len(self.feed.batches)
        drawn = random.Random(number)
        self.feed.put({"k": drawn.choice(_KEYS), "g": drawn.choice(_GROUPS)} for _ in range(400))
        eventually(
            seconds, f"batch {number}", lambda: self._lives() and self._file(number).exists()
        )

    def command(self, *arguments: str) -> Any:
        """What a command prints as JSON."""
        return _said(keyroute(*arguments, "--json", *self.where))

    def status(self, what: str, known: Callable[[Any], bool]) -> Any:
        """The query in `keyroute status`, once that of it is known: the driver tells beside its
        batches."""

        def look() -> Any:
            queries = self.command("status")["queries"]
            return next((query for query in queries if known(query)), None)

        return eventually(_BATCH_S, what, look)

    def change(self, *arguments: str) -> Any:
        """A command that waits for a batch: input comes until it has ended."""
        words = (*arguments, "--json", *self.where)
        with ThreadPoolExecutor(1) as thread:
            ended = thread.submit(keyroute, *words, timeout_s=_COMMAND_S)
            while not ended.done():
                self.run()
        return _said(ended.result())

    def differences(self) -> list[str]:
        """What was emitted beside a computation of the same input in Python; empty: exact."""
        numbers = range(len(self.feed.batches))
        emitted = {n: json.loads(self._file(n).read_text()) for n in numbers}
        return differences(CHAIN, emitted, self.feed.batches)

    def _file(self, batch: int) -> Path:
        return self.out / f"{batch}.json"

    def _lives(self) -> bool:
        assert self.process.poll() is None, "the application has ended"
        return True


def test_what_readme_promises(spark_zookeeper: ZooKeeperServer, tree: Tree, tmp_path: Path) -> None:
    jar = keyroute("jar")
    assert jar.returncode == 0, jar.stderr
    options = ("--master", "local-cluster[2,1,1100]", "--jars", jar.stdout.strip())
    conf = {
        "spark.plugins": "io.keyroute.spark.KeyRoutePlugin",
        "spark.keyroute.zookeeper.connect": spark_zookeeper.connect_string,
        "spark.keyroute.zookeeper.root": tree.root,
        "spark.executor.memory": "1000m",
        "spark.sql.shuffle.partitions": str(PARTITIONS),
        "spark.driver.extraJavaOptions": jvm({}),
        "spark.executor.extraJavaOptions": jvm({}),
        "spark.ui.enabled": "false",
    }
    folders = [str(tmp_path / name) for name in ("in", "out", "checkpoint")]
    (tmp_path / "in").mkdir()
    with submitted(tmp_path / "log", _SCRIPT, *folders, options=options, conf=conf) as process:
        query = _Query(process, tmp_path, at(spark_zookeeper, tree))
        query.run(_START_S)
        _by_hand(query, tmp_path, spark_zookeeper.connect_string, tree)
        query.run()
    assert not query.differences()


def _by_hand(query: _Query, folder: Path, connect: str, tree: Tree) -> None:
    found = query.status("the query's groups", lambda query: bool(query["groups"]))
    assert (found["name"], found["version"], found["problem"]) == ("pairs", 0, "")
    assert [(g["group"], g["key_columns"]) for g in found["groups"]] == [
        (0, ["g"]),
        (1, ["k", "g"]),
    ]
    assert all(operator["routed"] for operator in found["operators"])

    # By group, all to one partition; by pair, some to partitions of their own.
    pairs = [(k, g) for k in _KEYS[::3] for g in _GROUPS]
    some = {pair: number % PARTITIONS for number, pair in enumerate(pairs)}
    file = folder / "table.json"
    of_pairs = [{"key": list(pair), "partition": p} for pair, p in some.items()]
    of_groups = dict.fromkeys(_GROUPS, _ALL_IN)
    file.write_text(json.dumps({"groups": {"0": {"keys": of_groups}, "1": {"keys": of_pairs}}}))
    applied = query.change("tables", "apply", "pairs", str(file))
    assert (applied["version"], applied["committed"]) == (1, True)
    query.run()
    routed = query.status("a batch under version 1", lambda query: query["batches_seen"] > 0)
    assert (routed["version"], routed["since_batch"]) == (1, applied["batch"])
    assert routed["imbalance"]["0"] == PARTITIONS, "all rows of group 0 are in one partition"

    (listed,) = query.command("tables", "list", "pairs")
    assert (listed["version"], listed["state"]) == (1, "in force")
    shown = query.command("tables", "show", "pairs", "1")["groups"]
    of = [{_fingerprint(g): p for g, p in of_groups.items()}]
    of.append({_fingerprint(*pair): p for pair, p in some.items()})
    assert [group["fingerprints"] for group in shown] == of

    node = tree.query(found["query_id"])
    said = zookeeper_shell(
        connect, f"get {node}/in_force", f"ls {node}/tables", f"get {node}/tables/1/meta"
    )
    assert f'"version":1,"hash":"{listed["hash"]}","batch":{applied["batch"]}' in said, said
    assert any(line.endswith(" [1]") for line in said.splitlines()), said
    assert f'"entries":{len(some) + len(_GROUPS)}' in said, said

    back = query.change("tables", "reset", "pairs")
    assert (back["version"], back["committed"]) == (2, True)


def _said(ended: CompletedProcess[str]) -> Any:
    assert ended.returncode == 0, ended.stderr + ended.stdout
    return json.loads(ended.stdout)


def _fingerprint(*key: str) -> str:
    return str(spark_hash(list(key), ["string"] * len(key))[1])
