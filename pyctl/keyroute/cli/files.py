"""Files that commands write: whole or not at all."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from keyroute.cli.exits import Refused


def write_whole(path: Path, data: bytes) -> None:
    """Puts the file in place once all of it is written. Raises Refused."""
    try:
        handle, name = tempfile.mkstemp(prefix=f".{path.name}-", dir=path.parent)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(data)
            os.replace(name, path)
        except BaseException:
            os.unlink(name)
            raise
    except OSError as error:
        raise Refused(f"{path} cannot be written: {error.strerror}.") from error


def read_whole(path: Path) -> bytes:
    """All of a file. Raises Refused."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise Refused(f"{path} cannot be read: {error.strerror}.") from error
