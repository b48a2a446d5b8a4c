"""A site of twelve traps: each costs little, and the true pages beside them are all found."""

from __future__ import annotations

from collections import Counter

import pytest
import yaml
from end_to_end.trap_site import MAX_REQUESTS, TRAPS, TRUE_PAGES, TrapSite, trap_of


@pytest.mark.faults  # a crawl of some 1,700 pages
def test_each_trap_costs_little_and_the_true_pages_are_found(serve, crawl):
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
    crawl.finish()
    paths = Counter(one.path for one in host.pages())
    requests = Counter(trap_of(path) for path in paths.elements()) + Counter(mirror=len(twin.pages()))
    assert max(paths.values()) == 1
    assert len(site.true_paths()) == TRUE_PAGES
    assert not site.true_paths() - paths.keys()
    assert {trap: requests[trap] for trap in TRAPS if not 0 < requests[trap] <= MAX_REQUESTS} == {}
    total = crawl.total()
    assert total["ready"] == total["executing"] == 0
    named = {name for name in total["notes"] if name.startswith("trap-")}
    assert named >= {f"trap-{name}" for name in ("repeated", "duplicate", "variant", "calendar", "facets", "mirror")}
