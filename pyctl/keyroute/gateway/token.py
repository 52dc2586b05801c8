"""The gateway's token: a secret, so never on a command line."""

from __future__ import annotations

import os
import pwd
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from keyroute.gateway.errors import TokenMissing
from keyroute.secret_file import exposed

VARIABLE = "KEYROUTE_GATEWAY_TOKEN"


def find_token(
    app_id: str,
    file: Path | None,
    environment: Mapping[str, str] = os.environ,
    home: Path | None = None,
) -> str:
    """The token for an application: from `file`, else the environment, else what its driver left.

    The driver leaves it in `~/.keyroute/<appId>.token`, which helps on the same machine only.
    Raises TokenMissing with what to do.
    """
    if file is not None:
        return read_token(file)
    if token := environment.get(VARIABLE, "").strip():
        return token
    homes = [home] if home is not None else _homes()
    for left in (folder / ".keyroute" / f"{app_id}.token" for folder in homes):
        if left.exists():
            return read_token(left)
    looked_in = " or ".join(str(folder / ".keyroute") for folder in homes)
    raise TokenMissing(
        f"There is no token for the gateway of {app_id} "
        f"({looked_in or 'this user has no home'}): name its file with "
        f"--gateway-token-file or set {VARIABLE} (the driver's spark.keyroute.gateway.tokenFile)."
    )


def _homes() -> list[Path]:
    # The driver's JVM asks the system for the home, not the environment. A container's user may be
    # a number that the system does not know.
    homes = []
    with suppress(RuntimeError):
        homes.append(Path.home())
    with suppress(KeyError):
        homes.append(Path(pwd.getpwuid(os.getuid()).pw_dir))
    return list(dict.fromkeys(homes))


def read_token(file: Path) -> str:
    """The token in a file; one's own must be closed to others. Raises TokenMissing."""
    try:
        open_to_others = exposed(file)
        token = file.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise TokenMissing(f"The gateway's token cannot be read: {error}.") from error
    if open_to_others:
        raise TokenMissing(f"{file} can be read by others: chmod 600 {file}.")
    if not token:
        raise TokenMissing(f"{file} is empty: it must hold the gateway's token.")
    return token
