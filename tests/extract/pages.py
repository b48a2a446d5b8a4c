"""Three sites, and pages for them."""

import orjson
import pytest

from crawler import sites
from crawler.base.errors import ExtractError
from crawler.base.models import Fetched

BASE = "http://127.0.0.1:8800"
URL = f"{BASE}/thread/1"
BOARD = sites.parse(
    """
name: board
search: {url: "http://x.org/?q={query}"}
results: {links: css:.r a, empty: css:.none}
content:
  title: css:h1
  author: css:.author
  published: css:time
  content: {select: css:.post, all: true, remove: [css:.sig]}
  images: css:.post img
  next_page: css:a.next
  extra:
    tags: {select: "css:.tag::text", all: true}
    replies: xpath:count(//*[@class='post'])
    forum: css:meta[name=forum]
""",
    "board.yaml",
)
API = sites.parse(
    """
name: api
search: {url: "http://x.org/?q={query}"}
results: {type: json, links: "json:items[].id", link: "http://x.org/t/{value}"}
content:
  type: json
  title: json:title
  content: {select: json:html, html: true, remove: [css:.sig]}
  images: {select: json:html, html: true}
  extra: {likes: json:likes, tags: {select: json:tags, all: true}}
""",
    "api.yaml",
)
FEED = sites.parse(
    """
name: feed
search: {url: "http://127.0.0.1:8800/api/feed?q={query}&limit={per_page}&cursor={cursor}", paging: {kind: cursor}}
results: {type: json, links: "json:items[].url", next: json:next_cursor}
""",
    "feed.yaml",
)


def html(body, content_type="text/html; charset=utf-8", url=URL, **more):
    return Fetched(url, 200, content_type, body.encode() if isinstance(body, str) else body, **more)


def json(value, url=URL):
    return Fetched(url, 200, "application/json", value if isinstance(value, bytes) else orjson.dumps(value))


def changed(site, **changes):
    return sites.Site.from_definition(site.definition() | changes)


def reason(call, *args, **options):
    with pytest.raises(ExtractError) as caught:
        call(*args, **options)
    return caught.value.reason
