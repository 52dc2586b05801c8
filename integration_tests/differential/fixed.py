"""Scenarios that are run each time, before fresh ones.

What a soak finds comes here, with what was wrong, so that it is looked for from then on.
"""

from __future__ import annotations

from differential.scenario import Fault, Scenario, Trial

# A mutant that migrates wrongly fails each of these three, see `test_differential_mutants.py`; so
# would anything that leaves state behind. Each fault that needs no cluster comes once.
FIXED = (
    Scenario(
        1,
        "totals",
        "rocksdb-1",
        5,
        (
            Trial({2: 7}, (Fault("driver", 2, "route"),)),
            Trial({1: 7, 2: 8, 3: None}, (Fault("after", 2, "route"),)),
        ),
    ),
    Scenario(2, "join-inner", "hdfs", 5, (Trial({2: 7}, (Fault("lost", 2, "route"),)),)),
    Scenario(
        3,
        "ledger",
        "rocksdb-2-changelog",
        5,
        (
            Trial({2: 7}, (Fault("damaged", 2, "route"),)),
            Trial({1: 7, 3: 8}, (Fault("before", 3, "route"),)),
        ),
    ),
)
