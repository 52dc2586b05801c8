"""Calls the gateway as the controller does, then tries the ways in that must be closed."""

import sys
from collections.abc import Callable

from py4j.java_gateway import GatewayParameters, JavaGateway
from py4j.protocol import Py4JError


def connect(port: int, token: str) -> JavaGateway:
    return JavaGateway(
        gateway_parameters=GatewayParameters(
            port=port, auth_token=token, enable_memory_management=False
        )
    )


def refused(what: str, attempt: Callable[[], object]) -> None:
    try:
        answer = attempt()
    except Py4JError:
        return
    sys.exit(f"{what} was answered: {answer!r}")


def main(port: int, token: str) -> None:
    entry = connect(port, token).entry_point
    assert entry.protocol() == 1
    assert bytes(entry.status()) == bytes(range(256))
    assert bytes(entry.statistics("a query")) == b"a query"
    assert bytes(entry.statistics("unknown")) == b""

    refused("a wrong token", lambda: connect(port, "x" * 32).entry_point.protocol())
    refused("getClass", lambda: connect(port, token).entry_point.getClass())
    refused("a static call", lambda: connect(port, token).jvm.java.lang.System.currentTimeMillis())
    refused("a constructor", lambda: connect(port, token).jvm.java.util.ArrayList())
    refused("dir", lambda: dir(connect(port, token).entry_point))
    refused("help", lambda: connect(port, token).help(connect(port, token).entry_point))
    assert connect(port, token).entry_point.protocol() == 1


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2])
