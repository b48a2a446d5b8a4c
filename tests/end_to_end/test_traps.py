"""A site of twelve traps: each costs little, and the true pages beside them are all found."""

from __future__ import annotations

from collections import Counter

import pytest
import yaml
from crawl import CRAWL_SECONDS
from end_to_end.trap_site import MAX_REQUESTS, TRAPS, TRUE_PAGES, TrapSite, trap_of
from waiting import until


@pytest.mark.faults  # a crawl of some 1,700 pages, under load for some minutes
@pytest.mark.parametrize(("workers", "killed_after"), [(1, 0), (2, 0), (2, 400)])
def test_each_trap_costs_little_and_the_true_pages_are_found(serve, crawl, workers, killed_after):
    twin = serve(TrapSite())
    site = TrapSite(twin.url)
    host = serve(site)
    politeness = {"delay": 0, "concurrency": 4, "burst": 50}
    crawl.write_site("board", {"content": {"title": "css:h1", "content": "css:article"}, "politeness": politeness})
    plan = {
        "name": "city",
        "start": [f"{host.url}/"],
        "sites": [{"use": "board", "hosts": ["127.0.0.1"]}],
        "follow": {"depth": 300, "hosts": "any"},
    }
    (crawl.folder / "city.yaml").write_text(yaml.safe_dump(plan), encoding="utf-8")
    crawl.json("plan", "submit", crawl.folder / "city.yaml")
    if killed_after:
        dying = crawl.worker("consumer")
        until(lambda: len(host.pages()) >= killed_after, "pages", CRAWL_SECONDS)
        dying.kill()
    crawl.finish(consumers=workers)
    paths = Counter(one.path for one in host.pages())
    requests = Counter(trap_of(path) for path in paths.elements()) + Counter(mirror=len(twin.pages()))
    again = sum(number - 1 for number in paths.values())
    assert again <= (20 if killed_after else 0)  # those that the killed worker held
    assert len(site.true_paths()) == TRUE_PAGES
    assert not site.true_paths() - paths.keys()
    assert {trap: requests[trap] for trap in TRAPS if not 0 < requests[trap] <= MAX_REQUESTS} == {}
    total = crawl.total()
    assert total["ready"] == total["executing"] == 0
    named = {name for name in (*total["notes"], *total["failures"]) if name.startswith("trap-")}
    print(f"{workers} workers, one killed: {killed_after > 0}: {dict(requests)}, refused: {total['failures']}")
    assert named >= {f"trap-{name}" for name in ("repeated", "duplicate", "variant", "calendar", "facets", "mirror")}
