"""`scrapy site new`: asks a site for a few pages, as a crawl would, and tells the analyst which and why."""

from __future__ import annotations

import sys
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from crawler import config, discovery
from crawler.base.errors import HeadroomError
from crawler.base.models import Politeness
from crawler.base.text import one_line
from crawler.cli.page_browser import PageBrowser
from crawler.cli.page_fetcher import PageFetcher
from crawler.render.chromium import why_no_browser
from crawler.render.wish import Wish
from crawler.sites import Site
from crawler.sites.result_rules import NO_RESULTS

if TYPE_CHECKING:
    from pathlib import Path

    from scrapy.settings import Settings

    from crawler.base.models import Fetched

DELAY_SECONDS = Politeness().delay_s  # the delay of a site that says nothing else
MAX_PAGES = 12  # most pages that are asked for, robots.txt and redirects not counted; most sites take seven
MAX_RENDERED = 5  # most pages that are rendered: the one that was named, one with results, one without, two results
# How long a page that goes on loading is waited for: what has come by then is enough to see what it loads.
WISH = Wish(cap_seconds=20, page_seconds=60)
LINKS_SHOWN = 5
TEXT_SHOWN_CHARACTERS = 200  # how much is shown of a page's content, to show that it is the right one


class _TellingVisitor:
    """Fetches and renders pages, says each on stderr with its reason, and stops after `MAX_PAGES` and `MAX_RENDERED`.

    Args:
        browser: None: no page is rendered.
    """

    def __init__(self, fetcher: PageFetcher, browser: PageBrowser | None = None) -> None:
        self.asked: list[dict[str, Any]] = []
        self._fetcher, self._browser = fetcher, browser
        self._rendered = 0

    async def ask(self, url: str, why: str, *, body: str = "", content_type: str = "") -> Fetched:
        """Returns a page, whatever its status; raises what `PageFetcher.get` raises, or that enough were asked for."""
        if len(self.asked) == MAX_PAGES:
            raise HeadroomError(f"{MAX_PAGES} pages were asked for, which is enough")
        print(one_line(f"asking {url}: {why}"), file=sys.stderr, flush=True)
        self.asked.append({"url": url, "why": why})
        return await self._fetcher.get(url, body=body, content_type=content_type)

    async def render(self, page: Fetched, why: str) -> Fetched | None:
        """Returns a page as a browser shows it; None: there is none here, or enough were rendered."""
        if self._browser is None or self._rendered == MAX_RENDERED:
            return None
        self._rendered += 1
        print(one_line(f"rendering {page.url}: {why}"), file=sys.stderr, flush=True)
        return await self._browser.all_of(page, WISH)


async def described(site: Site, settings: Settings, word: str) -> dict[str, Any]:
    """Returns what the description of a site's search says, as keys of a site file.

    Raises:
        HeadroomError: It can't be had, or says nothing that a site file can; the message names the site.
    """
    async with PageFetcher.open(settings, site) as fetcher:
        try:
            reads_results = site.results != NO_RESULTS
            url = site.description_url
            return await discovery.describe(url, _TellingVisitor(fetcher), word=word, reads_results=reads_results)
        except HeadroomError as error:
            raise HeadroomError(f"site {site.name}: {error}") from error


async def propose(url: str, settings: Settings, *, word: str, name: str, delay_s: float) -> dict[str, Any]:
    """Returns the proposal for a site, as JSON values.

    It has the `site`'s name, the `file`'s text, which pages were `asked` for and why, what is `unknown`, the `links` of
    the page of results (None: there is none), and `pages`, each with its `url` and the `fields` that the file reads.

    Args:
        url: Of the site.
        settings: The project's, which say what a crawl may ask for.
        word: To search for; empty: one is chosen.
        name: Of the site; empty: made of its host.
        delay_s: Seconds between two requests to a host.

    Raises:
        HeadroomError: The first page can't be had or read.
    """
    site = Site.from_definition({"name": name or "new"})
    async with (
        PageFetcher.open(settings, site, delay_s=delay_s) as fetcher,
        PageBrowser.open(settings, site, fetcher) as browser,
    ):
        visitor = _TellingVisitor(fetcher, None if why_no_browser(config.BROWSER_PATH.of(settings)) else browser)
        proposal = await discovery.propose(url, visitor, word=word, name=name)
    return {
        "site": proposal.definition["name"],
        "file": proposal.text,
        "asked": visitor.asked,
        "unknown": list(proposal.unknown),
        "links": asdict(proposal.links) if proposal.links else None,
        "pages": [{"url": address, "fields": asdict(fields)} for address, fields in proposal.fields.items()],
    }


def shortened(answer: dict[str, Any]) -> list[dict[str, Any]]:
    """Returns what a proposal reads, on each page, as much of it as one looks at on a terminal."""
    shown: list[dict[str, Any]] = []
    if answer["links"]:
        urls = answer["links"]["urls"]
        more = [f"and {len(urls) - LINKS_SHOWN} more"] if len(urls) > LINKS_SHOWN else []
        shown.append({"links": answer["links"] | {"urls": [*urls[:LINKS_SHOWN], *more]}})
    for page in answer["pages"]:
        content = page["fields"]["content"]
        cut = f"{content[:TEXT_SHOWN_CHARACTERS]} ... ({len(content):,} characters)"
        short = cut if len(content) > len(cut) else content
        shown.append({"url": page["url"], "fields": page["fields"] | {"content": short}})
    return shown


def save(text: str, file: Path) -> None:
    """Writes a proposal to a file that isn't there yet.

    Raises:
        HeadroomError: It can't be written, or has come to be there.
    """
    try:
        with file.open("x", encoding="utf-8") as opened:
            opened.write(text)
    except OSError as error:
        raise HeadroomError(f"{file}: {error.strerror}") from None
