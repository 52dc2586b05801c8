"""Opens the session with ZooKeeper."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from pathlib import Path

from kazoo.client import KazooClient
from kazoo.handlers.threading import KazooTimeoutError
from kazoo.security import make_digest_acl

from keyroute.secret_file import exposed
from keyroute.zookeeper.errors import StoreForbidden, StoreUnreachable
from keyroute.zookeeper.fresh_start import FreshStart

DEFAULT_CONNECT = "127.0.0.1:2181"

# For ever, and soon after ZooKeeper is back: kazoo's own waits grow to a minute.
_RECONNECT = {"max_tries": -1, "delay": 0.1, "backoff": 2, "max_delay": 1.0}


@dataclass(frozen=True, slots=True)
class Credentials:
    """User and password of ZooKeeper's digest scheme. Every node made is closed to others."""

    user: str
    password: str

    def __repr__(self) -> str:
        return f"Credentials(user={self.user!r})"


def read_credentials(file: Path) -> Credentials:
    """From a file of one line `user:password`; one's own must be closed to others.

    Raises StoreForbidden with what to do.
    """
    try:
        open_to_others = exposed(file)
        text = file.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise StoreForbidden(f"The ZooKeeper secret cannot be read: {error}.") from error
    if open_to_others:
        raise StoreForbidden(f"{file} can be read by others: chmod 600 {file}.")
    user, colon, password = text.partition(":")
    if not (user and colon and password) or "\n" in text:
        raise StoreForbidden(f"{file} must hold one line, user:password.")
    return Credentials(user, password)


def connect(
    hosts: str = DEFAULT_CONNECT,
    *,
    credentials: Credentials | None = None,
    connect_timeout_s: float = 10.0,
    session_timeout_s: float = 10.0,
) -> KazooClient:
    """A started client. Raises StoreUnreachable where nothing answers at `hosts` in time."""
    logging.getLogger("kazoo").setLevel(logging.ERROR)
    client = KazooClient(
        hosts=hosts,
        timeout=session_timeout_s,
        connection_retry=dict(_RECONNECT),
        **_access(credentials),
    )
    client.add_listener(FreshStart(client, session_timeout_s))
    try:
        client.start(timeout=connect_timeout_s)
    except KazooTimeoutError as error:
        close(client)
        raise StoreUnreachable(
            f"No ZooKeeper answers at {hosts}: start one (`keyroute zookeeper`), or name it with "
            "--zookeeper HOST:PORT or KEYROUTE_ZOOKEEPER."
        ) from error
    return client


def close(client: KazooClient) -> None:
    """Ends the session, which removes its ephemeral nodes, and frees the threads."""
    client.stop()
    client.close()


def _access(credentials: Credentials | None) -> dict[str, object]:
    if credentials is None:
        return {}
    user, password = credentials.user, credentials.password
    return {
        "auth_data": [("digest", f"{user}:{password}")],
        "default_acl": [make_digest_acl(user, password, all=True)],
    }
