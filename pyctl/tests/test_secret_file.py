from __future__ import annotations

import logging
from pathlib import Path

import pytest

from keyroute.secret_file import exposed


def test_ones_own_file_must_be_closed(tmp_path: Path) -> None:
    file = tmp_path / "secret"
    file.write_text("secret")
    for mode in (0o640, 0o604, 0o620):
        file.chmod(mode)
        assert exposed(file)
    file.chmod(0o600)
    assert not exposed(file)


def test_somebody_elses_open_file_is_used_with_a_warning(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    file = tmp_path / "secret"
    file.write_text("the secret itself")
    file.chmod(0o444)
    with caplog.at_level(logging.WARNING):
        assert not exposed(file, user=file.stat().st_uid + 1)
    assert "can be read by others (-r--r--r--)" in caplog.text
    assert "the secret itself" not in caplog.text
