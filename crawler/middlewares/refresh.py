"""Downloader middleware that takes a page which leads elsewhere at once, by a refresh, for a redirect."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy.http import HtmlResponse

from crawler.base import urls
from crawler.base.errors import UrlError
from crawler.base.models import Fetched
from crawler.extract.refresh import refresh_target
from crawler.middlewares.redirect import RedirectMiddleware
from crawler.worker.visits.outcomes import outcome_of_status
from crawler.worker.visits.request_state import state_of

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.http import Response


class RefreshMiddleware(RedirectMiddleware):
    """Follows refreshes as redirects are followed, behind the decoding of bodies, which redirects don't need."""

    def process_request(self, request: Request) -> None:
        """Lets requests pass."""

    def process_response(  # type: ignore[override]  # Scrapy's own takes a deprecated spider as well
        self, request: Request, response: Response
    ) -> Request | Response:
        """Returns a new request on the same host, a redirect to another host for the spider, or the page as it came.

        Raises:
            RefusedError: As for a redirect.
        """
        is_read = isinstance(response, HtmlResponse) and outcome_of_status(response.status) is None
        if not is_read or state_of(request) is None or request.meta.get("dont_redirect"):
            return response
        content_type = (response.headers.get("Content-Type") or b"").decode("latin-1")
        page = Fetched(request.url, response.status, content_type, response.body)
        refresh, base = refresh_target(page, (response.headers.get("Refresh") or b"").decode("utf-8", "replace"))
        try:
            target = refresh and urls.canonical(refresh, base, routes=True)
        except UrlError:  # browsers stay at the page, too, such as for `javascript:`
            return response
        if not target or not self._leads_on(target, request, response):
            return response
        moved = response.replace(status=302, body=b"")
        moved.headers["Location"] = target
        return super().process_response(request, moved)

    def _leads_on(self, target: str, request: Request, response: Response) -> bool:
        """Returns whether a refresh leads anywhere: a page that asks for itself again does once, by a new cookie."""
        state = state_of(request)
        assert state is not None  # `process_response` leaves other requests alone
        if target != urls.canonical(request.url + state.route, routes=True):
            return True
        return "Set-Cookie" in response.headers and state.cookies is None
