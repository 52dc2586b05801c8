"""When a ZooKeeper counts as started."""

from __future__ import annotations

import socket
import threading
from contextlib import suppress

import pytest

from keyroute.zookeeper.server import free_port, is_ok


@pytest.mark.parametrize(
    ("answer", "ok"),
    [
        (b"rw", True),
        (b"null", False),  # It listens already, and does not serve yet.
        (b"ro", False),
        (b"isro is not executed because it is not in the whitelist.\n", False),
        (b"", False),
    ],
)
def test_a_server_that_does_not_take_writes_yet_is_not_ok(answer: bytes, ok: bool) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve() -> None:
            with suppress(OSError):
                connection, _ = listener.accept()
                with connection:
                    assert connection.recv(16) == b"isro"
                    connection.sendall(answer)

        server = threading.Thread(target=serve, daemon=True)
        server.start()
        assert is_ok(listener.getsockname()[1]) is ok
        server.join(10)


def test_nothing_that_listens_is_not_ok() -> None:
    assert not is_ok(free_port())
