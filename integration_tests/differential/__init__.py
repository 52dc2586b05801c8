"""The differential bench: random streams, random reconfigurations, random faults; what KeyRoute
gives beside what Spark alone gives for the same input.

events -> scenario -> drive (one lane each: plain, empty, changed) -> compare -> soak
"""
