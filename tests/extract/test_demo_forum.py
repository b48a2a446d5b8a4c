"""The demo forum's boards, read whole: in HTML, and through its API."""

from datetime import UTC
from urllib.parse import urlsplit

from extract.pages import BASE

from crawler import extract, sites
from crawler.base.models import Fetched
from testbed.forum import content
from testbed.forum.routes import Forum, Request


def request(url):
    parts = urlsplit(url)
    return Request(parts.path, parts.query, BASE)


def read(forum, url, site):
    """Reads a thread over all its pages, following redirects."""
    parts = []
    while url:
        answer = forum.respond(request(url))
        if answer.location:
            url = f"{BASE}{urlsplit(answer.location).path}"
            continue
        if answer.status >= 500:
            continue  # the second request succeeds
        parts.append(extract.fields(Fetched(url, answer.status, answer.content_type, answer.body), site))
        url = parts[-1].next_page
    return extract.join(parts)


def test_every_thread_of_both_boards_is_read_whole():
    forum = Forum()
    boards = {"html": sites.load("demo_forum"), "ajax": sites.load("demo_forum_ajax")}
    count = 0
    for thread in content.threads():
        if thread.kind.item != "equal":
            continue
        found = read(forum, BASE + thread.path, boards["ajax" if thread.kind.name == "api" else "html"])
        count += 1
        assert (found.title, found.author, found.content) == (thread.title, thread.author, "\n".join(thread.paragraphs))
        assert found.published == thread.published.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        assert {urlsplit(url).path for url in found.images} == set(map(content.image_path, thread.images))
        assert [urlsplit(url).path for url in found.videos] == (
            [] if thread.video is None else [content.video_path(thread.video)]
        )
    assert count > 500
