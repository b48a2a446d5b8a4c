"""Scrapy's own parts again, with the same behaviour in less time. What isn't here is Scrapy's.

- `downloader.py`, `items.py`, `stats.py`, `lines.py`: taken in by Scrapy's public settings DOWNLOADER, ITEM_PROCESSOR,
  STATS_CLASS and LOG_FORMATTER; `defaults.py` by DOWNLOADER_MIDDLEWARES, `traffic.py` by its add-on.
- `engine.py`, `signals.py`: taken in by the add-on in `engine.py`, which FAST_ENGINE switches.
"""
