"""Lets a client in again where ZooKeeper is younger than what the client has seen.

A server that lost its data counts its changes from zero again. It turns away every client that has
seen a higher count, and kazoo comes back with the same count for ever. When the connection is away
for as long as a session lives, the session is over, and its count binds nobody.
"""

from __future__ import annotations

import threading

from kazoo.client import KazooClient
from kazoo.protocol.states import KazooState


class FreshStart:
    """A listener of a client's state."""

    def __init__(self, client: KazooClient, session_timeout_s: float) -> None:
        self._client = client
        self._session_timeout_s = session_timeout_s
        self._timer: threading.Timer | None = None

    def __call__(self, state: str) -> None:
        """Called by kazoo, on its own thread, at each change of state."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if state != KazooState.CONNECTED:
            self._timer = threading.Timer(self._session_timeout_s, self._forget)
            self._timer.daemon = True
            self._timer.start()

    def _forget(self) -> None:
        if not self._client.connected:
            self._client.last_zxid = 0
