"""Files that hold a secret: readable by nobody but their owner."""

from __future__ import annotations

import logging
import os
import stat
from pathlib import Path

_log = logging.getLogger(__name__)


def exposed(file: Path, user: int | None = None) -> bool:
    """Whether a file must be closed to others before it is used.

    A file of somebody else's (what Kubernetes mounts belongs to root, and is open to the group or
    to all) is not the user's to close: that is warned of. `user` is a numeric id, by default the
    process's own. Raises OSError where the file cannot be looked at.
    """
    status = file.stat()
    if not status.st_mode & (stat.S_IRWXG | stat.S_IRWXO):
        return False
    if status.st_uid == (os.geteuid() if user is None else user):
        return True
    _log.warning(
        "The secret in %s can be read by others (%s). It belongs to another user and is used as "
        "it is; where it is mounted, let the mount close it.",
        file,
        stat.filemode(status.st_mode),
    )
    return False
