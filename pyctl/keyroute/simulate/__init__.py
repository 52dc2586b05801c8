"""Replays a stream of key tuples period by period: what tables would have brought, without Spark.

`reader` makes a `stream` of a file, `replay` asks a planner after each period and measures its
tables on the next by the routing code of `core`, `result` is what came of it, `plot` draws it.
"""
