"""The daemon: waits for its turn among controllers, then attends to every running query.

The only place that catches everything: a fault in one query's tick must not end the others'.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from dataclasses import dataclass, field

from keyroute.controller.attendance import Attendant, Report
from keyroute.zookeeper.election import Leadership
from keyroute.zookeeper.errors import StoreError, StoreUnreachable

LOG = logging.getLogger("keyroute.controller")

BUSY_POLL_S = 0.25
IDLE_POLL_S = 1.0

_AWAY = "ZooKeeper does not answer; queries go on with their tables; trying again"


@dataclass(slots=True)
class Daemon:
    """Runs until `stop` is set; `lead` makes a new turn to wait for."""

    attendant: Attendant
    lead: Callable[[], Leadership]
    stop: threading.Event
    busy_poll_s: float = BUSY_POLL_S
    idle_poll_s: float = IDLE_POLL_S
    _last_trouble: str = ""
    _complaints: dict[str, str] = field(default_factory=dict)

    def run(self) -> None:
        """Turn after turn until `stop`.

        Raises StoreForbidden where the turn or the list of queries is: waiting does not help there.
        """
        while not self.stop.is_set():
            turn = self.lead()
            LOG.info("waiting for this controller's turn")
            try:
                held = turn.acquire(self.stop)
                if held:
                    LOG.info("this controller's turn: attending to the running queries")
                    self._hold(turn)
            finally:
                turn.release()
            if not held and not self.stop.wait(self.idle_poll_s):
                self._trouble(_AWAY)
        LOG.info("stopped")

    def tick(self) -> bool:
        """Attends to every query once; whether any change is under way."""
        busy = False
        for query_id in self.attendant.store.query_ids():
            if self.stop.is_set():
                break
            report = self._attend(query_id)
            if report is not None and report.news:
                LOG.info("%s: %s", report.label, report.sentence)
            busy = busy or (report is not None and report.busy)
        self._trouble("")
        return busy

    def _hold(self, turn: Leadership) -> None:
        while turn.held and not self.stop.is_set():
            busy = False
            if turn.suspended:
                self._trouble(_AWAY)
            else:
                try:
                    busy = self.tick()
                except StoreUnreachable:
                    self._trouble(_AWAY)
            self.stop.wait(self.busy_poll_s if busy else self.idle_poll_s)
        if not self.stop.is_set():
            LOG.warning("the session with ZooKeeper is over, and with it this controller's turn")

    def _attend(self, query_id: str) -> Report | None:
        try:
            report = self.attendant.attend(query_id)
        except StoreUnreachable:
            raise
        except StoreError as error:
            self._complain(query_id, str(error))
        except Exception:
            LOG.exception("%s: this tick failed; the query goes on with its tables", query_id)
        else:
            self._complaints.pop(query_id, None)
            return report
        return None

    def _complain(self, query_id: str, sentence: str) -> None:
        """Says a query's trouble once, as long as it stays the same."""
        if self._complaints.get(query_id) != sentence:
            LOG.warning("%s: %s", query_id, sentence)
            self._complaints[query_id] = sentence

    def _trouble(self, sentence: str) -> None:
        """Says a trouble once, and that it is over."""
        if sentence == self._last_trouble:
            return
        if sentence:
            LOG.warning("%s", sentence)
        else:
            LOG.info("ZooKeeper answers again")
        self._last_trouble = sentence
