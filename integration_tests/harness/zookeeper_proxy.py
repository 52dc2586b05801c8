"""A proxy before a ZooKeeper that holds one write of its clients, as a slow network would.

A test that kills the client while a write is held knows what was written and what was not.
"""

from __future__ import annotations

import socket
import struct
import threading
from contextlib import suppress
from dataclasses import dataclass, field

from harness.eventually import eventually

_HOST = "127.0.0.1"
# Operation codes of ZooKeeper's protocol: create, create2, setData; delete.
WRITES = frozenset({1, 15, 5})
DELETES = frozenset({2})
_TIMEOUT = slice(12, 16)


@dataclass
class _Hold:
    """A request that is not to pass, until it may."""

    path_part: str
    containing: bytes
    kinds: frozenset[int]
    reached: threading.Event = field(default_factory=threading.Event)
    over: threading.Event = field(default_factory=threading.Event)
    dropped: bool = False

    def concerns(self, request: bytes) -> bool:
        if struct.unpack_from(">i", request, 4)[0] not in self.kinds:
            return False
        length = struct.unpack_from(">i", request, 8)[0]
        path = request[12 : 12 + length].decode()
        return self.path_part in path and self.containing in request


class ZooKeeperProxy:
    """Listens on a free port of the loopback; a context manager.

    `session_ms` is what its clients' sessions ask for, so that a killed one is missed soon.
    """

    def __init__(self, port: int, session_ms: int) -> None:
        self._server = port
        self._session_ms = session_ms
        self._listener = socket.create_server((_HOST, 0))
        self._sockets: list[socket.socket] = []
        self._hold: _Hold | None = None

    @property
    def connect_string(self) -> str:
        return f"{_HOST}:{self._listener.getsockname()[1]}"

    def hold(self, path_part: str, containing: bytes = b"", kinds: frozenset[int] = WRITES) -> None:
        """The next write to such a node, with such bytes, waits; and all its client sends after."""
        self._hold = _Hold(path_part, containing, kinds)

    def held(self, seconds: float = 60) -> None:
        """Until the write waits."""
        hold = self._armed()
        eventually(seconds, f"a write to {hold.path_part}", hold.reached.is_set)

    def release(self) -> None:
        """Lets the write pass."""
        self._end(dropped=False)

    def drop(self) -> None:
        """The write never arrives: its client must be dead."""
        self._end(dropped=True)

    def __enter__(self) -> ZooKeeperProxy:
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._hold is not None:
            self.drop()
        self._listener.close()
        for each in self._sockets:
            _close(each)

    def _armed(self) -> _Hold:
        assert self._hold is not None, "no write is to be held"
        return self._hold

    def _end(self, dropped: bool) -> None:
        hold, self._hold = self._armed(), None
        hold.dropped = dropped
        hold.over.set()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                server = socket.create_connection((_HOST, self._server))
                self._sockets += [client, server]
                for pump in (self._requests, self._answers):
                    threading.Thread(target=pump, args=(client, server), daemon=True).start()

    def _requests(self, client: socket.socket, server: socket.socket) -> None:
        with suppress(OSError):
            first = bytearray(_read(client, struct.unpack(">i", _read(client, 4))[0]))
            first[_TIMEOUT] = struct.pack(">i", self._session_ms)
            _send(server, bytes(first))
            while True:
                request = _read(client, struct.unpack(">i", _read(client, 4))[0])
                hold = self._hold
                if hold is not None and hold.concerns(request):
                    hold.reached.set()
                    hold.over.wait()
                    if hold.dropped:
                        break
                _send(server, request)
        _close(server)

    def _answers(self, client: socket.socket, server: socket.socket) -> None:
        with suppress(OSError):
            while data := server.recv(65536):
                client.sendall(data)
        _close(client)


def _read(source: socket.socket, count: int) -> bytes:
    data = b""
    while len(data) < count:
        more = source.recv(count - len(data))
        if not more:
            raise ConnectionError("closed")
        data += more
    return data


def _send(target: socket.socket, frame: bytes) -> None:
    target.sendall(struct.pack(">i", len(frame)) + frame)


def _close(each: socket.socket) -> None:
    with suppress(OSError):
        each.shutdown(socket.SHUT_RDWR)
    each.close()
