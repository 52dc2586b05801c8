"""Exit codes, and how errors become one sentence and a code."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from enum import IntEnum

import typer

from keyroute.cli.output import complain
from keyroute.controller.publish import ChangeUnderWay
from keyroute.core.table import InvalidTable
from keyroute.gateway.errors import GatewayError, GatewayUnreachable
from keyroute.jar import JarMissing
from keyroute.zookeeper.errors import StoreUnreachable, ZooKeeperError


class Exit(IntEnum):
    """What a command's exit code means."""

    OK = 0
    FAILED = 1
    USAGE = 2
    UNREACHABLE = 3
    TIMEOUT = 4


HELP = (
    "Exit codes: 0 done; 1 refused or failed; 2 wrong usage; 3 ZooKeeper or a gateway cannot be "
    "reached or read; 4 not finished in time (a running controller, or the same command again, "
    "finishes it)."
)


class Refused(Exception):
    """A command cannot do what was asked; the text says why."""


class Unread(Exception):
    """A driver could not be asked; the text says why."""


class Usage(Exception):
    """What the user gave is wrong; the text says what."""


_CODES: tuple[tuple[type[Exception], Exit], ...] = (
    (StoreUnreachable, Exit.UNREACHABLE),
    (GatewayUnreachable, Exit.UNREACHABLE),
    (Unread, Exit.UNREACHABLE),
    (ZooKeeperError, Exit.FAILED),
    (GatewayError, Exit.FAILED),
    (ChangeUnderWay, Exit.FAILED),
    (InvalidTable, Exit.FAILED),
    (JarMissing, Exit.FAILED),
)
_EXPECTED = tuple(kind for kind, _ in _CODES)


@contextmanager
def sentences() -> Iterator[None]:
    """Turns the package's errors into one sentence on stderr and an exit code."""
    try:
        yield
    except Refused as error:
        complain(str(error))
        raise typer.Exit(Exit.FAILED) from error
    except Usage as error:
        complain(str(error))
        raise typer.Exit(Exit.USAGE) from error
    except _EXPECTED as error:
        complain(str(error))
        raise typer.Exit(code_of(error)) from error


def code_of(error: Exception) -> Exit:
    """The exit code of one of the package's errors: the first kind that fits."""
    return next(code for kind, code in _CODES if isinstance(error, kind))
