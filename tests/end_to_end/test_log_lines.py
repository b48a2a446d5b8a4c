"""A worker's log: a few lines of what goes wrong, whatever the number of pages, and JSON where it is told to."""

from __future__ import annotations

import json
import re
from collections import Counter

from hostile.hostile_wire_bodies import answer
from hostile.hostile_wire_server import RESET

PAGES = 15  # of each host that fails
LINE = re.compile(r"\[crawler\.worker\.reports\.failure_log\] INFO: (.*)")
GONE = answer("gone", status=b"404 Not Found")


def test_failures_of_pages_robots_and_images_are_a_line_for_each_host(serve, crawl):
    """One host has pages, one has none, one won't give its robots.txt, one no images."""
    gone, media = serve(GONE, address="127.0.0.2"), serve(GONE, address="127.0.0.4")
    robots = serve(GONE, robots=lambda _path: [RESET], address="127.0.0.3")
    well = serve(answer(f'<article>text</article><img src="{media.url}/x.png">'))
    site = {
        "search": {"url": f"{gone.url}/find?q={{query}}&page={{page}}", "paging": {"kind": "page"}},
        "results": {"links": "css:a.result"},
        "content": {"content": "css:article", "images": "css:img"},
        "politeness": {"delay": 0},
    }
    crawl.write_site("s", site)
    crawl.submit(["s"], [f"word{number}" for number in range(PAGES)])
    crawl.offer([f"{well.url}/{number}" for number in range(PAGES)])
    crawl.offer([f"{host.url}/{number}" for host in (gone, robots) for number in range(PAGES)])
    log = crawl.finish(producers=1, MAX_ATTEMPTS=2, ROBOTS_RETRY_SECONDS=0.1).decode()
    total = crawl.total()
    assert total["failures"] == {"http-404": 2 * PAGES, "robots-unreachable": PAGES}
    lines = LINE.findall(log)
    assert len(lines) < PAGES
    for host in (gone, robots, media):
        assert log.count(f"{host.url}/") <= len(lines)  # as an example
    print(f"{log.count(chr(10))} lines of both logs, {len(lines)} of them about what failed")
    text = " ".join(lines)
    counted = Counter()
    for reason, number in re.findall(r"((?:media )?[a-z0-9-]+) (\d+)(?=[,)])", text):
        counted[reason] += int(number)
    assert (counted["http-404"], counted["media http-404"]) == (2 * PAGES, PAGES)
    assert counted["robots-unreachable"] >= 2 * PAGES
    assert "robots.txt connection" in text


def test_every_line_of_the_log_is_json(crawl):
    written = crawl.finish(environment={"LOG_JSON": "1"}).decode()
    lines = [json.loads(line) for line in written.splitlines()]
    assert {"worker-started", "sinks-chosen"} <= {line.get("event") for line in lines}
    assert all(line["time"] and line["level"] and line["logger"] and line["message"] for line in lines)
