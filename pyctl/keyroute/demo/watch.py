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
from keyroute.zookeeper.connection import close, connect
from keyroute.zookeeper.paths import Tree
from keyroute.zookeeper.session import Session
from keyroute.zookeeper.store import Store

_PAUSE_S = 0.25


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
                self._look(store)
                show(self.recording)
                time.sleep(_PAUSE_S)
        finally:
            close(client)

    def _look(self, store: Store) -> None:
        for application in store.applications():
            try:
                with Py4jGateways(self.token_file).open(address_of(application)) as gateway:
                    for query in gateway.status().queries:
                        self.recording.add(query)
            except GatewayError:
                continue  # not there yet, or there no more: `running` decides
            self._note_prediction(store)

    def _note_prediction(self, store: Store) -> None:
        if not self.recording.query_id:
            return
        stored = store.query(self.recording.query_id).reconfiguration
        if stored.value is not None:
            predicted = stored.value.predicted_locality
            self.recording.predicted_locality[stored.value.version] = predicted
