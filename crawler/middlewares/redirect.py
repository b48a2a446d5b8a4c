"""Downloader middleware that follows redirects on the same host, on the visit's lane, but none to another host.

The spider sees the response that redirects to another host. It finishes the seed as `redirected` and offers the target
as a new seed, which waits for a turn of its own host.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy.downloadermiddlewares.redirect import RedirectMiddleware as ScrapyRedirectMiddleware
from scrapy.exceptions import IgnoreRequest

from crawler import urls
from crawler.errors import UrlError
from crawler.worker.outcomes import REDIRECT_STATUSES, Outcome
from crawler.worker.refused import RefusedError
from crawler.worker.request_state import state_of

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.http import Response


class RedirectMiddleware(ScrapyRedirectMiddleware):
    """Scrapy's redirect middleware, restricted to the request's own host for requests of a visit."""

    def process_response(  # type: ignore[override]  # Scrapy's own takes a deprecated spider as well
        self, request: Request, response: Response
    ) -> Request | Response:
        """Returns a new request on the same host, or the response as it is.

        Raises:
            RefusedError: The target is no URL that may be fetched, or there were too many redirects.
        """
        if response.status not in REDIRECT_STATUSES:
            return response
        location = response.headers.get("Location")
        if state_of(request) is None or not location:
            return super().process_response(request, response)
        try:
            target = urls.canonical(location.decode("utf-8", "replace"), request.url)
        except UrlError:
            raise RefusedError(Outcome("fail", "bad-redirect")) from None
        if urls.host(target) != urls.host(urls.canonical(request.url)):
            return response
        response.headers["Location"] = target  # the URL checked above, which Scrapy's parser might read otherwise
        try:
            return super().process_response(request, response)
        except IgnoreRequest:
            raise RefusedError(Outcome("fail", "too-many-redirects")) from None
