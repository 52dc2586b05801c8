"""A worker's process: started, asked, killed, started again."""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
import threading
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

from harness.child import environment
from harness.executors import kill_an_executor_of

_ANSWER_S = 240.0


class WorkerDied(Exception):
    """The process ended while it was asked something."""


class Lane:
    """One Spark application after another, for the runs of one kind."""

    def __init__(self, folder: Path, config: dict[str, Any]) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._log = folder / "log"
        self._config = folder / "config.json"
        self._config.write_text(json.dumps({**config, "token": str(folder / "token")}))
        self._process: subprocess.Popen[str] | None = None

    def ask(self, do: str, **arguments: Any) -> Any:
        """The worker's answer. Raises RuntimeError with its traceback, or WorkerDied."""
        self.send(do, **arguments)
        return self.answer()

    def send(self, do: str, **arguments: Any) -> None:
        """Asks without waiting; `answer` must follow."""
        process = self._running()
        assert process.stdin is not None
        process.stdin.write(json.dumps({"do": do, **arguments}) + "\n")
        process.stdin.flush()

    def has_answered(self) -> bool:
        """Whether `answer` would not wait: there is an answer, or the process has ended."""
        assert self._process is not None
        return bool(select.select([self._process.stdout], [], [], 0)[0])

    def answer(self) -> Any:
        """The answer to what was sent."""
        assert self._process is not None
        assert self._process.stdout is not None
        # A worker that hangs is killed: then there is no more line.
        deadline = threading.Timer(_ANSWER_S, self._process.kill)
        deadline.start()
        try:
            return self._read(self._process.stdout)
        finally:
            deadline.cancel()

    def _read(self, lines: IO[str]) -> Any:
        for line in lines:
            if line.startswith("{"):
                answer = json.loads(line)
                if "error" in answer:
                    raise RuntimeError(answer["error"])
                return answer["ok"]
        raise WorkerDied(f"see {self._log}")

    def kill(self) -> None:
        """SIGKILL to the driver and all that it started."""
        process, self._process = self._process, None
        if process is None:
            return
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        for pipe in (process.stdin, process.stdout):
            assert pipe is not None
            # What was not flushed is for a process that is gone.
            with suppress(BrokenPipeError):
                pipe.close()

    def kill_an_executor(self) -> None:
        """SIGKILL to one executor of the application."""
        kill_an_executor_of(self.ask("application"))

    def _running(self) -> subprocess.Popen[str]:
        if self._process is None:
            with self._log.open("ab") as log:
                self._process = subprocess.Popen(
                    [sys.executable, "-m", "differential.worker", str(self._config)],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=log,
                    env=environment(),
                    start_new_session=True,
                    text=True,
                )
            self.answer()
        return self._process
