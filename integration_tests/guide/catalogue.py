"""All examples by name, as the worker asks for them."""

from __future__ import annotations

from guide import adverts, duplicates, sensors, visits, words

EXAMPLES = (
    *words.EXAMPLES,
    *visits.EXAMPLES,
    *duplicates.EXAMPLES,
    *adverts.EXAMPLES,
    *sensors.EXAMPLES,
)

# Queries that Spark refuses.
REFUSED = (*words.REFUSED, *adverts.REFUSED)

ALL = {example.name: example for example in (*EXAMPLES, *REFUSED)}
