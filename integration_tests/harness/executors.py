"""The executors' processes of an application on local-cluster."""

from __future__ import annotations

import os
import signal
import subprocess

from pyspark.sql import SparkSession

_MAIN = "CoarseGrainedExecutorBackend"


def kill_an_executor(spark: SparkSession) -> int:
    """SIGKILL to one executor of this process's application; its process id."""
    driver = str(spark.sparkContext._gateway.proc.pid)
    listing = subprocess.run(["ps", "-eo", "pid,ppid,args"], capture_output=True, text=True)
    for line in listing.stdout.splitlines():
        pid, parent, *args = line.split()
        if parent == driver and any(arg.endswith(_MAIN) for arg in args):
            os.kill(int(pid), signal.SIGKILL)
            return int(pid)
    raise AssertionError(f"no executor is a child of the driver {driver}")
