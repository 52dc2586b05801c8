"""Scenarios that are run each time, before fresh ones.

What a soak finds comes here, with what was wrong, so that it is looked for from then on.
"""

from __future__ import annotations

from differential.scenario import Fault, Scenario, Trial

# No soak has found a difference that was the product's yet. The first three are queries in which
# each mutant of `test_differential_mutants.py` shows, with each fault that needs no cluster.
FIXED = (
    Scenario(
        101,
        "totals",
        "rocksdb-1",
        5,
        (
            Trial({2: 7}, (Fault("driver", 2, "route"),)),
            Trial({1: 7, 2: 8, 3: None}, (Fault("after", 2, "route"),)),
        ),
    ),
    Scenario(102, "join-inner", "hdfs", 5, (Trial({2: 7}, (Fault("lost", 2, "route"),)),)),
    Scenario(
        103,
        "ledger",
        "rocksdb-2-changelog",
        5,
        (
            Trial({2: 7}, (Fault("damaged", 2, "route"),)),
            Trial({1: 7, 3: 8}, (Fault("before", 3, "route"),)),
        ),
    ),
    # A driver that died before a no-data batch that was due, which Spark then leaves out.
    Scenario(
        893469817,
        "tumbling",
        "rocksdb-1-changelog",
        7,
        (Trial({2: 7, 4: 8, 5: None}, (Fault("driver", 5, "commit"),)),),
    ),
)

# What needs a cluster: an executor that dies, and speculative copies of attempts.
FIXED_CLUSTER = (
    Scenario(
        201,
        "totals",
        "rocksdb-2",
        5,
        (
            Trial({1: 7, 2: 8}, (Fault("executor", 2, "state"),)),
            Trial({2: 7, 3: None}, (Fault("copy-after", 2, "route"),)),
        ),
    ),
    # A copied task puts a switch off with format 1: there are batches enough.
    Scenario(
        202, "dedup-then-totals", "hdfs", 7, (Trial({1: 7}, (Fault("executor", 3, "state"),)),)
    ),
    Scenario(
        203,
        "ledger",
        "rocksdb-2-changelog",
        5,
        (Trial({1: 7, 3: 8}, (Fault("copy-before", 2, "route"),)),),
    ),
)
