# Two commands do everything from a bare clone: `make demo` and `make test`.
SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
PYTHON ?= python3
BIN := .venv/bin
MINUTES ?= 60
# An integration test waits as much as it works: two processes keep two cores busy. The long files are
# in the middle, so they are taken in order.
PROCESSES ?= -n 2 --dist loadfile --no-loadscope-reorder
export PYSPARK_PYTHON := $(CURDIR)/.venv/bin/python
export PYTHONPATH := $(CURDIR)/pyctl

JVM_SOURCES := $(shell find jvm proto project -name '*.scala' -o -name '*.proto' -o -name '*.sbt' -o -name build.properties | grep -v /target/) build.sbt
JAR := target/keyroute-spark-4.3_2.13-0.1.0.jar
JAR_42 := target/keyroute-spark-4.2_2.13-0.1.0.jar
# Of the Scala tests: some integration tests put it on an application's class path.
TESTS_JAR := jvm/spark/target/scala-2.13/keyroute-spark-4-3_2.13-0.1.0-tests.jar
TESTS_JAR_42 := jvm/spark-4.2/target/scala-2.13/keyroute-spark-4-2_2.13-0.1.0-tests.jar
# The other PySpark, beside the one in .venv; pyproject.toml says which.
PYSPARK_42 := $(CURDIR)/.pyspark-4.2
PYSPARK_42_VERSION := $(shell sed -nE 's/^ *"pyspark==(4\.2\.[0-9]+)",$$/\1/p' pyproject.toml)
PYSPARK_42_READY := .pyspark-4.2/ready-$(PYSPARK_42_VERSION)
WITH_PYSPARK_42 := SPARK_HOME=$(PYSPARK_42)/pyspark PYTHONPATH=$(PYSPARK_42):$(PYTHONPATH)
# Of Spark's classes: applications of tests start with them in half the time.
ARCHIVES := target/archives/ready
MESSAGES := $(wildcard proto/keyroute/v1/*.proto)

.PHONY: help requirements demo test test-all check check-python check-jvm integration \
  integration-42 soak bench-planning papers format proto pyspark jar jars wheel docs clean

help: ## this list
	@grep -hE '^[a-z0-9-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z0-9-]+):.*## (.*)/  make \1\t\2/' | expand -t 22

requirements:
	@scripts/requirements $(PYTHON)

.venv/ready: pyproject.toml | requirements
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	touch $@

$(JAR): $(JVM_SOURCES) pyproject.toml | .venv/ready
	./sbt spark/assembly
	touch $(JAR)
	mkdir -p pyctl/keyroute/jars && cp $(JAR) pyctl/keyroute/jars/

$(TESTS_JAR): $(JVM_SOURCES) | .venv/ready
	./sbt spark/Test/packageBin
	touch $(TESTS_JAR)

# PySpark alone: what it needs is in .venv already.
$(PYSPARK_42_READY): | .venv/ready
	rm -rf $(PYSPARK_42)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-compile \
	  --target $(PYSPARK_42) pyspark==$(PYSPARK_42_VERSION)
	touch $@

pyspark: .venv/ready $(PYSPARK_42_READY)

$(JAR_42): $(JVM_SOURCES) pyproject.toml | $(PYSPARK_42_READY)
	./sbt spark42/assembly
	touch $(JAR_42)

$(TESTS_JAR_42): $(JVM_SOURCES) | $(PYSPARK_42_READY)
	./sbt spark42/Test/packageBin
	touch $(TESTS_JAR_42)

jar: $(JAR) ## the plugin's jar for the newest Spark, in target/

jars: $(JAR) $(JAR_42) ## the plugin's jars, one for each minor version of Spark, in target/

wheel: jars ## the Python package with the jars inside, in dist/
	mkdir -p pyctl/keyroute/jars && cp $(JAR) $(JAR_42) pyctl/keyroute/jars/
	$(BIN)/python -m pip wheel --quiet --no-deps --wheel-dir dist .

demo: $(JAR) ## real flights through two chained operators, reconfigured while they run
	$(BIN)/keyroute demo --work target/demo

test: check integration integration-42 ## everything: check, then the integration tests with real servers

test-all: test ## and all that older Sparks are not tested with in `make test`
	./sbt -Dtests=all spark42/test
	$(WITH_PYSPARK_42) $(BIN)/python -m pytest $(PROCESSES) --durations=20 integration_tests

check: .venv/ready ## format, lint, types, import contracts, messages, unit tests
	$(MAKE) --jobs 2 check-python check-jvm

check-python: .venv/ready
	$(BIN)/ruff format --check pyctl integration_tests examples benchmarks proto
	$(BIN)/ruff check pyctl integration_tests examples benchmarks proto
	$(BIN)/mypy
	$(BIN)/lint-imports
	scripts/messages --check $(BIN)/python
	$(BIN)/python -m pytest pyctl/tests benchmarks/tests

check-jvm: .venv/ready $(PYSPARK_42_READY)
	./sbt scalafmtCheckAll spark42/scalafmtCheckAll "scalafixAll --check" \
	  "all core/test spark/test bench/compile spark/assembly spark/Test/packageBin spark42/test spark42/assembly spark42/Test/packageBin"
	touch $(JAR) $(TESTS_JAR) $(JAR_42) $(TESTS_JAR_42)
	mkdir -p pyctl/keyroute/jars && cp $(JAR) pyctl/keyroute/jars/

$(ARCHIVES): $(JAR) $(TESTS_JAR)
	PYTHONPATH=integration_tests:$(PYTHONPATH) $(BIN)/python -m apps.archive
	touch $@

integration: $(JAR) $(TESTS_JAR) $(ARCHIVES)
	$(BIN)/python -m pytest $(PROCESSES) --durations=20 integration_tests

# One cell for each operator whose code is Python; OneCellEachSuite has the others.
CELLS_42 := $(foreach cell,numbered-rocksdb-1-changelog numbered_pandas-rocksdb-2 totals_pandas-hdfs,\
  'integration_tests/test_switch.py::test_switches_and_stays_exact[$(cell)]')

integration-42: $(JAR_42) $(TESTS_JAR_42)
	$(WITH_PYSPARK_42) $(BIN)/python -m pytest --durations=3 $(CELLS_42)

soak: $(JAR) $(TESTS_JAR) $(ARCHIVES) ## random streams, changes and faults beside Spark alone, for MINUTES (OPTIONS=--cluster: executors fail, too); adds to target/soak.jsonl
	PYTHONPATH=integration_tests:pyctl $(BIN)/python -m differential.soak \
	  --minutes $(MINUTES) --results target/soak.jsonl $(OPTIONS)

bench-planning: .venv/ready ## the default planner beside plain METIS (OPTIONS="--streams DIR --vega FILE --time 1e6"), in target/bench/planning.json
	$(BIN)/python benchmarks/planning.py $(OPTIONS)

format: .venv/ready ## rewrites both languages in the project's format
	$(BIN)/ruff format pyctl integration_tests examples benchmarks proto
	$(BIN)/ruff check --fix pyctl integration_tests examples benchmarks proto
	./sbt "scalafixAll" scalafmtAll spark42/scalafmtAll

papers: .venv/ready ## a table and a figure of each paper beside ours, in benchmarks/papers/results (STREAMS=DIR: more streams; PAPERS="pkg dkg": only these)
	PYTHONPATH=$(CURDIR)/benchmarks:$(PYTHONPATH) $(BIN)/python -m papers $(PAPERS) $(if $(STREAMS),--streams $(STREAMS))

proto: .venv/ready ## generates the Python messages from proto/
	scripts/messages $(BIN)/python

docs: .venv/ready ## generates docs/configuration.md
	./sbt "spark/runMain org.apache.spark.sql.keyroute.plugin.SettingsPage docs/configuration.md"

clean: ## removes what the build made, not the virtual environment and the other PySpark
	rm -rf target jvm/*/target project/target project/project dist build pyctl/keyroute/jars
