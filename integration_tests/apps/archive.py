"""Writes the archives of Spark's classes that tests start with, one for each class path."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

from harness.archives import archive
from harness.bare_files import bare_files
from harness.child import environment
from harness.cluster import JVM
from harness.feed import Feed, rows
from harness.killable import write_config
from harness.operators import AGGREGATE

from keyroute.zookeeper.server import ZooKeeperServer

_BATCHES = 2
_TIMEOUT_S = 300


def write(conf: Mapping[str, str], folder: Path, zookeeper: str) -> None:
    """Runs a query to its end in one JVM, which then writes what classes it has loaded."""
    file = archive(conf)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.unlink(missing_ok=True)
    feed = Feed(folder / "in")
    for batch in range(_BATCHES):
        feed.put(rows(batch))
    options = f"{JVM} -XX:ArchiveClassesAtExit={file} -Xlog:cds*=off"
    asked = {**conf, "spark.master": "local[2]", "spark.driver.extraJavaOptions": options}
    config = write_config(AGGREGATE, folder, zookeeper, "/keyroute", asked)
    (folder / "markers" / "end").touch()
    # The JVM holds the output open: what it printed is complete when it has ended.
    done = subprocess.run(
        [sys.executable, str(Path(__file__).with_name("counting.py")), str(config)],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env=environment(),
        timeout=_TIMEOUT_S,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    assert file.exists(), done.stdout


def main() -> None:
    with ZooKeeperServer() as server:
        for conf in ({}, bare_files()):
            with tempfile.TemporaryDirectory() as folder:
                write(conf, Path(folder), server.connect_string)


if __name__ == "__main__":
    main()
