"""Downloader middleware that follows redirects on the same host, on the visit's lane, but none to another host.

The spider sees the response that redirects to another host. It finishes the seed as `redirected` and offers the target
as a new seed, which waits for a turn of its own host. So it does, as `moved`, where a content page redirects to another
one of its host: several may, and others know that already; each page is fetched and delivered once. What sets a cookie
is followed: it may be a gate, behind which the page is where it was. Both look whether the site lets a seed's page lead
there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy import Request
from scrapy.downloadermiddlewares.redirect import RedirectMiddleware as ScrapyRedirectMiddleware
from scrapy.exceptions import IgnoreRequest

from crawler.base import reasons, urls
from crawler.base.errors import UrlError
from crawler.worker.visits.chain_cookies import ChainCookies
from crawler.worker.visits.moved_page import has_moved
from crawler.worker.visits.outcomes import MOVED_FOR_GOOD, REDIRECT_STATUSES, Outcome, outcome_of_redirect_error
from crawler.worker.visits.refused import RefusedError
from crawler.worker.visits.request_state import state_of
from crawler.worker.worker import Worker

if TYPE_CHECKING:
    from scrapy.http import Response

    from crawler.base.models import Seed
    from crawler.base.reasons import Reason
    from crawler.sites import Site
    from crawler.worker.visits.request_state import RequestState
    from crawler.worker.visits.visit import Visit


class RedirectMiddleware(ScrapyRedirectMiddleware):
    """Scrapy's redirect middleware, restricted to the request's own host for requests of a visit."""

    def process_request(self, request: Request) -> None:
        """Adds the cookies that earlier answers of the request's chain of redirects have set."""
        if (state := state_of(request)) is not None and state.cookies is not None:
            state.cookies.add_to(request)

    def process_response(  # type: ignore[override]  # Scrapy's own takes a deprecated spider as well
        self, request: Request, response: Response
    ) -> Request | Response:
        """Returns a new request on the same host, or the response as it is.

        Raises:
            RefusedError: The target is no URL that may be fetched or out of the site's scope, or there were too many
                redirects.
        """
        if response.status not in REDIRECT_STATUSES:
            return response
        location = response.headers.get("Location")
        state = state_of(request)
        if state is None or not location:
            return super().process_response(request, response)
        try:
            target, route = self._target(location.decode("utf-8", "replace"), request, state)
        except UrlError as error:
            raise RefusedError(outcome_of_redirect_error(error)) from None
        leaves_host = urls.host(target) != urls.host(urls.canonical(request.url))
        if leaves_host or self._has_moved(request, response, state, target):
            return response
        if "Set-Cookie" in response.headers:
            state.cookies = state.cookies or ChainCookies(request)
            state.cookies.keep(response, request)
        if state.purpose.is_page:
            self._keep_in_scope(state.visit, target + route)
        state.route = route
        response.headers["Location"] = target  # the URL checked above, which Scrapy's parser might read otherwise
        try:
            redirected = super().process_response(request, response)
        except IgnoreRequest:
            raise RefusedError(Outcome("fail", reasons.TOO_MANY_REDIRECTS)) from None
        if state.cookies is not None and isinstance(redirected, Request):
            state.cookies.take_off(redirected)
        return redirected

    def _has_moved(self, request: Request, response: Response, state: RequestState, target: str) -> bool:
        """Returns whether a seed's own page is at another address, where it is a page of its own."""
        if not state.purpose.is_page or request.meta.get("redirect_times") or "Set-Cookie" in response.headers:
            return False
        visit, for_good = state.visit, response.status in MOVED_FOR_GOOD
        return has_moved(visit.seed, target, self._site_of(visit), for_good=for_good)

    def _target(self, location: str, request: Request, state: RequestState) -> tuple[str, str]:
        """Returns the URL that a request is redirected to, and the route that a script shows there.

        Raises:
            UrlError: It is none that may be fetched.
        """
        routes = state.purpose.may_render and self._site_of(state.visit).has_routes(state.visit.seed.frontier)
        return urls.split_route(urls.redirect_target(location, request.url + state.route, routes=routes))

    def _keep_in_scope(self, visit: Visit, target: str) -> None:
        """Leaves out of a visit the plans for which its page may not be fetched where it redirects to.

        Raises:
            RefusedError: It may be for none.
            UnavailableError: What a plan says of that can't be had now; the seed is released.
        """
        outside = {seed: why for seed in visit.seeds if (why := self._refusal(visit, seed, target)) is not None}
        if len(outside) == len(visit.seeds):
            raise RefusedError(Outcome("fail", visit.agree(outside)))
        if outside:
            visit.leave_out(*outside)
            visit.leads_on = True  # plans that asked for the page aren't told of what is found there

    def _refusal(self, visit: Visit, seed: Seed, target: str) -> Reason | None:
        """Returns why a page may not be fetched where it redirects to, for a plan; None: it may."""
        site = self._site_of(visit)
        if seed.general and seed.frontier == "content":
            return Worker.of(self.crawler).claiming.plan_crawls.get(seed).redirect_refusal(seed, target, site)
        return None if site.may_redirect(seed, target) else reasons.OUT_OF_SCOPE

    def _site_of(self, visit: Visit) -> Site:
        site = Worker.of(self.crawler).claiming.sites.get(visit.seed.site)
        assert site is not None  # KnownSiteMiddleware sends no request before it is known
        return site
