"""What the demo saw of its query while it ran: batches, switches, predictions."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from keyroute.core.statistics import imbalance
from keyroute.v1 import status_pb2


@dataclass(slots=True)
class Recording:
    """Grows with each answer of the gateway; later answers on a batch replace earlier ones.

    Attributes:
        key_of_group: name of the first column of each group's key.
        predicted_locality: of each table version, as the controller's plan had it.
    """

    query_id: str = ""
    key_of_group: dict[int, str] = field(default_factory=dict)
    batches: dict[int, status_pb2.BatchStatus] = field(default_factory=dict)
    switches: dict[int, status_pb2.SwitchStatus] = field(default_factory=dict)
    predicted_locality: dict[int, float] = field(default_factory=dict)

    def add(self, query: status_pb2.QueryStatus) -> None:
        self.query_id = query.query_id
        self.key_of_group.update({group.group: group.key_names[0] for group in query.groups})
        self.batches.update({batch.batch: batch for batch in query.batches})
        self.switches.update({switch.batch: switch for switch in query.switches})

    @property
    def switch_batches(self) -> list[int]:
        """Batches that switched tables, ascending."""
        return sorted(self.switches)

    def before_first_table(self) -> Span:
        first = self.switch_batches[0] if self.switches else max(self.batches, default=-1) + 1
        return self._span(lambda batch: batch < first)

    def after_last_table(self) -> Span:
        """From the batch that switched last; all batches where none did."""
        last = self.switch_batches[-1] if self.switches else 0
        return self._span(lambda batch: batch >= last)

    def _span(self, keep: object) -> Span:
        assert callable(keep)
        return Span([self.batches[b] for b in sorted(self.batches) if keep(b)])


@dataclass(frozen=True, slots=True)
class Span:
    """Measured figures over some batches."""

    batches: list[status_pb2.BatchStatus]

    @property
    def locality(self) -> float:
        """Share of the rows between operators that stayed on their executor; 0 of none."""
        rows = sum(batch.edge_rows for batch in self.batches)
        return sum(batch.local_rows for batch in self.batches) / rows if rows else 0.0

    @property
    def remote_bytes_per_row(self) -> float:
        rows = sum(batch.input_rows for batch in self.batches)
        return sum(batch.remote_bytes for batch in self.batches) / rows if rows else 0.0

    def imbalance(self, group: int) -> float:
        """max / mean of the rows that the group's partitions received."""
        rows = [
            np.array(partitions.rows, dtype=np.int64)
            for batch in self.batches
            for partitions in batch.partition_rows
            if partitions.group == group
        ]
        total: npt.NDArray[np.int64] = np.sum(rows, axis=0) if rows else np.zeros(1, np.int64)
        return imbalance(total)
