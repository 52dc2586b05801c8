"""The client against a socket that speaks py4j's lines and refuses all but the entry point."""

from __future__ import annotations

import base64
import gc
import os
import socket
import socketserver
import struct
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from keyroute.gateway.client import Py4jGateways
from keyroute.gateway.errors import (
    GatewayUnreachable,
    ProtocolMismatch,
    TokenMissing,
    TokenRefused,
)
from keyroute.gateway.port import Address
from keyroute.gateway.token import VARIABLE, find_token
from keyroute.v1.statistics_pb2 import QueryStatistics
from keyroute.v1.status_pb2 import ApplicationStatus

TOKEN = "a-token"


class Lines(socketserver.StreamRequestHandler):
    """py4j's text protocol: a command is lines up to one that is `e`."""

    server: FakeGateway

    def handle(self) -> None:
        authenticated = False
        while command := self._command():
            if command[0] == "A":
                authenticated = command[1] == self.server.token
                self._answer("!yv" if authenticated else "!xsBad token")
                if not authenticated:
                    return
            elif authenticated and command[:2] == ["c", "t"]:
                self._answer(self.server.answer(command[2]))
            else:
                self.server.refused.append(command)
                self._answer("!xsrefused")

    def _command(self) -> list[str]:
        lines: list[str] = []
        while line := self.rfile.readline():
            text = line.decode().rstrip("\n")
            if text == "e" or (lines and lines[0] == "A"):
                return lines if text == "e" else [*lines, text]
            lines.append(text)
            if lines[0] == "A" and len(lines) == 2:
                return lines
        return lines

    def _answer(self, text: str) -> None:
        self.wfile.write(f"{text}\n".encode())


class FakeGateway(socketserver.ThreadingTCPServer):
    daemon_threads = True

    def __init__(self, answers: dict[str, str]) -> None:
        super().__init__(("127.0.0.1", 0), Lines)
        self.token = TOKEN
        self.answers = answers
        self.refused: list[list[str]] = []

    def answer(self, method: str) -> str:
        return self.answers.get(method, "!xsrefused")

    @property
    def address(self) -> Address:
        return Address("app-1", "127.0.0.1", self.server_address[1])


def _encoded(data: bytes) -> str:
    return "!yj" + base64.b64encode(data).decode()


@contextmanager
def _serving(answers: dict[str, str]) -> Iterator[FakeGateway]:
    with FakeGateway({"protocol": "!yi1", **answers}) as server, _serve(server):
        yield server


@contextmanager
def _serve(server: socketserver.BaseServer) -> Iterator[None]:
    thread = threading.Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    try:
        yield
    finally:
        server.shutdown()
        thread.join()


@pytest.fixture
def gateways(tmp_path: Path) -> Py4jGateways:
    file = tmp_path / "token"
    file.write_text(TOKEN + "\n")
    file.chmod(0o600)
    return Py4jGateways(file, answer_timeout_s=1.0)


def test_status_and_statistics_come_as_values(gateways: Py4jGateways) -> None:
    status = ApplicationStatus(format=1, app_id="app-1")
    statistics = QueryStatistics(format=1, query_id="q", batch=4)
    answers = {
        "status": _encoded(status.SerializeToString()),
        "statistics": _encoded(statistics.SerializeToString()),
    }
    with _serving(answers) as server:
        with gateways.open(server.address) as gateway:
            assert gateway.status() == status
            found = gateway.statistics("q")
            assert found is not None
            assert (found.query_id, found.batch) == ("q", 4)
        del gateway
        gc.collect()
        assert server.refused == []


def test_an_unknown_query_is_none(gateways: Py4jGateways) -> None:
    with _serving({"statistics": _encoded(b"")}) as server, gateways.open(server.address) as it:
        assert it.statistics("unknown") is None


def _ask(gateways: Py4jGateways, address: Address) -> None:
    with gateways.open(address) as gateway:
        gateway.status()


def test_a_wrong_token_is_said_to_be_refused(gateways: Py4jGateways) -> None:
    with _serving({}) as server:
        server.token = "another"
        with pytest.raises(TokenRefused, match="refuses the gateway token"):
            _ask(gateways, server.address)


def test_another_protocol_is_said(gateways: Py4jGateways) -> None:
    with (
        _serving({"protocol": "!yi2"}) as server,
        pytest.raises(ProtocolMismatch, match="speaks gateway protocol 2"),
    ):
        _ask(gateways, server.address)


@pytest.mark.parametrize("answer", ["!xsnot allowed", "!ysno bytes", _encoded(b"\xff")])
def test_nonsense_is_a_mismatch(gateways: Py4jGateways, answer: str) -> None:
    with _serving({"status": answer}) as server, pytest.raises(ProtocolMismatch):
        _ask(gateways, server.address)


def test_the_drivers_words_are_passed_on_without_a_stack_trace(gateways: Py4jGateways) -> None:
    refusal = "!xsrefused: method status\\n\\tat a.stack.Trace"
    with (
        _serving({"status": refusal}) as server,
        pytest.raises(ProtocolMismatch, match=r"the call status: refused: method status$"),
    ):
        _ask(gateways, server.address)


def test_an_exception_in_the_driver_is_not_asked_about(gateways: Py4jGateways) -> None:
    with _serving({"status": "!xro12"}) as server:
        with pytest.raises(ProtocolMismatch, match="refuses the call status"):
            _ask(gateways, server.address)
        gc.collect()
        assert server.refused == []


def test_nobody_there_is_said(gateways: Py4jGateways) -> None:
    with _serving({}) as server:
        address = server.address
    with pytest.raises(GatewayUnreachable, match="does not answer"):
        _ask(gateways, address)


def _silent(connection: socket.socket) -> None:
    connection.recv(1)  # Until the client gives up.


def _reset(connection: socket.socket) -> None:
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


def _closed(_: socket.socket) -> None:
    return


@contextmanager
def _taking_the_token(then: Callable[[socket.socket], None]) -> Iterator[Address]:
    """A driver that takes the token and reads a call, and then gets into trouble."""

    class Handler(socketserver.StreamRequestHandler):
        def handle(self) -> None:
            for _ in ("A", TOKEN):
                self.rfile.readline()
            self.wfile.write(b"!yv\n")
            while self.rfile.readline() != b"e\n":
                pass
            then(self.connection)

        def finish(self) -> None:
            super().finish()
            self.connection.close()  # At once, without the shutdown that would come before.

    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler) as server, _serve(server):
        yield Address("app-1", "127.0.0.1", server.server_address[1])


@pytest.mark.parametrize(
    ("then", "why"), [(_silent, "timed out"), (_reset, "reset by peer"), (_closed, "is empty")]
)
def test_a_driver_that_falls_silent_after_the_token_is_unreachable(
    gateways: Py4jGateways,
    caplog: pytest.LogCaptureFixture,
    then: Callable[[socket.socket], None],
    why: str,
) -> None:
    with (
        _taking_the_token(then) as address,
        pytest.raises(GatewayUnreachable, match=rf"127\.0\.0\.1:\d+ does not answer: .*{why}$"),
    ):
        _ask(gateways, address)
    assert not caplog.records


def test_the_token_comes_from_file_then_environment_then_home(tmp_path: Path) -> None:
    with pytest.raises(TokenMissing, match="gateway-token-file"):
        find_token("app-1", None, {}, tmp_path)
    left = tmp_path / ".keyroute" / "app-1.token"
    left.parent.mkdir()
    left.write_text("left")
    with pytest.raises(TokenMissing, match="chmod 600"):
        find_token("app-1", None, {}, tmp_path)
    left.chmod(0o600)
    assert find_token("app-1", None, {}, tmp_path) == "left"
    assert find_token("app-1", None, {VARIABLE: "set\n"}, tmp_path) == "set"
    assert find_token("app-1", None, {VARIABLE: "\n"}, tmp_path) == "left"
    named = tmp_path / "named"
    named.write_text("named\n")
    named.chmod(0o600)
    assert find_token("app-1", named, {VARIABLE: "set"}, tmp_path) == "named"


def test_a_user_without_a_home_is_told_that_there_is_no_token(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("HOME")
    monkeypatch.setattr(os, "getuid", lambda: 2**31 - 2)
    with pytest.raises(TokenMissing, match=r"\(this user has no home\): name its file"):
        find_token("app-1", None, {})
