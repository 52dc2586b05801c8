"""What Spark did, task by task: its own event log of an application that has ended."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any


def settings(folder: Path) -> dict[str, str]:
    """What makes an application write one, in plain text."""
    folder.mkdir()
    return {
        "spark.eventLog.enabled": "true",
        "spark.eventLog.dir": folder.as_uri(),
        "spark.eventLog.compress": "false",
        "spark.eventLog.rolling.enabled": "false",
    }


@dataclass(frozen=True)
class Job:
    """A job: its description, and how many tasks its last stage has."""

    description: str
    stages: frozenset[int]
    tasks: int


@dataclass(frozen=True)
class Task:
    """An attempt of a task that ended."""

    stage: int
    index: int
    executor: str
    speculative: bool
    succeeded: bool


class EventLog:
    """The only application's in a folder."""

    def __init__(self, folder: Path) -> None:
        (file,) = folder.iterdir()
        self._events: list[dict[str, Any]] = [
            json.loads(line) for line in file.read_text().splitlines()
        ]

    def jobs(self, description: str) -> list[Job]:
        """Those whose description begins so, in order."""
        found = []
        for event in self._of("SparkListenerJobStart"):
            said = (event.get("Properties") or {}).get("spark.job.description", "")
            last = max(event["Stage Infos"], key=lambda stage: stage["Stage ID"])
            if said.startswith(description):
                found.append(Job(said, frozenset(event["Stage IDs"]), last["Number of Tasks"]))
        return found

    def tasks(self) -> list[Task]:
        """All attempts that ended, in order."""
        return [
            Task(
                event["Stage ID"],
                event["Task Info"]["Index"],
                event["Task Info"]["Executor ID"],
                event["Task Info"]["Speculative"],
                event["Task End Reason"]["Reason"] == "Success",
            )
            for event in self._of("SparkListenerTaskEnd")
        ]

    def _of(self, kind: str) -> Iterator[dict[str, Any]]:
        return (event for event in self._events if event["Event"] == kind)
