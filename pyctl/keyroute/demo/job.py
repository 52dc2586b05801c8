"""The demo's processes: the Spark application and the controller."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

EXECUTORS = 3
PARTITIONS = 3
_EXECUTOR_MB = 1200

# What a cluster would have by itself, or what keeps three executors on one machine honest.
_SPARK_CONF = {
    "spark.executor.memory": "1100m",
    # Bytes from another executor of this machine count as remote.
    "spark.shuffle.readHostLocalDisk": "false",
    "spark.sql.shuffle.partitions": str(PARTITIONS),
    "spark.ui.enabled": "false",
    # transformWithState needs column families, which only RocksDB has.
    "spark.sql.streaming.stateStore.providerClass": (
        "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
    ),
    "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled": "true",
}

# What differs from the controller's defaults, since a year passes in minutes here: it looks more
# often, waits for as many rows as tell the months apart, and moves for smaller gains.
CONTROLLER_FLAGS = ("--interval=5", "--min-rows=110000", "--min-gain=0.01")


@dataclass(frozen=True, slots=True)
class Job:
    """One run of examples/airline.py under KeyRoute.

    Attributes:
        example: the user's code, which knows nothing of KeyRoute.
        jar: the plugin.
        work: folder of the run: in/, out/, checkpoint/, logs.
    """

    example: Path
    jar: Path
    work: Path
    zookeeper: str
    token_file: Path

    def start_spark(self) -> subprocess.Popen[bytes]:
        """spark-submit, as a user would run it: our jar, our plugin, and where ZooKeeper is."""
        conf = {
            **_SPARK_CONF,
            "spark.plugins": "io.keyroute.spark.KeyRoutePlugin",
            "spark.keyroute.zookeeper.connect": self.zookeeper,
            "spark.keyroute.gateway.tokenFile": str(self.token_file),
        }
        command = [
            sys.executable,
            "-c",
            "from pyspark.find_spark_home import _find_spark_home as f; import os, sys;"
            "os.execv(p := f() + '/bin/spark-submit', [p, *sys.argv[1:]])",
            f"--master=local-cluster[{EXECUTORS},1,{_EXECUTOR_MB}]",
            f"--jars={self.jar}",
            *(f"--conf={key}={value}" for key, value in conf.items()),
            str(self.example),
            f"--input={self.work / 'in'}",
            f"--output={self.work / 'out'}",
            f"--checkpoint={self.work / 'checkpoint'}",
        ]
        environment = {
            **os.environ,
            "PYSPARK_PYTHON": sys.executable,
            "SPARK_WORKER_DIR": str(self.work / "executors"),
        }
        return self._start(command, "spark.log", environment)

    def start_controller(self) -> subprocess.Popen[bytes]:
        """The controller daemon."""
        command = [
            sys.executable,
            "-m",
            "keyroute.cli.main",
            "controller",
            f"--zookeeper={self.zookeeper}",
            f"--gateway-token-file={self.token_file}",
            *CONTROLLER_FLAGS,
        ]
        return self._start(command, "controller.log", dict(os.environ))

    def _start(
        self, command: list[str], log: str, environment: dict[str, str]
    ) -> subprocess.Popen[bytes]:
        with (self.work / log).open("wb") as output:
            return subprocess.Popen(
                command, stdout=output, stderr=subprocess.STDOUT, env=environment
            )


def stop(process: subprocess.Popen[bytes], seconds: float = 20) -> int:
    """Ends a process: SIGTERM first, SIGKILL where that does not do it in time."""
    process.terminate()
    try:
        return process.wait(seconds)
    except subprocess.TimeoutExpired:
        process.kill()
        return process.wait()
