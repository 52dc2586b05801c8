"""What can go wrong with a gateway, in words for people.

GatewayError
├── GatewayUnreachable   no connection, or no answer in time
├── TokenRefused         the driver does not take this token
├── TokenMissing         no token was found, or its file is open to others
└── ProtocolMismatch     the driver speaks another version, or nonsense
"""

from __future__ import annotations


class GatewayError(Exception):
    """Root of the gateway's errors; its text is a sentence for people."""


class GatewayUnreachable(GatewayError):
    """No connection to the driver's gateway, or no answer in time."""


class TokenRefused(GatewayError):
    """The driver refused the token."""


class TokenMissing(GatewayError):
    """There is no token to offer, or others could read it."""


class ProtocolMismatch(GatewayError):
    """The driver's answer is not of the protocol version that this package speaks."""
