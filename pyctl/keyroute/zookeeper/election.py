"""Whose turn it is among several controllers: a lock in ZooKeeper that its holder's end frees.

Safety does not rest on it, since every write of a reconfiguration is a compare-and-set; it keeps
two controllers from planning against each other.
"""

from __future__ import annotations

import os
import secrets
import socket
import threading
import time
from contextlib import suppress

from kazoo.client import KazooClient
from kazoo.exceptions import KazooException
from kazoo.protocol.states import KazooState

from keyroute.zookeeper.paths import Tree
from keyroute.zookeeper.retry import FORBIDDEN, forbidden

_POLL_S = 0.1
_CANCEL_S = 2.0


def controller_id() -> str:
    """An id of this process for people and for compare-and-set: host, process and a random part."""
    return f"{socket.gethostname()}-{os.getpid()}-{secrets.token_hex(4)}"


class Leadership:
    """A turn that is waited for, held and given back. One use: make another for another turn.

    waiting → held      the lock was acquired
    waiting → cancelled `stop` was set, or the time was over
    held    → lost      the session expired: another may hold it now
    held    → released  `release`
    """

    def __init__(self, client: KazooClient, tree: Tree, identifier: str) -> None:
        self._client = client
        self._path = tree.election
        self._lock = client.Lock(tree.election, identifier)
        self._sessions_lost = 0
        self._acquired_after: int | None = None
        self._given_up = False
        self._forbidden: Exception | None = None
        client.add_listener(self._on_state)

    def acquire(self, stop: threading.Event, timeout_s: float | None = None) -> bool:
        """Waits for the turn; False where `stop` was set or `timeout_s` has passed first.

        kazoo's wait cannot be interrupted while ZooKeeper is away, so it has a thread of its own.
        Raises StoreForbidden where ZooKeeper does not let this user wait: asking again is no use.
        """
        thread = threading.Thread(target=self._wait, name="keyroute-election", daemon=True)
        thread.start()
        end = None if timeout_s is None else time.monotonic() + timeout_s
        while thread.is_alive():
            if stop.is_set() or (end is not None and time.monotonic() > end):
                self._given_up = True
                self._lock.cancel()
                thread.join(_CANCEL_S)
                break
            thread.join(_POLL_S)
        if self._forbidden is not None:
            raise forbidden(self._path) from self._forbidden
        return self.held

    @property
    def held(self) -> bool:
        """Whether the turn is ours: acquired, and the session that acquired it is not over."""
        return self._acquired_after == self._sessions_lost

    @property
    def suspended(self) -> bool:
        """Whether the connection is away: the turn may be another's by now."""
        return not self._client.connected

    def contenders(self) -> tuple[str, ...]:
        """Ids of all who wait or hold, holder first. Raises KazooException."""
        return tuple(self._lock.contenders())

    def release(self) -> None:
        """Gives the turn back; the end of the session does so where this cannot."""
        held, self._acquired_after = self.held, None
        self._client.remove_listener(self._on_state)
        if held and self._client.connected:
            self._unlock()

    def _wait(self) -> None:
        try:
            if not self._lock.acquire():
                return
            lost = self._sessions_lost
            if self._client.exists(f"{self._path}/{self._lock.node}") is None:
                return  # Acquired in a session that is over.
        except FORBIDDEN as error:
            self._forbidden = error
            return
        except KazooException:
            return  # Cancelled, or the connection went for good: the caller asks again.
        if self._given_up:
            self._unlock()
        else:
            self._acquired_after = lost

    def _unlock(self) -> None:
        # kazoo waits for an answer for ever, and ZooKeeper may go away at this very moment.
        thread = threading.Thread(target=self._free, name="keyroute-election", daemon=True)
        thread.start()
        thread.join(_CANCEL_S)

    def _free(self) -> None:
        # The end of the session does it where this cannot.
        with suppress(KazooException):
            self._lock.release()

    def _on_state(self, state: str) -> None:
        if state == KazooState.LOST:
            self._sessions_lost += 1
