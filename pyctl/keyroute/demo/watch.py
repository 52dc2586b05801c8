"""Follows the demo's query while it runs, through the gateway and ZooKeeper."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from keyroute.controller.snapshot import address_of
from keyroute.demo.recording import Recording
from keyroute.gateway.client import Py4jGateways
from keyroute.gateway.errors import GatewayError
from keyroute.gateway.port import Address
from keyroute.zookeeper.connection import close, connect
from keyroute.zookeeper.paths import Tree
from keyroute.zookeeper.session import Session
from keyroute.zookeeper.store import Store

_PAUSE_S = 0.1


@dataclass(slots=True)
class Watch:
    """Polls until the query's application has ended."""

    zookeeper: str
    token_file: Path
    recording: Recording = field(default_factory=Recording)

    def follow(self, running: Callable[[], bool], show: Callable[[Recording], None]) -> None:
        """Calls `show` after each look, until `running` says no."""
        client = connect(self.zookeeper)
        try:
            store = Store(Session(client), Tree())
            while running():
                for application in store.applications():
                    self._attend(store, address_of(application), show)
                time.sleep(_PAUSE_S)
        finally:
            close(client)

    def _attend(self, store: Store, address: Address, show: Callable[[Recording], None]) -> None:
        """Looks through one connection until the driver does not answer any more."""
        try:
            with Py4jGateways(self.token_file).open(address) as gateway:
                while True:
                    for query in gateway.status().queries:
                        self.recording.add(query)
                    self._note_prediction(store)
                    show(self.recording)
                    time.sleep(_PAUSE_S)
        except GatewayError:
            return  # not there yet, or there no more: `running` decides

    def _note_prediction(self, store: Store) -> None:
        if not self.recording.query_id:
            return
        stored = store.query(self.recording.query_id).reconfiguration
        if stored.value is not None:
            predicted = stored.value.predicted_locality
            self.recording.predicted_locality[stored.value.version] = predicted
