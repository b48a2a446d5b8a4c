"""What a page may ask for while it is rendered, and which of its headers are sent. Pure.

Documents and frames come from its own hosts; scripts, styles and data from any host, but for those that only count
visitors. A page reads, and changes nothing: GET, HEAD, and POST for data alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawler.base import urls

if TYPE_CHECKING:
    from crawler.render.exchange import PageRequest

DOCUMENTS = frozenset({"Document"})  # types of resources by the browser's protocol: a page, or a frame in it
# Hosts that count visitors, with all of their subdomains, and hold nothing that a page shows: the commonest by
# themselves. What else a page loads is fetched politely.
TRACKERS = frozenset(
    """google-analytics.com googletagmanager.com doubleclick.net googlesyndication.com googleadservices.com
    connect.facebook.net hotjar.com clarity.ms bat.bing.com mixpanel.com segment.io segment.com amplitude.com
    fullstory.com newrelic.com nr-data.net sentry.io scorecardresearch.com quantserve.com chartbeat.com
    hm.baidu.com mc.yandex.ru top-fwz1.mail.ru cnzz.com umeng.com plausible.io matomo.cloud
    cloudflareinsights.com""".split()
)
DATA = frozenset({"XHR", "Fetch"})
SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})
# Headers that are the crawl's own, or that say what its connection is like. `Sec-...` are the browser's, too.
OWN_HEADERS = frozenset(
    """accept-encoding connection content-length dnt host if-modified-since if-none-match keep-alive proxy-connection
    te trailer transfer-encoding upgrade upgrade-insecure-requests user-agent""".split()
)


def may_ask(request: PageRequest, url: str, *, is_own: bool) -> bool:
    """Returns whether a page may ask for this.

    Args:
        url: The request's, canonical.
        is_own: It is of the page's host, or of one that its site's file names.
    """
    is_read = request.method in SAFE_METHODS or (request.method == "POST" and request.resource_type in DATA)
    return is_read and (is_own or not (request.resource_type in DOCUMENTS or is_tracker(url)))


def is_tracker(url: str) -> bool:
    """Returns whether a canonical URL's host only counts visitors."""
    labels = urls.hostname(url).split(".")
    return any(".".join(labels[start:]) in TRACKERS for start in range(len(labels) - 1))


def sent_headers(request: PageRequest) -> list[tuple[str, str]]:
    """Returns the headers of a page's request that are the page's own."""
    return [
        (name, value)
        for name, value in request.headers
        if name.lower() == "sec-websocket-protocol"
        or (name.lower() not in OWN_HEADERS and not name.lower().startswith("sec-"))
    ]
