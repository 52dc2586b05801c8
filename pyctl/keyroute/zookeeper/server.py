"""A one-node ZooKeeper on loopback, run from the jars that PySpark ships.

The embedded default of the demo, the tests and `keyroute zookeeper`; a cluster has its own.
"""

from __future__ import annotations

import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from types import TracebackType

from keyroute.zookeeper.errors import ServerError
from keyroute.zookeeper.java import find_java, find_spark_jars

HOST = "127.0.0.1"
_MAIN = "org.apache.zookeeper.server.ZooKeeperServerMain"
_ATTEMPTS_AT_A_FREE_PORT = 3


class ZooKeeperServer:
    """Starts and stops one ZooKeeper process; a context manager.

    `port` 0 takes a free one. `data_dir` None uses a temporary folder that goes with the server.
    `tick_ms` bounds session timeouts to 2 to 20 ticks. `start` may be called again after `stop`:
    the port and the data are kept until `close`.
    """

    def __init__(
        self,
        *,
        port: int = 0,
        data_dir: Path | None = None,
        tick_ms: int = 2000,
        start_timeout_s: float = 60.0,
    ) -> None:
        self._wanted_port = port
        self._port = port
        self._tick_ms = tick_ms
        self._start_timeout_s = start_timeout_s
        self._temporary = data_dir is None
        self._data_dir = data_dir
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def port(self) -> int:
        """The port it listens on; 0 before the first start where a free one was asked for."""
        return self._port

    @property
    def connect_string(self) -> str:
        """What clients connect to, as 127.0.0.1:2181."""
        return f"{HOST}:{self._port}"

    @property
    def _dir(self) -> Path:
        if self._data_dir is None:
            self._data_dir = Path(tempfile.mkdtemp(prefix="keyroute-zookeeper-"))
        return self._data_dir

    @property
    def log_file(self) -> Path:
        """What the server printed."""
        return self._dir / "zookeeper.log"

    def start(self) -> None:
        """Starts the process and returns once it answers. Raises ServerError."""
        if self._process is not None:
            raise ServerError(f"This ZooKeeper runs already, on {self.connect_string}.")
        java, jars = find_java(), find_spark_jars()
        attempts = 1 if self._port else _ATTEMPTS_AT_A_FREE_PORT
        for attempt in range(1, attempts + 1):
            self._port = self._port or free_port()
            if _accepts(self._port):
                raise ServerError(f"Port {self._port} is in use: choose another with --port.")
            try:
                self._launch(java, jars)
                return
            except ServerError:
                self.stop()
                self._port = self._wanted_port
                if attempt == attempts:
                    raise

    def stop(self) -> None:
        """Ends the process and waits for it; the data stay. Does nothing where none runs."""
        process, self._process = self._process, None
        if process is None:
            return
        process.terminate()
        try:
            process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

    def close(self) -> None:
        """Stops, and removes the data where they were temporary."""
        self.stop()
        if self._temporary and self._data_dir is not None:
            shutil.rmtree(self._data_dir, ignore_errors=True)
            self._data_dir = None

    def wait(self, until: Callable[[float], bool]) -> None:
        """Blocks until `until(0.5)` is true. Raises ServerError if the process ends before."""
        while not until(0.5):
            self._require_alive()

    def __enter__(self) -> ZooKeeperServer:
        try:
            self.start()
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _launch(self, java: str, jars: Path) -> None:
        self._dir.mkdir(parents=True, exist_ok=True)
        configuration = self._dir / "zoo.cfg"
        configuration.write_text(self._configuration(), encoding="utf-8")
        command = [
            java,
            "-Xmx512m",
            "-XX:+UseSerialGC",
            "-Dlog4j2.level=WARN",
            "-Dzookeeper.preAllocSize=4096",
            "-cp",
            f"{jars}/*",
            _MAIN,
            str(configuration),
        ]
        with self.log_file.open("ab") as log:
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        self._wait_until_it_answers()

    def _configuration(self) -> str:
        return "\n".join(
            [
                f"tickTime={self._tick_ms}",
                f"dataDir={self._dir / 'data'}",
                f"clientPort={self._port}",
                f"clientPortAddress={HOST}",
                "admin.enableServer=false",
                "4lw.commands.whitelist=isro",
                "autopurge.snapRetainCount=3",
                "autopurge.purgeInterval=1",
                "",
            ]
        )

    def _wait_until_it_answers(self) -> None:
        deadline = time.monotonic() + self._start_timeout_s
        while not is_ok(self._port):
            self._require_alive()
            if time.monotonic() > deadline:
                raise ServerError(
                    f"ZooKeeper on {self.connect_string} does not answer after "
                    f"{self._start_timeout_s:.0f} s; its log: {self.log_file}."
                )
            time.sleep(0.05)

    def _require_alive(self) -> None:
        if self._process is None or self._process.poll() is None:
            return
        log = self.log_file.read_text(encoding="utf-8", errors="replace").strip()
        last = log.splitlines()[-3:] if log else ["(it printed nothing)"]
        raise ServerError("ZooKeeper ended by itself; it said: " + " / ".join(last))


def free_port() -> int:
    """A loopback port that nothing listened on a moment ago."""
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        port: int = probe.getsockname()[1]
        return port


def is_ok(port: int) -> bool:
    """Whether a ZooKeeper on loopback takes writes, by its command `isro`.

    `ruok` is answered well before that; who connects in between may wait in vain until its session
    is over.
    """
    try:
        with socket.create_connection((HOST, port), timeout=2) as connection:
            connection.sendall(b"isro")
            return connection.recv(16) == b"rw"
    except OSError:
        return False


def _accepts(port: int) -> bool:
    try:
        with socket.create_connection((HOST, port), timeout=1):
            return True
    except OSError:
        return False
