"""The one retry of all ZooKeeper operations, with the list of what is worth a retry."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from kazoo.exceptions import (
    AuthFailedError,
    ConnectionClosedError,
    ConnectionLoss,
    NoAuthError,
    OperationTimeoutError,
    SessionExpiredError,
)
from kazoo.handlers.threading import KazooTimeoutError

from keyroute.zookeeper.errors import StoreForbidden, StoreUnreachable

RETRYABLE: tuple[type[Exception], ...] = (
    ConnectionLoss,
    ConnectionClosedError,
    OperationTimeoutError,
    SessionExpiredError,
    KazooTimeoutError,
)
FORBIDDEN: tuple[type[Exception], ...] = (NoAuthError, AuthFailedError)

ResultT = TypeVar("ResultT")


@dataclass(frozen=True, slots=True)
class Retry:
    """Repeats an operation on the errors of RETRYABLE until `deadline_s` has passed.

    An operation that failed with one of them may have happened: what is repeated must be safe to
    do twice, or find out. `clock` (monotonic seconds) and `sleep` are arguments for tests.
    """

    deadline_s: float = 10.0
    first_delay_s: float = 0.05
    longest_delay_s: float = 1.0
    clock: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep

    def __call__(self, operation: Callable[[], ResultT]) -> ResultT:
        """The operation's result. Raises StoreUnreachable and its other errors."""
        end = self.clock() + self.deadline_s
        delay = self.first_delay_s
        while True:
            try:
                return operation()
            except RETRYABLE as error:
                if self.clock() + delay >= end:
                    raise StoreUnreachable(
                        f"ZooKeeper does not answer ({type(error).__name__})."
                    ) from error
            self.sleep(delay)
            delay = min(delay * 2, self.longest_delay_s)


def forbidden(path: str) -> StoreForbidden:
    """What one of FORBIDDEN means, for people."""
    return StoreForbidden(
        f"ZooKeeper refuses the access to {path}: start with the --zookeeper-auth-file that "
        "Spark's driver uses."
    )
