"""Flights by airplane, then by route: two chained stateful operators.

Plain PySpark. Operator A is keyed by airplane: it numbers the airplane's flights, keeps their total
delay, and passes each flight on. Operator B is keyed by route: it keeps the route's flights and
their delay.

    spark-submit examples/airline.py --input DIR --output DIR --checkpoint DIR
"""

import argparse
from collections.abc import Iterator
from typing import Any

from pyspark.sql import DataFrame, Row, SparkSession
from pyspark.sql.streaming import StatefulProcessor, StatefulProcessorHandle

FLIGHT = "day string, tailnum string, route string, delay long"
BY_AIRPLANE = FLIGHT + ", airplane_flights long, airplane_delay long"
BY_ROUTE = BY_AIRPLANE + ", route_flights long, route_delay long"


class Total(StatefulProcessor):
    """Counts a key's flights and adds up their delay."""

    def init(self, handle: StatefulProcessorHandle) -> None:
        self.total = handle.getValueState("total", "flights long, delay long")

    def handleInputRows(self, key: Any, rows: Iterator[Row], timers: Any) -> Iterator[Row]:
        flights, delay = self.total.get() if self.total.exists() else (0, 0)
        for row in rows:
            flights += 1
            delay += row.delay
            yield self.result(row, flights, delay)
        self.total.update((flights, delay))

    def result(self, row: Row, flights: int, delay: int) -> Row:
        raise NotImplementedError

    def close(self) -> None:
        pass


class ByAirplane(Total):
    def result(self, row: Row, flights: int, delay: int) -> Row:
        return Row(**row.asDict(), airplane_flights=flights, airplane_delay=delay)


class ByRoute(Total):
    def result(self, row: Row, flights: int, delay: int) -> Row:
        return Row(**row.asDict(), route_flights=flights, route_delay=delay)


def totals(flights: DataFrame) -> DataFrame:
    """Flights (columns FLIGHT) with the running totals of their airplane and of their route."""
    return (
        flights.groupBy("tailnum")
        .transformWithState(ByAirplane(), BY_AIRPLANE, "Append", "None")
        .groupBy("route")
        .transformWithState(ByRoute(), BY_ROUTE, "Append", "None")
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--input", required=True, help="folder of JSON files, in order of time")
    parser.add_argument("--output", required=True, help="folder for the Parquet results")
    parser.add_argument("--checkpoint", required=True, help="folder for the checkpoint")
    parser.add_argument("--files-per-batch", type=int, default=3)
    arguments = parser.parse_args()

    spark = SparkSession.builder.appName("airline").getOrCreate()
    flights = (
        spark.readStream.schema(FLIGHT)
        .option("maxFilesPerTrigger", arguments.files_per_batch)
        .json(arguments.input)
    )
    query = (
        totals(flights)
        .writeStream.queryName("airline")
        .format("parquet")
        .outputMode("append")
        .option("path", arguments.output)
        .option("checkpointLocation", arguments.checkpoint)
        .trigger(availableNow=True)
        .start()
    )
    query.awaitTermination()
    spark.stop()


if __name__ == "__main__":
    main()
