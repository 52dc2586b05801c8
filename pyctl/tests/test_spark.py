"""`configure_spark` adds to what a builder has; `find_jar` says what to do where there is none."""

from __future__ import annotations

import os
from pathlib import Path

import pyspark
import pytest
from pyspark.sql import SparkSession

from keyroute import configure_spark
from keyroute.jar import JarMissing, find_jar, installed_minor
from keyroute.spark import PLUGIN


def _options(builder: SparkSession.Builder) -> dict[str, object]:
    return dict(builder._options)


def test_all_that_is_needed_is_set() -> None:
    builder = SparkSession.Builder()
    assert configure_spark(builder, zookeeper="zk:2181", root="/x", jar="k.jar") is builder
    assert _options(builder) == {
        "spark.jars": "k.jar",
        "spark.plugins": PLUGIN,
        "spark.keyroute.zookeeper.connect": "zk:2181",
        "spark.keyroute.zookeeper.root": "/x",
    }


def test_what_is_there_stays_and_twice_is_once() -> None:
    builder = SparkSession.Builder().config("spark.jars", "a.jar, b.jar")
    builder = builder.config("spark.plugins", "org.example.Plugin")
    configure_spark(configure_spark(builder, jar="k.jar"), jar="k.jar")
    assert _options(builder) == {
        "spark.jars": "a.jar,b.jar,k.jar",
        "spark.plugins": f"org.example.Plugin,{PLUGIN}",
    }


def _jars(folder: Path, *names: str) -> list[Path]:
    folder.mkdir(parents=True, exist_ok=True)
    for name in names:
        (folder / name).touch()
    return [folder / name for name in names]


def test_a_wheel_holds_its_jar_and_a_checkout_builds_it(tmp_path: Path) -> None:
    package = tmp_path / "pyctl" / "keyroute"
    with pytest.raises(JarMissing, match="make jar"):
        find_jar(package)
    (packaged,) = _jars(package / "jars", "keyroute-spark-4.3_2.13-0.1.0.jar")
    assert find_jar(package) == packaged
    (tmp_path / "build.sbt").touch()
    assert find_jar(package) == packaged
    older, newer = _jars(
        tmp_path / "target",
        "keyroute-spark-4.3_2.13-0.0.9.jar",
        "keyroute-spark-4.3_2.13-0.1.0.jar",
    )
    os.utime(older, (1, 1))
    assert find_jar(package) == newer


def test_each_minor_version_of_spark_has_a_jar_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "pyctl" / "keyroute"
    older, newer = _jars(
        package / "jars",
        "keyroute-spark-4.2_2.13-0.1.0.jar",
        "keyroute-spark-4.10_2.13-0.1.0.jar",
    )
    home = tmp_path / "spark"
    monkeypatch.setenv("SPARK_HOME", str(home))
    assert find_jar(package) == newer, "no Spark there: the newest"
    _jars(home / "jars", "spark-core_2.13-4.2.1.jar", "spark-sql_2.13-4.2.1.jar")
    assert installed_minor() == "4.2"
    assert find_jar(package) == older
    assert find_jar(package, "4.10") == newer
    with pytest.raises(JarMissing, match=r"no KeyRoute jar for Spark 4\.1 .* only for 4\.2, 4\.10"):
        find_jar(package, "4.1")


def test_the_installed_pyspark_tells_its_minor_version(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SPARK_HOME", raising=False)
    assert installed_minor() == ".".join(pyspark.__version__.split(".")[:2])
