"""Hypothesis profile of the unit tests: the same examples every time, and no deadline."""

from hypothesis import settings

settings.register_profile("keyroute", deadline=None, derandomize=True, max_examples=50)
settings.load_profile("keyroute")
