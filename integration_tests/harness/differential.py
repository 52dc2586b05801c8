"""The differential bench of a session of tests: three Spark applications, and a ZooKeeper."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from differential.bench import Bench


@pytest.fixture(scope="session")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bench]:
    """Local applications, in which a task may fail."""
    with Bench(tmp_path_factory.mktemp("differential"), "local[2,4]") as opened:
        yield opened
