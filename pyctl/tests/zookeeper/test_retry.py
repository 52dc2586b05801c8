"""The retry repeats what may succeed later, and only that."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest
from kazoo.exceptions import BadVersionError, ConnectionLoss, NoAuthError

from keyroute.zookeeper.errors import StoreUnreachable
from keyroute.zookeeper.retry import Retry


@dataclass
class FakeTime:
    now: float = 0.0
    sleeps: list[float] = field(default_factory=list)

    def clock(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.sleeps.append(seconds)
        self.now += seconds


@dataclass
class Failing:
    errors: list[Exception]
    calls: int = 0

    def __call__(self) -> str:
        self.calls += 1
        if self.errors:
            raise self.errors.pop(0)
        return "done"


def _retry(time: FakeTime) -> Retry:
    return Retry(deadline_s=10.0, clock=time.clock, sleep=time.sleep)


def test_lost_connections_are_retried_with_growing_waits() -> None:
    time = FakeTime()
    operation = Failing([ConnectionLoss() for _ in range(6)])
    assert _retry(time)(operation) == "done"
    assert time.sleeps == [0.05, 0.1, 0.2, 0.4, 0.8, 1.0]


def test_the_deadline_ends_it() -> None:
    time = FakeTime()
    with pytest.raises(StoreUnreachable, match="ConnectionLoss"):
        _retry(time)(Failing([ConnectionLoss() for _ in range(100)]))
    assert time.now <= 10.0


@pytest.mark.parametrize("error", [NoAuthError(), BadVersionError()])
def test_other_errors_come_at_once(error: Exception) -> None:
    operation = Failing([error])
    with pytest.raises(type(error)):
        _retry(FakeTime())(operation)
    assert operation.calls == 1
