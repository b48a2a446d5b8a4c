"""The request for a seed's page: what its site's file says of how pages are asked for becomes Scrapy's request."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy import Request

from crawler.base import urls
from crawler.extract.sitemaps import MAX_SITEMAP_BYTES
from crawler.worker.claiming.request_state import RequestState

if TYPE_CHECKING:
    import asyncio

    from crawler.sites import Site
    from crawler.worker.claiming.visits import Visit


def page_request(visit: Visit, site: Site | None, loop: asyncio.AbstractEventLoop | None = None) -> Request:
    """Returns the request for the page of a visit's seed.

    Args:
        site: None: it isn't known, for which the request is refused (`crawler/middlewares/known_site.py`).
        loop: Of the visit, where the request stands for a part of it.
    """
    seed, headers = visit.seed, None
    url = seed.url
    if site is not None and seed.body:
        headers = {"Content-Type": site.request_content_type}
    if site is not None and seed.frontier == "content":
        url = site.address_of(url)
    url, route = urls.split_route(url)
    meta = RequestState(visit, visit.lane, is_page=True, route=route, may_render=True, loop=loop).meta()
    if urls.is_canonical(url):
        meta["verbatim_url"] = True  # Scrapy then doesn't escape the URL in its own way
    if site is not None and seed.frontier == "nav" and site.results.type == "sitemap":
        meta["download_maxsize"] = MAX_SITEMAP_BYTES
    return Request(url, method=seed.method, body=seed.body, headers=headers, meta=meta, dont_filter=True)
