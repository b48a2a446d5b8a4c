"""Dates as sites write them: read first `reading.py`, then `in_words.py`."""

from crawler.extract.dates.reading import Day, Guess, to_utc

__all__ = ["Day", "Guess", "to_utc"]
