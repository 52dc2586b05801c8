"""KeyRoute: routing tables for Spark's stateful streams. This package is the controller."""

__version__ = "0.1.0"
