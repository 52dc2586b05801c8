# Two commands do everything from a bare clone: `make demo` and `make test`.
SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
PYTHON ?= python3
BIN := .venv/bin
MINUTES ?= 60
export PYSPARK_PYTHON := $(CURDIR)/.venv/bin/python
export PYTHONPATH := $(CURDIR)/pyctl

JVM_SOURCES := $(shell find jvm proto project -name '*.scala' -o -name '*.proto' -o -name '*.sbt' -o -name build.properties | grep -v /target/) build.sbt
JAR := target/keyroute-spark-4.3_2.13-0.1.0.jar
# Of the Scala tests: some integration tests put it on an application's class path.
TESTS_JAR := jvm/spark/target/scala-2.13/keyroute-spark-4-3_2.13-0.1.0-tests.jar
MESSAGES := $(wildcard proto/keyroute/v1/*.proto)

.PHONY: help requirements demo test check check-python check-jvm integration soak format proto jar wheel docs clean

help: ## this list
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## (.*)/  make \1\t\2/' | expand -t 22

requirements:
	@scripts/requirements $(PYTHON)

.venv/ready: pyproject.toml | requirements
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	touch $@

$(JAR): $(JVM_SOURCES) | .venv/ready
	./sbt spark/assembly
	touch $(JAR)
	mkdir -p pyctl/keyroute/jars && cp $(JAR) pyctl/keyroute/jars/

$(TESTS_JAR): $(JVM_SOURCES) | .venv/ready
	./sbt spark/Test/packageBin
	touch $(TESTS_JAR)

jar: $(JAR) ## the plugin's jar, in target/

wheel: $(JAR) ## the Python package with the jar inside, in dist/
	mkdir -p pyctl/keyroute/jars && cp $(JAR) pyctl/keyroute/jars/
	$(BIN)/python -m pip wheel --quiet --no-deps --wheel-dir dist .

demo: $(JAR) ## real flights through two chained operators, reconfigured while they run
	$(BIN)/keyroute demo --work target/demo

test: check integration ## everything: check, then the integration tests with real servers

check: check-python check-jvm ## format, lint, types, import contracts, messages, unit tests

check-python: .venv/ready
	$(BIN)/ruff format --check pyctl integration_tests examples benchmarks proto
	$(BIN)/ruff check pyctl integration_tests examples benchmarks proto
	$(BIN)/mypy
	$(BIN)/lint-imports
	scripts/messages --check $(BIN)/python
	$(BIN)/python -m pytest pyctl/tests

check-jvm: .venv/ready
	./sbt scalafmtCheckAll "scalafixAll --check" core/test spark/test bench/compile spark/assembly spark/Test/packageBin
	mkdir -p pyctl/keyroute/jars && touch $(JAR) $(TESTS_JAR) && cp $(JAR) pyctl/keyroute/jars/

integration: $(JAR) $(TESTS_JAR)
	$(BIN)/python -m pytest --durations=20 integration_tests

soak: $(JAR) $(TESTS_JAR) ## random streams, changes and faults beside Spark alone, for MINUTES (OPTIONS=--cluster: executors fail, too); adds to target/soak.jsonl
	PYTHONPATH=integration_tests:pyctl $(BIN)/python -m differential.soak \
	  --minutes $(MINUTES) --results target/soak.jsonl $(OPTIONS)

format: .venv/ready ## rewrites both languages in the project's format
	$(BIN)/ruff format pyctl integration_tests examples benchmarks proto
	$(BIN)/ruff check --fix pyctl integration_tests examples benchmarks proto
	./sbt "scalafixAll" scalafmtAll

proto: .venv/ready ## generates the Python messages from proto/
	scripts/messages $(BIN)/python

docs: .venv/ready ## generates docs/configuration.md
	./sbt "spark/runMain org.apache.spark.sql.keyroute.plugin.SettingsPage docs/configuration.md"

clean: ## removes what the build made, not the virtual environment
	rm -rf target jvm/*/target project/target project/project dist build pyctl/keyroute/jars
