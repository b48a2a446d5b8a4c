"""A crawl without selectors learns what the pages of a template have in common."""

from __future__ import annotations

import pytest
import yaml
from hostile.hostile_wire_bodies import answer
from hostile.hostile_wire_server import Host

PAGES = 12
UNTIL_KNOWN = range(3, 7)  # pages that are read before enough others are known: one is fetched while others are read
NOTICE = "All that is written here belongs to those who wrote it, and nobody may copy it."


def page(path):
    number = path.strip("/")
    text = "".join(f"<p>Line {number}.{at} of what was written at the river on that day.</p>" for at in range(9))
    return [answer(f"<title>Day {number}</title><h1>Day {number}</h1><main>{text}<p>{NOTICE}</p></main>".encode())]


@pytest.fixture
def host():
    host = Host(page, lambda _path: [b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"])
    yield host
    host.close()


def test_what_repeats_is_left_out_once_enough_pages_are_known(host, crawl):
    crawl.settings |= {"ALLOW_PRIVATE_ADDRESSES": 1}
    crawl.write_site("s", yaml.safe_dump({"name": "s", "politeness": {"delay": 0}}))
    crawl.offer(f"{host.url}/{number}" for number in range(PAGES))
    crawl.finish()
    items = crawl.items()
    assert sorted(item["title"] for item in items) == sorted(f"Day {number}" for number in range(PAGES))
    assert all("Line" in item["content"].split("\n")[-2] for item in items)
    assert sum(NOTICE in item["content"] for item in items) in UNTIL_KNOWN
