"""`keyroute status`: applications, queries, their tables and how well they do."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer
from rich.console import Group, RenderableType
from rich.live import Live
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from keyroute.cli import options
from keyroute.cli.exits import sentences
from keyroute.cli.output import OUT, percent, print_json, ratio
from keyroute.cli.signals import stop_on_signals
from keyroute.controller.overview import Overview, QueryOverview, look
from keyroute.gateway.client import Py4jGateways

WATCH_S = 2.0
SHOWN_PREDICTIONS = 3


def status(
    zookeeper: options.ZooKeeperOption = options.CONNECT,
    root: options.RootOption = options.ROOT,
    auth_file: options.AuthFileOption = None,
    token_file: options.TokenFileOption = None,
    watch: Annotated[bool, typer.Option("--watch", help="Refresh until interrupted.")] = False,
    everything: Annotated[
        bool, typer.Option("--all", help="Queries that do not run now as well.")
    ] = False,
    as_json: options.JsonOption = False,
) -> None:
    """Shows running queries: table in force, routed operators, locality, imbalance, changes.

    Without the gateway's token it shows what ZooKeeper knows, and says so.
    """
    gateways = Py4jGateways(token_file)
    if watch and as_json:
        raise typer.BadParameter("--watch is for people and --json for programs: choose one.")
    with sentences(), options.open_store(zookeeper, root, auth_file) as store:
        overview = look(store, gateways, all_queries=everything)
        if as_json:
            print_json(asdict(overview))
            return
        if not watch:
            OUT.print(render(overview, root))
            return
        with stop_on_signals() as stop, Live(render(overview, root), console=OUT) as live:
            while not stop.wait(WATCH_S):
                live.update(render(look(store, gateways, all_queries=everything), root))


def render(overview: Overview, root: str) -> RenderableType:
    """The overview for people."""
    if not overview.applications and not overview.queries and not overview.damaged:
        return Text(
            f"No application with KeyRoute runs under {root}: start one with the plugin and "
            "spark.keyroute.zookeeper.connect."
        )
    blocks: list[RenderableType] = [_applications(overview)]
    for query in overview.queries:
        blocks += ["", _query(query), _groups(query), _operators(query)]
    blocks += [Text(sentence) for sentence in overview.damaged]
    if not overview.queries and not overview.damaged:
        blocks.append("No query runs (`--all` shows those that ran).")
    return Group(*blocks)


def _applications(overview: Overview) -> Table:
    table = _table("Applications", ("application", "gateway", "KeyRoute", "Spark"))
    for app in overview.applications:
        where = f"{app.gateway_host}:{app.gateway_port}"
        table.add_row(*map(escape, (app.app_id, where, app.keyroute_version, app.spark_version)))
    return table


def _query(query: QueryOverview) -> Table:
    title = f"Query {query.name or '(unnamed)'}  {query.query_id}"
    table = Table(title=escape(title), title_justify="left", title_style="bold", show_header=False)
    for label, text in _facts(query):
        table.add_row(label, escape(text))
    return table


def _facts(query: QueryOverview) -> list[tuple[str, str]]:
    not_seen = "does not run now, or has had no batch since it started"
    facts = [("runs in", query.app_id if query.running else not_seen)]
    if query.version:
        facts.append(("table in force", f"{query.version}, since batch {query.since_batch}"))
    else:
        facts.append(("table in force", "none: Spark's own routing"))
    if query.change is not None:
        change = query.change
        because = f": {change.reason}" if change.reason else ""
        facts.append(("last change", f"version {change.version}, {change.phase}{because}"))
    if query.problem:
        facts.append(("driver", f"not asked, so only ZooKeeper's part is shown: {query.problem}"))
    if query.batch is not None:
        facts.append(("last batch", str(query.batch)))
        facts += _figures(query)
    facts += _predictions(query)
    if query.waiting:
        facts.append(("waits to switch", query.waiting))
    if query.bypass:
        facts.append(("runs without KeyRoute", query.bypass))
    return facts


def _figures(query: QueryOverview) -> list[tuple[str, str]]:
    if not query.batches_seen:
        return [("measured", "no batch has ended under the table in force yet")]
    loads = ", ".join(f"group {g}: {ratio(value)}" for g, value in query.imbalance.items())
    return [
        (f"of the last {query.batches_seen} batches under it", ""),
        ("  locality", percent(query.locality)),
        ("  imbalance", loads or "-"),
        ("  median", f"{query.median_batch_ms:,.0f} ms"),
    ]


def _predictions(query: QueryOverview) -> list[tuple[str, str]]:
    """The last versions' predictions beside what came true, and how far off they were."""
    if not query.predictions:
        return []
    facts = [("predicted, then realised", "")]
    facts += [
        (
            f"  version {p.version}",
            f"locality {percent(p.predicted_locality)}, {percent(p.realised_locality)}; imbalance "
            f"{ratio(p.predicted_imbalance)}, {ratio(p.realised_imbalance)}",
        )
        for p in query.predictions[-SHOWN_PREDICTIONS:]
    ]
    if query.locality_error is not None:
        facts.append(
            (
                "  error so far",
                f"{100 * query.locality_error:.1f} points of locality in the mean of "
                f"{len(query.predictions)}",
            )
        )
    return facts


def _groups(query: QueryOverview) -> RenderableType:
    if not query.groups:
        return "No operator is routed."
    table = _table("", ("group", "operators", "key columns", "tables name", "partitions"))
    for group in query.groups:
        typed = zip(group.key_columns, group.key_types, strict=True)
        cells = (
            str(group.group),
            ", ".join(map(str, group.operators)),
            ", ".join(f"{name} {kind}" for name, kind in typed),
            ", ".join(group.routing_columns) or "no keys, slots only",
            str(group.partitions),
        )
        table.add_row(*map(escape, cells))
    return table


def _operators(query: QueryOverview) -> RenderableType:
    if not query.operators:
        return "No stateful operator is known yet."
    table = _table("", ("operator", "name", "group", "routed"))
    for operator in query.operators:
        routed = "yes" if operator.routed else f"no: {operator.reason or 'no reason was given'}"
        cells = (str(operator.operator), operator.name, str(operator.group), routed)
        table.add_row(*map(escape, cells))
    return table


def _table(title: str, columns: tuple[str, ...]) -> Table:
    table = Table(title=title or None, title_justify="left", title_style="bold")
    for column in columns:
        table.add_column(column, overflow="fold")
    return table
