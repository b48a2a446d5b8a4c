"""What a person at a terminal is told of a request that a crawl refuses, or that got no answer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawler import config
from crawler.base import reasons
from crawler.base.errors import HeadroomError, UnavailableError
from crawler.base.redaction import without_credentials
from crawler.base.urls import origin
from crawler.worker.visits.outcomes import outcome_of_error
from crawler.worker.visits.visit import FetchFailed

if TYPE_CHECKING:
    from scrapy.settings import Settings

    from crawler.base.events import Events

# What a crawl with these settings refuses, and by which of them; all else is an error of the page or its host.
REFUSALS = {
    reasons.BAD_URL: "bad-url",
    reasons.NO_SECRET: "no-secret ({cause})",
    reasons.PRIVATE_ADDRESS: "private-address (ALLOW_PRIVATE_ADDRESSES)",
    reasons.ROBOTS: "robots ({origin}/robots.txt forbids it; ROBOTSTXT_OBEY)",
    reasons.ROBOTS_UNREACHABLE: "robots-unreachable ({origin}/robots.txt has no usable answer)",
}
FAILURES = {
    reasons.BAD_REDIRECT: "{url} leads to what isn't fetched",
    reasons.PAGE_TIMEOUT: "{url} took longer than {page_seconds:g} s, with all that it fetches",
    reasons.SCRIPT_ROUTE: "{url} leads to what isn't fetched: only a browser's script knows what is there",
    reasons.TIMEOUT: "{url} took longer than {timeout_seconds:g} s",
    reasons.TOO_LARGE: "{url} is larger than {max_bytes} bytes",
    reasons.TOO_MANY_REDIRECTS: "{url} is one redirect too many",
}


class CrawlRefusesError(HeadroomError):
    """A crawl with these settings would not ask for an address, so nothing was sent there."""

    def __init__(self, address: str, why: str) -> None:
        super().__init__(f"a crawl refuses {without_credentials(address)}: {why}")
        self.address = address


class RequestErrors:
    """Puts errors of requests into words.

    Args:
        settings: Those that the requests are sent with.
        events: Tell why a robots.txt could not be had.
    """

    def __init__(self, settings: Settings, events: Events) -> None:
        self._limits = {
            "timeout_seconds": config.DOWNLOAD_TIMEOUT.of(settings),
            "page_seconds": config.PAGE_SECONDS.of(settings),
            "max_bytes": config.DOWNLOAD_MAXSIZE.of(settings),
        }
        self._robots_failures: dict[str, FetchFailed] = {}  # by authority: why its robots.txt can't be had
        events.subscribe(FetchFailed, self._note)

    def explained(self, error: Exception, url: str) -> HeadroomError:
        """Returns what an error of a request for a URL means."""
        reason, cause = outcome_of_error(error).reason, error.__cause__
        failed = self._robots_failures.get(origin(url)) if reason == reasons.ROBOTS_UNREACHABLE else None
        if failed is not None:
            what = "takes too long" if failed.reason == reasons.TIMEOUT else f"can't be fetched: {failed.error_text}"
            return UnavailableError(f"{failed.url} {what}")
        if reason in REFUSALS:
            return CrawlRefusesError(url, REFUSALS[reason].format(origin=origin(url), cause=cause))
        if reason in FAILURES:
            return UnavailableError(FAILURES[reason].format(url=url, **self._limits))
        return UnavailableError(f"{url} can't be fetched: {error}")

    def _note(self, failed: FetchFailed) -> None:
        if failed.what == "robots.txt":
            self._robots_failures[origin(failed.url)] = failed
