"""An answer that isn't the page is no item; where the next one may be the page, it is asked for again."""

from __future__ import annotations

from itertools import chain, repeat

import pytest
from hostile.hostile_wire_bodies import PAGE, answer
from hostile.hostile_wire_server import Host

PART = answer(PAGE[:400], b"Content-Range: bytes 0-399/%d" % len(PAGE), status=b"206 Partial Content")
NO_CONTENT = b"HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n"
# By path: what is answered first, what from then on.
ANSWERS = {
    "/part-once": (PART, answer()),
    "/part": (PART, PART),
    "/empty-once": (answer(b""), answer()),
    "/empty": (answer(b""), answer(b" \n")),
    "/accepted": (answer(b"", status=b"202 Accepted"), answer()),
    "/no-content": (NO_CONTENT, answer()),
}


@pytest.fixture
def host():
    answers = {path: chain([first], repeat(later)) for path, (first, later) in ANSWERS.items()}
    host = Host(lambda path: [next(answers[path])])
    yield host
    host.close()


def test_a_page_that_comes_later_is_delivered_whole(host, crawl):
    crawl.settings |= {"ALLOW_PRIVATE_ADDRESSES": 1, "RETRY_BASE_SECONDS": 0.01, "MAX_ATTEMPTS": 2}
    crawl.site()
    crawl.offer(host.url + path for path in ANSWERS)
    crawl.finish()
    found = {item["url"].removeprefix(host.url): item["status"] for item in crawl.items()}
    assert found == dict.fromkeys(("/part-once", "/empty-once", "/accepted"), 200)
    failed = {"/part": "http-206", "/empty": "empty-body", "/no-content": "empty-body"}
    assert crawl.unfinished() == {host.url + path: ("failed", reason) for path, reason in failed.items()}
    asked = [one.path for one in host.pages()]
    assert {path: asked.count(path) for path in ANSWERS} == dict.fromkeys(ANSWERS, 2) | {"/no-content": 1}


def redirect(to):
    return f"HTTP/1.1 302 Found\r\nLocation: {to}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n".encode()


def test_a_login_to_which_a_page_leads_is_no_item(crawl):
    form = b"<form method=post><input name=user><input type=password name=key></form>"
    pages = {
        "/members": [redirect("/login/?next=/members")],
        "/members?page=2": [redirect("/login/?theme=dark&next=%2Fmembers%3Fpage%3D2")],
        "/moved": [redirect("/new/?from=list")],
    }
    host = Host(lambda path: pages.get(path) or [answer(PAGE.replace(b"</body>", form + b"</body>"))])
    try:
        crawl.settings |= {"ALLOW_PRIVATE_ADDRESSES": 1}
        crawl.site()
        crawl.offer(host.url + path for path in pages)
        crawl.finish()
    finally:
        host.close()
    assert [item["url"].removeprefix(host.url) for item in crawl.items()] == ["/new/?from=list"]
    assert crawl.unfinished() == {host.url + path: ("failed", "login") for path in pages if "members" in path}
