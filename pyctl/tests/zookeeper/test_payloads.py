"""Payloads come back as written, and unreadable ones are told apart."""

from __future__ import annotations

import json

import pytest

from keyroute.core.table import GroupShape
from keyroute.v1.reconfiguration_pb2 import MIGRATE, Reconfiguration
from keyroute.v1.status_pb2 import OperatorStatus
from keyroute.zookeeper.errors import Damaged
from keyroute.zookeeper.payloads import (
    Application,
    InForce,
    Live,
    QueryMeta,
    TableMeta,
    Wanted,
    decode_reconfiguration,
    encode_reconfiguration,
)

SHAPE = GroupShape(0, (0,), 3, 1026, (0,), ("tailnum",), ("string",))


@pytest.mark.parametrize(
    "value",
    [
        Application("app-1", "127.0.0.1", 4040, "0.1.0", "4.3.0", 17),
        Live("app-1", "run"),
        Wanted(2**53, "aa"),
        InForce(3, "aa", 12, "run"),
        TableMeta(3, "aa", 10, 1, 5, "me", 7),
        QueryMeta("q", "flights", (SHAPE,), (OperatorStatus(operator=1, reason="because"),)),
    ],
)
def test_round_trip(value: Application | Live | Wanted | InForce | TableMeta | QueryMeta) -> None:
    data = value.encode()
    assert json.loads(data)["format"] == 1
    assert type(value).decode(data) == value


def test_meta_reads_canonical_protobuf_json() -> None:
    data = json.dumps(
        {
            "format": 1,
            "queryId": "q",
            "name": None,
            "later": "unknown fields are ignored",
            "groups": [
                {
                    "operators": ["0"],
                    "partitions": 3,
                    "slots": 1026,
                    "routingOrdinals": [0],
                    "keyNames": ["tailnum"],
                    "keyTypes": ["string"],
                    "hash": "HASH_ID_MURMUR3_XXH64",
                    "stableSlots": True,
                    "later": 1,
                }
            ],
        }
    ).encode()
    assert QueryMeta.decode(data) == QueryMeta("q", "", (SHAPE,))


def test_a_reconfiguration_is_canonical_json() -> None:
    value = Reconfiguration(format=1, phase=MIGRATE, version=2**40, batch=9)
    data = encode_reconfiguration(value)
    assert json.loads(data) == {
        "format": 1,
        "phase": "MIGRATE",
        "version": str(2**40),
        "batch": "9",
    }
    assert decode_reconfiguration(data) == value
    assert decode_reconfiguration(b'{"format":1,"phase":5,"version":7}').version == 7


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"\xff", "no JSON"),
        (b"[]", "no JSON object"),
        (b'{"format":2,"version":1}', "upgrade the controller"),
        (b'{"format":1}', "'version'"),
        (b'{"format":1,"version":"x"}', "'version'"),
    ],
)
def test_damaged_payloads_say_why(data: bytes, says: str) -> None:
    with pytest.raises(Damaged, match=says):
        Wanted.decode(data)


def test_an_unknown_phase_is_damaged() -> None:
    with pytest.raises(Damaged, match="Reconfiguration"):
        decode_reconfiguration(b'{"format":1,"phase":"SIDEWAYS"}')
