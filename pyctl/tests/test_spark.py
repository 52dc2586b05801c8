"""`configure_spark` adds to what a builder has; `find_jar` says what to do where there is none."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from keyroute import configure_spark
from keyroute.jar import JarMissing, find_jar
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


def test_a_wheel_holds_its_jar_and_a_checkout_builds_it(tmp_path: Path) -> None:
    package = tmp_path / "pyctl" / "keyroute"
    (package / "jars").mkdir(parents=True)
    with pytest.raises(JarMissing, match="make jar"):
        find_jar(package)
    packaged = package / "jars" / "keyroute-spark-4.3_2.13-0.1.0.jar"
    packaged.touch()
    assert find_jar(package) == packaged
    (tmp_path / "build.sbt").touch()
    assert find_jar(package) == packaged
    (tmp_path / "target").mkdir()
    older = tmp_path / "target" / "keyroute-spark-4.3_2.13-0.0.9.jar"
    newer = tmp_path / "target" / "keyroute-spark-4.3_2.13-0.1.0.jar"
    older.touch()
    newer.touch()
    os.utime(older, (1, 1))
    assert find_jar(package) == newer
