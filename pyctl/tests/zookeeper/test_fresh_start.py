"""A client forgets what it has seen once its session must be over, and not before."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field

from kazoo.protocol.states import KazooState

from keyroute.zookeeper.fresh_start import FreshStart

_SOON_S = 0.01
_NEVER_S = 3600.0
_WAIT_S = 10.0


@dataclass
class _Client:
    connected: bool = False
    forgot: threading.Event = field(default_factory=threading.Event)
    _zxid: int = 700

    @property
    def last_zxid(self) -> int:
        return self._zxid

    @last_zxid.setter
    def last_zxid(self, value: int) -> None:
        self._zxid = value
        self.forgot.set()


def test_a_connection_that_stays_away_is_begun_anew() -> None:
    client = _Client()
    FreshStart(client, _SOON_S)(KazooState.SUSPENDED)
    assert client.forgot.wait(_WAIT_S)
    assert client.last_zxid == 0


def test_a_connection_that_comes_back_keeps_what_it_has_seen() -> None:
    client = _Client()
    listener = FreshStart(client, _NEVER_S)
    listener(KazooState.SUSPENDED)
    (timer,) = [t for t in threading.enumerate() if isinstance(t, threading.Timer)]
    listener(KazooState.CONNECTED)
    timer.join(_WAIT_S)
    assert not timer.is_alive()
    assert client.last_zxid == 700


def test_one_that_is_back_at_the_last_moment_keeps_it_too() -> None:
    client = _Client(connected=True)
    listener = FreshStart(client, _SOON_S)
    listener(KazooState.SUSPENDED)
    for timer in [t for t in threading.enumerate() if isinstance(t, threading.Timer)]:
        timer.join(_WAIT_S)
    assert client.last_zxid == 700
