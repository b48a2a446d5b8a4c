"""`scrapy crawl producer`: search pages lead to content seeds, and to the next search page."""

from __future__ import annotations

import asyncio
from collections import Counter
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from crawler import extract
from crawler.base import log_events, reasons, tasks
from crawler.base.errors import ExtractError, LacksError, UnavailableError
from crawler.base.models import Fetched, Frontier, Seed
from crawler.extract.rows import Row, found_by
from crawler.extract.words import CombinationSearch
from crawler.sites import SiteError
from crawler.spiders.base import FrontierSpider

if TYPE_CHECKING:
    from collections.abc import Sequence

    from crawler.base.reasons import Note
    from crawler.extract import Links
    from crawler.plans.combinations import Combination
    from crawler.sites import SearchTarget, Site
    from crawler.worker.definitions.search_wishes import SearchWish
    from crawler.worker.offers.offers import Offered
    from crawler.worker.offers.search_progress import Standing
    from crawler.worker.visits.visit import Visit

OFFERED_AT_ONCE = 1_000  # most pages in one offer: as many as a page of results mostly has at most


class ProducerSpider(FrontierSpider):
    """Reads nav pages and offers what they link to. A nav seed ends only after Redis has what its page led to."""

    name = "producer"
    frontier: Frontier = "nav"

    @cached_property
    def _passing_on(self) -> set[asyncio.Task[None]]:
        """Tasks that offer what follows a page that failed; asyncio itself forgets tasks that nobody holds."""
        return set()

    def is_answer(self, status: int, site: Site) -> bool:
        """Returns whether the site says by this status that there are no (more) results."""
        return status in site.results.empty_status

    async def read(self, page: Fetched, visit: Visit, site: Site) -> Sequence[Any]:
        """Offers the page's results, and the search's next page unless this was its last.

        The two are offered together, so that the next page waits for nothing; unless how many results are new decides
        when it is asked for, or if at all.
        """
        seed, offer = visit.seed, self.claiming.offers.offer
        links = await extract.offload(
            extract.links,
            page,
            site,
            asked=seed.url,
            body=seed.body,
            number=seed.page,
            since=seed.since,
            max_links=self.max_links,
        )
        if page.is_trial and not (links.urls or links.lists or links.empty):
            raise LacksError(("results",))
        if page.gaps and not links.urls:
            raise ExtractError(reasons.INCOMPLETE_PAGE, "it lacks data or scripts, and has no results")
        visit.end_fetch()  # the host's turn is free while Redis takes the offers
        await self.count_left_out(links, replace(seed, frontier="content"))
        wish = await self.claiming.search_wishes.of(seed)
        results = [
            Seed(
                url,
                seed.plan,
                seed.site,
                keywords=words,
                priority=wish.priority if wish else seed.priority,
                row=row.said,
                exact=seed.exact,
                match_text=seed.match_text,
                general=seed.general,
            )
            for url, row, words in await self._in_scope(await self._matching(links, seed, site), seed)
        ]
        results = await self._as_wanted(results, seed)
        names_all = site.search.paging is not None and site.search.paging.names_all
        if names_all or not seed.more:
            new = await self._offer_results(results, seed)
            self.worker.reports.tally.searched(seed, len(results), new)
            await self._learn(visit, site, wish, new)
            if seed.more:
                await self._offer_lists(visit, links.lists[: seed.more])
            return ()
        standing = await self.claiming.searches.judge(visit.claimed, links)
        following = None
        if not (links.empty or links.last or standing.over):
            following = self._following(visit, site, links.next)
        if following and wish is None and standing.idle + 1 < site.results.known_pages:
            offered, _ = await asyncio.gather(
                offer(results, edition=seed.edition), offer([following], "nav", edition=seed.edition)
            )
            await self._note_new(visit, links, standing, results, offered)
            return ()
        offered = await offer(results, edition=seed.edition)
        idle = await self._note_new(visit, links, standing, results, offered)
        if not standing.read_before:
            await self._learn(visit, site, wish, offered.new)
        if following and idle < site.results.known_pages:
            await offer([await self._in_order(visit, wish, following)], "nav", edition=seed.edition)
            return ()
        await self._count_unread(seed, reasons.PAST_THE_END)
        await self.claiming.searches.end(visit.claimed)
        return ()

    async def _offer_results(self, results: Sequence[Seed], seed: Seed) -> int:
        """Offers results, so many at a time that Redis keeps nobody waiting: a sitemap may have 50,000.

        Returns:
            How many of them were new.
        """
        new = 0
        for start in range(0, len(results), OFFERED_AT_ONCE):
            offered = await self.claiming.offers.offer(results[start : start + OFFERED_AT_ONCE], edition=seed.edition)
            new += offered.new
        return new

    async def _offer_lists(self, visit: Visit, lists: Sequence[SearchTarget]) -> None:
        """Offers further pages that one names all at once, which share what remains of the search's number of pages."""
        seed = visit.seed
        if not lists:
            await self._count_unread(seed, reasons.PAST_THE_END)
            return
        share, over = divmod(seed.more - len(lists), len(lists))
        further = [
            replace(
                seed.followed_by(url=target.url, method=target.method, body=target.body),
                more=share + (place < over),
                run=visit.claimed.run,
            )
            for place, target in enumerate(lists)
        ]
        await self.claiming.offers.offer(further, "nav", edition=seed.edition)

    async def _note_new(
        self, visit: Visit, links: Links, standing: Standing, results: Sequence[Seed], offered: Offered
    ) -> int:
        """Counts what a page brought; returns how many pages of the search in a row, with this one, held nothing new.

        A page of a list whose results were all looked at and don't match may have been new.
        """
        self.worker.reports.tally.searched(visit.seed, len(results), offered.new)
        is_new = offered.new > 0 or bool(links.urls and not results)
        return await self.claiming.searches.note_new(visit.claimed, standing, is_new=is_new)

    async def _learn(self, visit: Visit, site: Site, wish: SearchWish | None, new: int) -> None:
        """Learns from a page how much such pages bring, where its plan's searches come in that order."""
        if wish:
            looks_for_words = site.matches_text(visit.seed)
            await self.claiming.search_yield.learn(visit.claimed, new, looks_for_words=looks_for_words)

    async def _in_order(self, visit: Visit, wish: SearchWish | None, following: Seed) -> Seed:
        """Returns the next page of a search with the priority that comes of what it is expected to bring."""
        if wish is None:
            return following
        expected = await self.claiming.search_yield.expected(replace(visit.claimed, seed=following))
        priority = wish.priority if expected is None else wish.priority_of(following, expected)
        return replace(following, priority=priority)

    async def _matching(self, links: Links, seed: Seed, site: Site) -> list[tuple[str, Row, Combination]]:
        """Returns the results, each with its row and the words that it was found by.

        Where the site's `results.match` looks for words in rows, those that lack them are left out. In a list, which is
        fetched once for all combinations of a plan, each is looked for; a page may be found by several.
        """
        rows = [(url, links.rows.get(url, Row())) for url in links.urls]
        if site.results.match is None:
            return [(url, row, seed.keywords) for url, row in rows]
        words = (await self.claiming.plan_words.of(seed)).search if site.is_list else CombinationSearch([seed.keywords])
        return await asyncio.to_thread(found_by, rows, words)

    async def _in_scope(
        self, results: list[tuple[str, Row, Combination]], seed: Seed
    ) -> list[tuple[str, Row, Combination]]:
        """Returns the results that are in the scope of their plan, but for those never asked for; counts the others."""
        if not seed.general:
            return results
        crawl = await self.claiming.plan_crawls.of(seed)
        results = [result for result in results if not crawl.follow.refuses(result[0])]
        if crawl.scope is None:
            return results
        names = [crawl.refusal(url, page_url=seed.url) for url, _row, _words in results]
        await self.count_out_of_scope(replace(seed, frontier="content"), Counter(filter(None, names)))
        return [result for result, name in zip(results, names, strict=True) if not name]

    async def _as_wanted(self, results: list[Seed], seed: Seed) -> list[Seed]:
        """Returns the seeds of a page's results as the plan wants them, where it says so itself.

        Raises:
            UnavailableError: What it says can't be had now.
        """
        if not seed.general:
            return results
        crawl = await self.claiming.plan_crawls.of(seed)
        if seed.keywords:
            return [crawl.found(result) for result in results]
        # It is a sitemap or feed, whose pages sites of the plan read.
        return [listed for result in results if (listed := crawl.listed(result, seed.url))]

    def given_up(self, visit: Visit) -> None:
        """Has the next page of the search asked for: one that fails hides nothing behind it. The visit waits for it."""
        if visit.seed.more:
            visit.begin_part(fetches=False)
            name = "offer of a further search page"
            task = tasks.start(self._pass_on(visit), name=name, died=self.worker.events.publish)
            self._passing_on.add(task)
            task.add_done_callback(self._passing_on.discard)

    async def _pass_on(self, visit: Visit) -> None:
        """Offers the search page after one that can't be had, unless that isn't worth it, or the one before failed."""
        seed = visit.seed
        site = self.claiming.sites.get(seed.site)
        following = site and self._following(visit, site, None)
        try:
            if visit.is_low_yield:
                await self.claiming.offers.refuse(seed, reasons.LOW_YIELD_PAGES, seed.more)
            elif following and await self.claiming.searches.note_failure(visit.claimed):
                await self.claiming.offers.offer([following], "nav", edition=seed.edition)
            else:
                await self._count_unread(seed, reasons.NOT_ASKED)
        except UnavailableError:
            visit.release(reasons.UNAVAILABLE)
        finally:
            visit.end_part()

    async def _count_unread(self, seed: Seed, note: Note) -> None:
        """Counts the pages of a search behind a seed's that aren't asked for; how many a sitemap has, nobody knows."""
        if seed.keywords:
            await self.claiming.offers.refuse(seed, note, seed.more)

    def _following(self, visit: Visit, site: Site, target: SearchTarget | None) -> Seed | None:
        """Returns the seed of the search page after a visit's, by the page itself or by its site; None: there is none.

        It belongs to the same run of its search, or the next run's would be known, and never read.
        """
        seed = visit.seed
        try:
            if target:
                following: Seed | None = seed.followed_by(url=target.url, method=target.method, body=target.body)
            else:
                following = site.next_page(seed)
        except SiteError as error:
            self.logger.warning(log_events.SEARCH_BROKEN_OFF, " ".join(seed.keywords), error)
            return None
        return following and replace(following, run=visit.claimed.run)
