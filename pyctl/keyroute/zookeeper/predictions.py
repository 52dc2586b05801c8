"""The payload of `predictions`: what tables were published for, beside what then came true."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from keyroute.zookeeper.errors import Damaged

FORMAT = 1
KEPT = 20
"""So many of the newest versions are kept."""


@dataclass(frozen=True, slots=True)
class PredictionRecord:
    """One version. Localities are shares, None where the query has no pairs; imbalances are of the
    worst operator. It was measured on `rows`; `moves` are the keys that moved."""

    version: int
    predicted_locality: float | None
    predicted_imbalance: float
    realised_locality: float | None
    realised_imbalance: float
    rows: int
    moves: int = 0
    measured_ms: int = 0

    @property
    def locality_error(self) -> float | None:
        """Predicted less realised: above 0 where it was hoped for more than came."""
        if self.predicted_locality is None or self.realised_locality is None:
            return None
        return self.predicted_locality - self.realised_locality

    @property
    def sentence(self) -> str:
        """Both, for people."""
        return (
            f"version {self.version}: predicted {_shown(self.predicted_locality)} local and "
            f"imbalance {self.predicted_imbalance:.2f}, realised {_shown(self.realised_locality)} "
            f"and {self.realised_imbalance:.2f} on the next {self.rows:,} rows"
        )


@dataclass(frozen=True, slots=True)
class Predictions:
    """The newest versions' records, oldest first."""

    records: tuple[PredictionRecord, ...] = ()

    def with_record(self, record: PredictionRecord) -> Predictions:
        """These and one more, the newest `KEPT`."""
        return Predictions((*self.records, record)[-KEPT:])

    @property
    def versions(self) -> frozenset[int]:
        """Versions that were measured."""
        return frozenset(record.version for record in self.records)

    @property
    def locality_error(self) -> float | None:
        """Mean distance of predicted from realised locality; None where there is none."""
        errors = [e for e in (r.locality_error for r in self.records) if e is not None]
        return sum(map(abs, errors)) / len(errors) if errors else None

    @staticmethod
    def decode(data: bytes) -> Predictions:
        """Raises Damaged."""
        try:
            fields = json.loads(data)
            if fields.get("format", FORMAT) != FORMAT:
                raise Damaged(
                    f"The znode of predictions has format {fields['format']}, and this KeyRoute "
                    f"reads format {FORMAT}: upgrade the controller."
                )
            return Predictions(tuple(_record(value) for value in fields["records"]))
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            raise Damaged(f"The znode of predictions holds none: {error!r}.") from error

    def encode(self) -> bytes:
        """Bytes of the znode."""
        records = [_fields(record) for record in self.records]
        value = {"format": FORMAT, "records": records}
        return json.dumps(value, separators=(",", ":")).encode("utf-8")


def _fields(record: PredictionRecord) -> dict[str, object]:
    return {
        "version": record.version,
        "predictedLocality": record.predicted_locality,
        "predictedImbalance": record.predicted_imbalance,
        "realisedLocality": record.realised_locality,
        "realisedImbalance": record.realised_imbalance,
        "rows": record.rows,
        "moves": record.moves,
        "measuredMs": record.measured_ms,
    }


def _record(value: Mapping[str, Any]) -> PredictionRecord:
    return PredictionRecord(
        version=int(value["version"]),
        predicted_locality=_share(value["predictedLocality"]),
        predicted_imbalance=float(value["predictedImbalance"]),
        realised_locality=_share(value["realisedLocality"]),
        realised_imbalance=float(value["realisedImbalance"]),
        rows=int(value["rows"]),
        moves=int(value.get("moves", 0)),
        measured_ms=int(value.get("measuredMs", 0)),
    )


def _share(value: Any) -> float | None:
    return None if value is None else float(value)


def _shown(share: float | None) -> str:
    return "no pairs" if share is None else f"{share:.1%}"
