"""An item whose content goes on over several pages is delivered with what could be had of them."""

from __future__ import annotations

import pytest
import yaml
from hostile.hostile_wire_bodies import answer
from hostile.hostile_wire_server import Host
from pymongo import MongoClient

TEXT = "Some words of a page, one after the other. " * 5


def page(text="", further=""):
    """Returns a page with a title, perhaps some text and perhaps a further page."""
    body = f"<article>{text} {TEXT}</article>" if text else "<p class=advert>nothing to read</p>"
    more = f'<a class="more" href="{further}">more</a>' if further else ""
    return [answer(f"<html><title>page</title>{body}{more}</html>".encode())]


def failing(status):
    return [f"HTTP/1.1 {status} Said\r\nContent-Length: 0\r\n\r\n".encode()]


PAGES = {
    "/without-body/1": page("one", "/without-body/2"),
    "/without-body/2": page("", "/without-body/3"),
    "/without-body/3": page("three"),
    "/gone/1": page("one", "/gone/2"),
    "/gone/2": failing(404),
    "/broken/1": page("one", "/broken/2"),
    "/broken/2": page("two", "/broken/3"),
    "/broken/3": failing(500),
    "/twice/1": page("one", "/twice/2"),
    "/twice/2": [b"HTTP/1.1 302 Found\r\nLocation: /twice/1\r\nContent-Length: 0\r\n\r\n"],
    "/ignored/1": page("one", "/ignored/2?n=2"),
    "/ignored/2?n=2": page("two", "/ignored/2?n=3"),
    "/ignored/2?n=3": page("two", "/ignored/2?n=4"),
    "/no-page/1": page("one", "/no-page/2"),
    "/no-page/2": [answer(b"\x89PNG\r\n\x1a\n" + bytes(100))],
    "/members/1": page("one", "/members/2"),
    "/members/2": [b"HTTP/1.1 302 Found\r\nLocation: /login?next=/members/2\r\nContent-Length: 0\r\n\r\n"],
    "/login?next=/members/2": page("two <input type=password>"),
}


@pytest.fixture
def host():
    host = Host(PAGES.__getitem__, lambda _path: failing(404))
    yield host
    host.close()


def test_a_further_page_that_cannot_be_had_is_named_in_the_item(host, crawl, mongo_server, mongo_database):
    """It is a gap where another visit may have it, as for a file."""
    crawl.settings |= {"ALLOW_PRIVATE_ADDRESSES": 1, "RETRY_BASE_SECONDS": 0.01, "MAX_ATTEMPTS": 2}
    crawl.settings |= {"ITEM_SINKS": "files,mongo", "MONGO_URL": mongo_server.url, "MONGO_DATABASE": mongo_database}
    content = {"title": "css:title", "content": "css:article", "next_page": "css:a.more", "max_pages": 5}
    crawl.write_site("s", yaml.safe_dump({"name": "s", "content": content, "politeness": {"delay": 0}}))
    crawl.offer(host.url + path for path in PAGES if path.endswith("/1"))
    crawl.finish()
    found = {
        item["url"].split("/")[-2]: (
            [word for word in ("one", "two", "three") if word in item["content"].split()],
            [url.removeprefix(host.url) for url in item["missing_pages"]],
        )
        for item in crawl.items()
    }
    assert found == {
        "without-body": (["one", "three"], []),
        "gone": (["one"], ["/gone/2"]),
        "broken": (["one", "two"], ["/broken/3"]),
        "no-page": (["one"], ["/no-page/2"]),
        "members": (["one"], ["/members/2"]),
        "twice": (["one"], []),
        "ignored": (["one", "two"], []),
    }
    contents = {item["url"].split("/")[-2]: item["content"] for item in crawl.items()}
    assert (contents["twice"].count("Some"), contents["ignored"].count("Some")) == (5, 10)  # of a page each once
    with MongoClient(mongo_server.url) as client:
        documents = client[mongo_database]["items"].find()
        gaps = {document["url"].split("/")[-2]: document["gaps"] for document in documents}
    assert gaps == {"without-body": 0, "gone": 0, "broken": 1, "no-page": 0, "members": 0, "twice": 0, "ignored": 0}
    assert crawl.unfinished() == {}
    assert sum(one.path == "/broken/3" for one in host.asked) == 2  # each try is made
