"""Random crawls come to the same on both engines: items, statistics, signals, calls of components, and their order.

A failure prints the smallest crawl that fails, and a line to run it again (`@reproduce_failure`). What can't be the
same on both engines isn't drawn; docs/fast_engine.md lists it.
"""

import os
from collections import Counter

import pytest
from fast.random_crawl import WORLDS, observe
from hypothesis import HealthCheck, Phase, given, settings

RANDOM = settings(
    deadline=None,
    database=None,
    derandomize=os.environ.get("FAULTS") != "full",  # `make test` and the short form say the same each time
    print_blob=True,
    suppress_health_check=list(HealthCheck),
    phases=[Phase.generate, Phase.shrink],
)


def check(world):
    scrapys, fast = (observe(world, fast=is_fast) for is_fast in (False, True))
    if "stalled" in scrapys:  # it closed while items that it started with were in the pipelines
        assert world.starts_with_items
        assert "stalled" not in fast
    elif scrapys["stats"]["finish_reason"] == "finished":
        assert fast == scrapys
    else:
        check_early(scrapys, fast)


def check_early(scrapys, fast):
    """Crawls that closed early come to the same in any order; but at that moment a last request may be sent or not."""
    less, more = sorted((scrapys, fast), key=requests_of)
    items_of_less, items_of_more = (Counter(crawl["items"]) for crawl in (less, more))
    assert fast["stats"]["finish_reason"] == scrapys["stats"]["finish_reason"]
    if requests_of(less) == requests_of(more):
        assert (items_of_less, less["stats"]) == (items_of_more, more["stats"])
    else:
        assert requests_of(more) - requests_of(less) == 1
        assert items_of_less <= items_of_more


def requests_of(crawl):
    return crawl["stats"].get("downloader/request_count", 0)


@settings(RANDOM, max_examples=15)
@given(WORLDS)
def test_random_crawls_come_to_the_same(world):
    check(world)


@pytest.mark.faults
@settings(RANDOM, max_examples=500)
@given(WORLDS)
def test_many_random_crawls_come_to_the_same(world):
    check(world)
