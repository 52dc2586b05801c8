"""The real gateway: py4j, calls on the entry point by name and nothing else.

The driver refuses every other py4j command, so nothing here may reflect, view the JVM, release
JVM objects or shut the server down: memory management is off, and closing means our own sockets.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from google.protobuf.message import DecodeError
from py4j.java_gateway import GatewayClient, GatewayParameters, JavaGateway
from py4j.protocol import Py4JAuthenticationError, Py4JError, Py4JJavaError, Py4JNetworkError

from keyroute.core.statistics import QueryStatistics
from keyroute.core.statistics_codec import InvalidStatistics
from keyroute.core.statistics_codec import decode as decode_statistics
from keyroute.core.table import InvalidTable
from keyroute.gateway.errors import (
    GatewayError,
    GatewayUnreachable,
    ProtocolMismatch,
    TokenRefused,
)
from keyroute.gateway.port import Address
from keyroute.gateway.token import find_token
from keyroute.v1.status_pb2 import ApplicationStatus

PROTOCOL = 1
ANSWER_TIMEOUT_S = 30.0


@dataclass(frozen=True, slots=True)
class Py4jGateways:
    """Opens gateways with py4j; `token_file` None looks for the token elsewhere (`find_token`)."""

    token_file: Path | None = None
    answer_timeout_s: float = ANSWER_TIMEOUT_S

    @contextmanager
    def open(self, address: Address) -> Iterator[Py4jGateway]:
        """A connection whose protocol version has been checked. Raises GatewayError's kinds."""
        token = find_token(address.app_id, self.token_file)
        gateway = Py4jGateway(address, token, self.answer_timeout_s)
        try:
            gateway.require_protocol()
            yield gateway
        finally:
            gateway.close()


class Py4jGateway:
    """A connection to one driver. Methods raise GatewayError's kinds."""

    def __init__(self, address: Address, token: str, answer_timeout_s: float) -> None:
        # py4j logs tracebacks of what is raised as well; people get the sentence alone.
        logging.getLogger("py4j").setLevel(logging.CRITICAL)
        self._address = address
        parameters = GatewayParameters(
            address=address.host,
            port=address.port,
            auth_token=token,
            auto_convert=False,
            auto_field=False,
            enable_memory_management=False,
            read_timeout=answer_timeout_s,
        )
        self._java = JavaGateway(gateway_parameters=parameters)
        self._java.set_gateway_client(_Client(gateway_parameters=parameters))

    def require_protocol(self) -> None:
        """Raises ProtocolMismatch where the driver speaks another version."""
        version = self._call("protocol")
        if version != PROTOCOL:
            raise ProtocolMismatch(
                f"The driver of {self._address.app_id} speaks gateway protocol {version}, this "
                f"controller {PROTOCOL}: use the same KeyRoute version on both sides."
            )

    def status(self) -> ApplicationStatus:
        """State of all queries of the application."""
        data = self._bytes("status")
        try:
            return ApplicationStatus.FromString(data)
        except DecodeError as error:
            raise ProtocolMismatch(f"The answer to status is unreadable: {error}.") from error

    def statistics(self, query_id: str) -> QueryStatistics | None:
        """Counts of one query; None where the driver does not know it."""
        data = self._bytes("statistics", query_id)
        if not data:
            return None
        try:
            return decode_statistics(data)
        except (InvalidStatistics, InvalidTable) as error:
            raise ProtocolMismatch(f"The answer to statistics is unusable: {error}.") from error

    def close(self) -> None:
        """Closes our connections; the driver's server goes on."""
        self._java._gateway_client.close()

    def _bytes(self, method: str, *arguments: str) -> bytes:
        answer = self._call(method, *arguments)
        if not isinstance(answer, (bytes, bytearray)):
            raise ProtocolMismatch(f"The driver answered {method} with no bytes.")
        return bytes(answer)

    def _call(self, method: str, *arguments: str) -> object:
        try:
            answer: object = getattr(self._java.entry_point, method)(*arguments)
        except Py4JError as error:
            raise self._explained(method, error) from error
        except OSError as error:
            raise self._unreachable(error) from error
        return answer

    def _explained(self, method: str, error: Exception) -> GatewayError:
        if _refuses_token(error):
            return TokenRefused(
                f"The driver of {self._address.app_id} refuses the gateway token: is it the one "
                "of this application?"
            )
        if isinstance(error, Py4JNetworkError):
            return self._unreachable(error)
        # Not str(error): that asks the JVM for the stack trace, which the driver refuses.
        said = error.errmsg if isinstance(error, Py4JJavaError) else " ".join(map(str, error.args))
        # py4j puts the driver's words in the second line, and may put a stack trace after it.
        lines = [line for line in said.splitlines() if line] or [type(error).__name__]
        return ProtocolMismatch(
            f"The driver refuses the call {method}: {lines[min(1, len(lines) - 1)]}"
        )

    def _unreachable(self, error: Exception) -> GatewayUnreachable:
        where = f"{self._address.host}:{self._address.port}"
        cause = getattr(error, "cause", None) or error
        return GatewayUnreachable(
            f"The gateway of {self._address.app_id} at {where} does not answer: {cause}"
        )


class _Client(GatewayClient):  # type: ignore[misc]
    """py4j's own logs a network trouble on the root logger, with its traceback, and makes an error
    without a cause of it; here it is raised."""

    def send_command(self, command: str) -> object:
        connection = self._get_connection()
        try:
            answer: object = connection.send_command(command)
        except Py4JNetworkError:
            connection.close()
            raise
        self._give_back_connection(connection)
        return answer


def _refuses_token(error: BaseException | None) -> bool:
    while error is not None:
        if isinstance(error, Py4JAuthenticationError):
            return True
        error = error.__cause__ or error.__context__
    return False
