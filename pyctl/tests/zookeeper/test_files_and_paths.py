"""Paths, secrets' files, and what is said where Java or PySpark is missing."""

from __future__ import annotations

from pathlib import Path

import pytest

from keyroute.zookeeper.connection import Credentials, read_credentials
from keyroute.zookeeper.errors import ServerError, StoreForbidden
from keyroute.zookeeper.java import find_java, find_spark_jars
from keyroute.zookeeper.paths import Tree


def test_paths_are_those_of_the_protocol() -> None:
    tree = Tree("/a/b")
    assert tree.table_chunk("q", 7, 12) == "/a/b/queries/q/tables/7/chunk-0012"
    assert tree.table_meta("q", 7) == "/a/b/queries/q/tables/7/meta"
    assert tree.app("app-1") == "/a/b/apps/app-1"


@pytest.mark.parametrize("root", ["", "/", "keyroute", "/a/", "/a//b", "/a/../b"])
def test_a_root_must_be_a_path(root: str) -> None:
    with pytest.raises(ValueError, match="must look like"):
        Tree(root)


def test_credentials_come_from_a_private_file(tmp_path: Path) -> None:
    file = tmp_path / "secret"
    file.write_text("me:pass:word\n")
    file.chmod(0o640)
    with pytest.raises(StoreForbidden, match="chmod 600"):
        read_credentials(file)
    file.chmod(0o600)
    assert read_credentials(file) == Credentials("me", "pass:word")
    assert "pass" not in repr(read_credentials(file))


@pytest.mark.parametrize("text", ["", "me", "me:", ":p", "a:b\nc:d"])
def test_a_malformed_secret_is_refused(tmp_path: Path, text: str) -> None:
    file = tmp_path / "secret"
    file.write_text(text)
    file.chmod(0o600)
    with pytest.raises(StoreForbidden, match="user:password"):
        read_credentials(file)


def _java(folder: Path, version: str) -> None:
    java = folder / "java"
    java.write_text(f"#!/bin/sh\necho 'openjdk version \"{version}\"' >&2\n")
    java.chmod(0o755)


def test_java_must_be_there_and_new_enough(tmp_path: Path) -> None:
    path = {"PATH": str(tmp_path)}
    with pytest.raises(ServerError, match="install Java 17"):
        find_java(path)
    _java(tmp_path, "1.8.0_402")
    with pytest.raises(ServerError, match="is Java 8:"):
        find_java(path)
    _java(tmp_path, "17.0.15")
    assert find_java(path) == str(tmp_path / "java")


def test_spark_home_must_hold_zookeeper(tmp_path: Path) -> None:
    with pytest.raises(ServerError, match="SPARK_HOME"):
        find_spark_jars({"SPARK_HOME": str(tmp_path)})
    (tmp_path / "jars").mkdir()
    (tmp_path / "jars" / "zookeeper-3.9.5.jar").touch()
    assert find_spark_jars({"SPARK_HOME": str(tmp_path)}) == tmp_path / "jars"
