"""The differential bench of a session of tests: three Spark applications, and a ZooKeeper."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from differential.bench import Bench

from harness.bare_files import bare_files
from harness.cluster import QUICK


@pytest.fixture(scope="session")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bench]:
    """Local applications, in which a task may fail."""
    conf = {**QUICK, **bare_files()}
    with Bench(tmp_path_factory.mktemp("differential"), conf) as opened:
        yield opened
