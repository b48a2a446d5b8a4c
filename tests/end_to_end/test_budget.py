"""A plan's budget: what is asked for stays within it, what is left fails by name, and comes back with a larger one."""

from __future__ import annotations

import os
import signal
from collections import Counter

from end_to_end.test_start_pages import Tree, page, paths, submit
from waiting import PATIENCE_SECONDS, until


def failures(crawl, plan="city"):
    return crawl.json("ledger", plan)["total"]["failures"]


def test_pages_stop_at_the_budget_and_go_on_with_a_larger_one(serve, crawl):
    host = serve(Tree())
    keys = {"start": [f"{host.url}/"], "follow": {"depth": 3, "deny": ["print"]}}
    submit(crawl, budget={"pages": 5}, **keys)
    crawl.finish(consumers=2)
    assert len(host.pages()) == len(paths(host, crawl)) == 5
    left = failures(crawl)["budget-pages"]
    assert left == crawl.total()["failed"] > 0
    (shown,) = crawl.json("seeds", "show", next(iter(crawl.unfinished())))["seeds"]
    assert "`pages` of its plan's budget has no room for it" in shown["why"]
    submit(crawl, "--replace", budget={"pages": 100}, **keys)
    crawl.finish()
    assert paths(host, crawl).keys() == {"/"} | {f"/{number}" for number in range(2, 16)}
    assert max(Counter(asked.path for asked in host.pages()).values()) == 1
    assert not failures(crawl)
    crawl.total()


def test_a_raise_between_two_workers_beside_a_killed_one_brings_all_that_was_left_once(serve, crawl):
    host, key = serve(Tree()), crawl.keys.plan_budget("city")
    crawl.settings["SESSION_SECONDS"] = 2
    keys = {"start": [f"{host.url}/"], "follow": {"depth": 3, "deny": ["print"]}}
    submit(crawl, budget={"pages": 6}, **keys)
    killed = crawl.worker()
    until(lambda: len(host.pages()) > 1, "pages were asked for")
    os.kill(killed.pid, signal.SIGKILL)
    killed.wait(PATIENCE_SECONDS)
    workers = [crawl.worker() for _ in range(2)]
    until(lambda: crawl.counts()["failed"], "the budget has no room for a page")
    assert crawl.redis.hget(key, "pages") == b"6"
    submit(crawl, "--replace", budget={"pages": 15}, **keys)
    crawl.finish()
    for worker in workers:
        os.kill(worker.pid, signal.SIGTERM)
        assert worker.wait(PATIENCE_SECONDS) == 0
    assert paths(host, crawl).keys() == {"/"} | {f"/{number}" for number in range(2, 16)}
    used = crawl.redis.hgetall(key)
    assert (used[b"pages"], used[b"items"]) == (b"15", b"15")
    assert not crawl.redis.exists(crawl.keys.held_pages("city"))
    total = crawl.total()
    assert (total["finished"], total["failed"]) == (15, 0)


def test_items_bytes_hosts_and_domains_have_bounds(serve, crawl):
    hosts = [serve(lambda path: page(path, *(f"{path}/{number}" for number in range(1, 9)))) for _ in range(2)]
    for name, budget, most in (
        ("items", {"items": 3}, 3),
        ("bytes", {"bytes": 1}, 1),
        ("hosts", {"per_host": 4}, 4),
        ("domains", {"per_domain": 5}, 5),
        ("depths", {"per_depth": 3}, 4),
        ("templates", {"per_template": 2}, 3),
    ):
        start = [f"{host.url}/{name}" for host in (hosts if name == "domains" else hosts[:1])]
        submit(crawl, name=name, start=start, follow={"depth": 1, "allow": [r"/[a-z]+/\d$"]}, budget=budget)
        before = sum(len(host.pages()) for host in hosts)
        crawl.finish()
        asked = sum(len(host.pages()) for host in hosts) - before
        account = crawl.json("ledger", name)["total"]
        reason = f"budget-{next(iter(budget)).replace('_', '-')}"
        # Items and bytes are known once a page is read: what was in flight by then is more.
        assert most <= account["finished"] <= most + (name in ("items", "bytes")) * 2
        assert asked <= account["finished"]
        assert account["failures"].keys() == {reason}
    crawl.total()


def test_links_that_a_host_had_no_room_for_come_back_with_more(serve, crawl):
    """Though the pages that lead there are finished, and what is still over stays what it was."""
    host = serve(lambda path: page(path, *(f"/{number}" for number in range(1, 9))))
    keys = {"start": [f"{host.url}/"]}
    for options, per_host, left in (((), 3, 5), (("--replace",), 6, 2), (("--replace",), 7, 1)):
        submit(crawl, *options, **keys, follow={"depth": 1, "per_host": per_host})
        crawl.finish()
        assert failures(crawl) == {"budget-follow": left}
        assert len(host.pages()) == 1 + per_host
    crawl.total()


def test_a_plan_without_room_leaves_the_page_to_others(serve, crawl):
    host = serve(Tree())
    for name, budget in (("small", {"pages": 1}), ("large", {"pages": 100})):
        submit(crawl, name=name, start=[f"{host.url}/"], follow={"depth": 1, "deny": ["print"]}, budget=budget)
    crawl.finish()
    assert Counter(asked.path for asked in host.pages()) == {"/": 1, "/2": 1, "/3": 1}
    assert failures(crawl, "small") == {"budget-pages": 2}
    assert not failures(crawl, "large")
    crawl.total()
