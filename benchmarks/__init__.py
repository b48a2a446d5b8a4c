"""Measurements: plain scripts, each of which says what it asks and how it is run."""
