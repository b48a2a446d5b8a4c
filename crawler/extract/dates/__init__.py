"""Dates as sites write them: read first `instants.py`, then `in_words.py`."""

from crawler.extract.dates.instants import Day, Guess, to_utc

__all__ = ["Day", "Guess", "to_utc"]
