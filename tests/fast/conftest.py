"""Leaves out, on versions of Scrapy that the fast engine isn't tested with, what has nothing to compare there."""

from pathlib import Path

import scrapy

from crawler.fast.addon import TESTED_VERSIONS

# On other versions the add-on steps back, which test_addon.py shows.
OURS = [] if scrapy.__version__.startswith(TESTED_VERSIONS) else Path(__file__).parent.glob("test_*.py")
collect_ignore = [path.name for path in OURS if path.name != "test_addon.py"]
