"""The request for a seed's page: what its site's file says of how pages are asked for becomes Scrapy's request.

Scrapy escapes URLs in its own way, unless the request's meta says that they are to stay as they are. So does that of
requests whose URL is canonical; of any other request the canonical URL has to be found.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy import Request

from crawler.base import urls
from crawler.extract.sitemaps import MAX_SITEMAP_BYTES
from crawler.worker.visits.request_state import Purpose, RequestState

if TYPE_CHECKING:
    from crawler.sites import Site
    from crawler.worker.visits.request_part import RequestPart
    from crawler.worker.visits.visit import Visit


VERBATIM_URL = "verbatim_url"  # the key in `meta` that Scrapy reads


def page_request(visit: Visit, site: Site | None, part: RequestPart | None = None) -> Request:
    """Returns the request for the page of a visit's seed.

    Args:
        site: None: it isn't known, for which the request is refused (`crawler/middlewares/known_site.py`).
        part: Of the visit, that ends with the request; None: whoever sends it waits for its answer.
    """
    seed, headers = visit.seed, None
    url = seed.url
    if site is not None and seed.body:
        headers = {"Content-Type": site.request_content_type}
    if site is not None and seed.frontier == "content":
        url = site.address_of(url)
    url, route = urls.split_route(url)
    purpose = Purpose(visit, visit.lane, is_page=True, may_render=True, part=part)
    meta = RequestState(purpose, route).meta()
    if urls.is_canonical(url):
        meta[VERBATIM_URL] = True
    if site is not None and seed.frontier == "nav" and site.results.type == "sitemap":
        meta["download_maxsize"] = MAX_SITEMAP_BYTES
    return Request(url, method=seed.method, body=seed.body, headers=headers, meta=meta, dont_filter=True)


def canonical_url(request: Request) -> str:
    """Returns the canonical URL of a request.

    Raises:
        UrlError: It has none.
    """
    return request.url if VERBATIM_URL in request.meta else urls.canonical(request.url)
