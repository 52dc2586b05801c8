"""KeyRoute: routing tables for Spark's stateful streams. This package is the controller."""

from keyroute.spark import configure_spark

__version__ = "0.1.0"

__all__ = ["__version__", "configure_spark"]
