"""What the tests of switches are worth: where state is not moved, they find it.

For the Python operators; `MigrationControlSuite` has the others, for each provider.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from apps.unmoved import BATCHES, SWITCH
from harness.child import environment
from harness.feed import rows
from harness.operators import NUMBERED, NUMBERED_PANDAS, differences
from harness.tests_jar import find_tests_jar

from keyroute.jar import find_jar

_ROOT = Path(__file__).parent


def test_without_migration_the_python_operators_results_differ(tmp_path: Path) -> None:
    operators = (NUMBERED, NUMBERED_PANDAS)
    config = tmp_path / "config.json"
    jars = f"{find_jar()},{find_tests_jar()}"
    names = [operator.name for operator in operators]
    config.write_text(json.dumps({"folder": str(tmp_path), "operators": names, "jars": jars}))
    command = [sys.executable, str(_ROOT / "apps" / "unmoved.py"), str(config)]
    ran = subprocess.run(command, env=environment(), capture_output=True, text=True, timeout=300)
    assert ran.returncode == 0, ran.stderr[-3000:]
    inputs = [rows(batch) for batch in range(BATCHES)]
    for operator in operators:
        folder = tmp_path / operator.name
        assert (folder / "switches").read_text() == "1"
        emitted: dict[int, list[Any]] = {
            batch: json.loads((folder / "out" / f"{batch}.json").read_text())
            for batch in range(BATCHES)
        }
        found = differences(operator, emitted, inputs)
        # Exact up to the switch, wrong from it on: nothing else is amiss.
        assert found, operator.name
        assert found[0].startswith(f"batch {SWITCH}:"), found
