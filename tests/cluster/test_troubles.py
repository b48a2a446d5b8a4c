"""What is wrong now, by a crawl's figures."""

from __future__ import annotations

from dataclasses import replace

import pytest

from crawler.cluster.overview import FrontierOverview, Overview, RedisOverview
from crawler.cluster.troubles import WORDS, troubles
from crawler.frontier.ledger import Account

MINUTE_MS = 60_000
WORKER = {"node": "n1", "frontier": "content", "state": "alive", "age_s": 1.0, "egress_down_s": 0, "sinks_down": []}
WORKER |= {"why_no_browser": "", "drained": False, "is_overdue": False}
PRODUCER = WORKER | {"frontier": "nav"}


def overview(*workers, nav=None, content=None, redis=(), ledgers=0):
    frontiers = {"nav": nav or FrontierOverview(), "content": content or FrontierOverview()}
    return Overview(
        at_ms=60 * MINUTE_MS,
        frontiers=frontiers,
        turns_held=0,
        ledger={},
        ledgers=ledgers,
        plan_states={},
        totals={},
        workers=list(workers),
        redis=list(redis),
    )


def test_nothing_is_wrong():
    sound = overview(
        WORKER, PRODUCER, content=FrontierOverview(offered=3, ready=3), redis=[RedisOverview("a", 5, 0, saves=True)]
    )
    hour = [(0, {"site:news:retried": 40}), (60, {"site:news:finished": 4, "site:news:failed": 40})]
    assert troubles(sound, hour) == []
    long_ago = FrontierOverview(filtered=1, filter_expected=2_000_000, filter_beyond_s=49 * 60)
    assert troubles(overview(WORKER, content=long_ago), hour) == []


SILENT = [WORKER | {"node": f"n{number}", "state": "silent", "age_s": 40.4} for number in range(7)]


@pytest.mark.parametrize(
    ("found", "said"),
    [
        (overview(*SILENT), "Silent: n0, n1, n2, n3, n4 (+2). No report for 40 s; look whether the machine is up."),
        (overview(WORKER | {"state": "lapsed"}), "Gone: n1. No worker of it has a session; other nodes get its seeds."),
        (
            overview(WORKER, WORKER | {"state": "lapsed"}, WORKER | {"node": "n2", "is_overdue": True}),
            "Gone or frozen: 2 of the workers of n1, n2. Those that run get their seeds; see its log.",
        ),
        (overview(WORKER | {"state": "redis-full"}), WORDS["redis-full"]),
        (
            overview(WORKER | {"drained": True}, PRODUCER, content=FrontierOverview(offered=3, ready=3)),
            "3 seeds wait and every consumer is drained: scrapy nodes resume.",
        ),
        (
            overview(redis=[RedisOverview("a:1", 96, 100, saves=True)]),
            "Redis a:1 uses 96 % of its memory limit.",
        ),
        (
            overview(redis=[RedisOverview("a:1", 1, 0, saves=False)]),
            "Redis a:1 can't write to disk: a crash would lose what it holds.",
        ),
        (
            overview(WORKER | {"sinks_down": ["kafka"]}),
            "Sink kafka can't be reached by n1: they claim nothing until it is back.",
        ),
        (
            overview(WORKER | {"egress_down_s": 31}),
            "No host on the web answers n1, for 31 s: look at network, name servers and proxies.",
        ),
        (
            overview(content=FrontierOverview(offered=5, ready=5)),
            "5 seeds wait and no consumer runs: scrapy crawl consumer.",
        ),
        (
            overview(WORKER | {"why_no_browser": "no Chromium"}),
            "Pages that must be rendered wait, and no consumer that runs has a browser: no Chromium.",
        ),
        (
            overview(WORKER, content=FrontierOverview(offered=1, ready=1, oldest_due_ms=49 * MINUTE_MS)),
            "Seeds that could be claimed have waited for 11 minutes: too few workers, or drained ones.",
        ),
        (
            overview(WORKER, content=FrontierOverview(filtered=1, filter_expected=2_000_000, filter_beyond_s=51 * 60)),
            "Filters take 2.0e-06 of new pages for finished, above DEDUP_ERROR_RATE: links are refused. Raise it.",
        ),
        (
            overview(WORKER, content=FrontierOverview(quarantined=2)),
            "2 seeds wait to be run alone, since two workers died while they held them.",
        ),
        (
            overview(content=FrontierOverview(offered=4)),
            "The ledger can't explain 4 seeds: run scrapy ledger --verify.",
        ),
        (
            overview(ledgers=6_000),
            "There are too many plans and sites to show them here (6000); delete plans that are done.",
        ),
    ],
)
def test_each_trouble_is_a_sentence(found, said):
    assert [str(trouble) for trouble in troubles(found, [])] == [said]


def test_a_site_that_yields_nothing():
    (trouble,) = troubles(overview(), [(0, {"site:news:failed": 10, "site:few:failed": 4})])
    assert str(trouble) == "Nothing but failures in the last hour: news. Look at the site, and at its file."


@pytest.mark.parametrize(
    ("counts", "offered", "is_said"),
    [
        ({"finished": 1_934}, 0, True),  # search pages, which lead nowhere
        ({"finished": 1_934}, 5, False),  # to pages that are known or wait
        ({"finished": 100, "failed": 20, "content": 20}, 20, True),
        ({"finished": 101, "failed": 20, "content": 21, "items": 1}, 21, False),
        ({"finished": 9}, 0, False),
    ],
)
def test_a_site_whose_pages_bring_no_items(counts, offered, is_said):
    found = overview()
    found.ledger["p", "news"] = {"nav": Account(), "content": Account(offered=offered)}
    said = [str(trouble) for trouble in troubles(found, [(0, {f"site:news:{name}": n for name, n in counts.items()})])]
    pages = counts["finished"] + counts.get("failed", 0)
    sentence = f"No item of the last {pages} pages: news. Look at the site, and at its file."
    assert (sentence in said) == is_said


@pytest.mark.parametrize(("pages", "is_said"), [(29, False), (30, True)])
def test_a_site_whose_pages_bring_no_items_any_more(pages, is_said):
    before = (0, {"site:news:finished": 900, "site:news:content": 900, "site:news:items": 900})
    broken = (60, {"site:news:failed": pages, "site:news:content": pages})
    said = [str(trouble) for trouble in troubles(overview(), [before, broken])]
    sentence = f"No item of the last {pages} pages: news. Look at the site, and at its file."
    assert said == [sentence] * is_said


def test_a_site_that_has_gone():
    """It is told within minutes, however much it brought before, and no longer once it brings something again."""
    found = replace(overview(), ledger={("flood", "news"): {"content": Account(offered=9, ready=9)}})
    now_s = found.at_ms // 1000
    before = (now_s - 300, {"site:news:finished": 900, "site:news:retried": 2})
    gone = [
        before,
        (now_s - 240, {"site:news:retried": 3}),
        (now_s - 60, {"site:news:retried": 1, "site:news:failed": 1}),
    ]
    (trouble,) = troubles(found, gone)
    assert str(trouble) == "Every try has failed for 4 min: news. Hosts shows what theirs wait for."
    assert troubles(overview(), gone) == []  # nothing of it is left to be fetched
    assert troubles(found, gone[:-1]) == []
    assert troubles(found, [*gone, (now_s, {"site:news:finished": 1})]) == []


def test_the_worst_comes_first():
    found = overview(WORKER | {"node": "n2", "state": "lapsed"}, WORKER | {"sinks_down": ["mongo"]})
    assert [trouble.kind for trouble in troubles(found, [])] == ["sink-down", "nodes-gone"]
