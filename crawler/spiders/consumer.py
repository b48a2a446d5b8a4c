"""`scrapy crawl consumer`: content pages become items, and may lead to further content pages."""

from __future__ import annotations

import asyncio
import socket
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Self

from crawler import config, extract
from crawler.base import reasons
from crawler.base.errors import ExtractError
from crawler.base.in_step import in_step
from crawler.base.item import Item, instant_now, item_id
from crawler.base.models import Fetched, Frontier, Seed
from crawler.base.reasons import Reason
from crawler.extract.document import MAX_BODY_BYTES
from crawler.extract.language import language_of
from crawler.extract.words import text_of_page
from crawler.frontier.offer import OfferAnswer
from crawler.robots.rules import robot_name
from crawler.spiders.base import MAX_HOPS, FrontierSpider, fetched
from crawler.worker.definitions.page_links import PageLinks
from crawler.worker.visits.outcomes import Outcome, outcome_of_error, outcome_of_extract_error, outcome_of_status
from crawler.worker.visits.refused import RefusedError
from crawler.worker.visits.visit import FetchFailed

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from scrapy.crawler import Crawler

    from crawler.base.reasons import Note
    from crawler.extract import Fields, Links
    from crawler.extract.reading import Reading
    from crawler.extract.words import CombinationSearch
    from crawler.sites import Site
    from crawler.sites.follow import Follow
    from crawler.sites.joined import Joined
    from crawler.worker.definitions.plan_crawl import PlanCrawl
    from crawler.worker.offers.traps import LinkingPage
    from crawler.worker.visits.visit import Visit

NODE = socket.gethostname()


@dataclass(slots=True)
class _Lacks:
    """What an item lacks.

    Attributes:
        pages: Addresses of further pages that couldn't be had.
        gaps: How many of them another visit may have.
    """

    pages: list[str] = field(default_factory=list)
    gaps: int = 0

    def note(self, url: str, outcome: Outcome) -> None:
        """Notes a further page without which the item is delivered."""
        self.pages.append(url)
        self.gaps += outcome.leaves_gap


class ConsumerSpider(FrontierSpider):
    """Reads content pages: each becomes one item, together with the pages that continue it. Offers links to follow."""

    name = "consumer"
    frontier: Frontier = "content"
    parser_modules: tuple[str, ...]
    makes_markdown: bool
    robot: str
    own_robot: str

    @classmethod
    def from_crawler(cls, crawler: Crawler, *args: Any, **kwargs: Any) -> Self:
        """Builds the spider."""
        spider = super().from_crawler(crawler, *args, **kwargs)
        spider.parser_modules = config.PARSER_MODULES.of(crawler.settings)
        spider.makes_markdown = config.ITEM_MARKDOWN.of(crawler.settings)
        spider.own_robot = robot_name(crawler.settings)
        spider.robot = spider.own_robot if config.ROBOTS_META_OBEY.of(crawler.settings) else ""
        return spider

    async def read(self, page: Fetched, visit: Visit, site: Site) -> Sequence[Item]:
        """Returns the page's item; empty when a further page of it can't be had now, which retries the whole seed.

        Or when the page only leads on by its site's `follow.items`.

        A further page that will never be had, or not by this seed's last try, is named in the item; the pages before it
        are delivered.

        Links are offered first, also those of a page that turns out to hold no item.
        """
        address = site.address_of(visit.seed.url)
        if address != visit.seed.url:
            page = replace(page, url=visit.seed.url)  # what was fetched is the page's twin at another address
        crawls = await self._crawls(visit)
        follow, rules = site.follow, _rules(crawls, site)
        if follow and all(seed.general or seed.depth >= follow.depth for seed in visit.seeds):
            follow = None
        if (site.follow or crawls) and (page.url != visit.seed.url or not (follow or rules)):
            visit.leads_on = True  # for a plan that finds the page in another number of steps
        max_links = self.max_links if follow or rules else 0
        reading = await extract.offload(
            extract.read,
            page,
            site,
            max_links=max_links,
            by_site=follow is not None,
            rules=rules,
            with_context=any(rule.wants_words for rule in rules),
            parser_modules=self.parser_modules,
            markdown=self.makes_markdown,
            robot=self.robot,
            rules_robot=self.own_robot if any(crawl.is_general for crawl in crawls.values()) else "",
            with_words=visit.scope is not None and visit.scope.asks("page"),
        )
        await self._keep_language(reading, visit)
        judged = await self._judge(page, visit, crawls)
        await self._offer_all(reading, visit, follow, rules, crawls=crawls, judged=judged)
        if await self._only_leads_on(crawls, reading, page, visit, site) or (first := reading.fields()) is None:
            return ()
        lacks = _Lacks(gaps=page.gaps)
        fields = await self._continued(first, page, visit, site, lacks)
        if fields is not None:
            fields = await self._joined(fields, visit, site, lacks)
        if fields is None:
            return ()
        if visit.seed.row:
            fields = extract.with_row(fields, visit.seed.row, page, site)
        await self._match_text(fields, visit, site)
        await in_step()  # an item and all that follows up to its language is other work than reading
        page_item = item(page, visit, fields, lacks.pages)
        page_item.gaps = lacks.gaps
        self.claiming.gaps.note(page_item)
        return (page_item,)

    async def _continued(self, first: Fields, page: Fetched, visit: Visit, site: Site, lacks: _Lacks) -> Fields | None:
        """Returns the fields of a page and those that continue it; None when the whole seed is tried again."""
        parts = [first]
        max_pages = site.content.max_pages if site.content else 1
        seen = {page.url}
        while (url := parts[-1].next_page) and len(parts) < max_pages and url not in seen:
            seen.add(url)
            further = await self._further_page(url, visit, site, seen=seen)
            if isinstance(further, Outcome):
                if not self.is_final(further, visit):
                    self.decide_outcome(visit, further)
                    return None
                lacks.note(url, further)
                break
            if any(part.says_the_same(further) for part in parts):
                break  # whatever its address, it is a page that was read: a redirect, or a number that means nothing
            if sum(len(part.content) for part in (*parts, further)) > MAX_BODY_BYTES:
                lacks.pages.append(url)
                break
            parts.append(further)
        rules = site.content.comments if site.content else None
        return extract.join(parts, max_comments=rules.max) if rules else extract.join(parts)

    async def _joined(self, fields: Fields, visit: Visit, site: Site, lacks: _Lacks) -> Fields | None:
        """Returns fields with those of the site's `content.joined`; None when the whole seed is tried again."""
        entries = site.content.joined if site.content else ()
        for url, joined in zip(fields.joined, entries, strict=True):
            if not url:
                continue
            further = await self._further_page(url, visit, site, joined)
            if not isinstance(further, Outcome):
                fields = fields.filled(further)
                continue
            self.worker.events.publish(FetchFailed(visit.seed.host, "joined", further.reason, url, ""))
            if not self.is_final(further, visit):
                self.decide_outcome(visit, further)
                return None
            lacks.note(url, further)
        return fields

    async def _further_page(
        self, url: str, visit: Visit, site: Site, joined: Joined | None = None, seen: Collection[str] = ()
    ) -> Fields | Outcome:
        """Fetches and reads a page that continues the visit's page, or is joined to it.

        Args:
            joined: What it is joined for; None: it continues the visit's page.
            seen: Addresses of the item's pages that were asked for.

        Returns:
            Why, when it can't be had.
        """
        try:
            address = url if joined else site.address_of(url)
            response = await self.fetch(address, visit, may_render=joined is None)
            if outcome := outcome_of_status(response.status):
                return outcome
            if joined:
                return await extract.offload(extract.joined_fields, fetched(response), site, joined=joined)
            page = fetched(response)
            if site.address_of(url) != url:
                page = replace(page, url=url)
            return await extract.offload(
                extract.fields,
                page,
                site,
                parser_modules=self.parser_modules,
                continues=True,
                seen=seen,
                markdown=self.makes_markdown,
            )
        except ExtractError as error:
            return outcome_of_extract_error(error, response.status)
        except Exception as error:  # noqa: BLE001 -- whatever a download raises has an outcome
            return outcome_of_error(error)

    async def _match_text(self, fields: Fields, visit: Visit, site: Site) -> None:
        """Leaves out of a visit the plans that ask for words in the text which the page hasn't got.

        The others' `keywords` are those that it has, if they ask for words; those that led to the page come first.

        Raises:
            ExtractError: No plan is left.
            UnavailableError: The words of a plan can't be had now.
        """
        matching: list[Seed] = []
        without_words: list[Seed] = []
        for seed in visit.seeds:
            words = await self.claiming.plan_words.of(seed) if site.matches_text(seed) else None
            if words is None or not (words.match_text or site.results.match_text):
                matching.append(seed)
                continue
            visit.judged_by(seed, words.edition)
            present = await asyncio.to_thread(_combinations_in, fields, words.search)
            if present:
                led_here = [combination for combination in map(tuple, seed.combinations) if combination in present]
                matching.append(seed.found_by(list(dict.fromkeys([*led_here, *present]))))
            else:
                without_words.append(seed)
        if not matching:
            raise ExtractError(reasons.LACKS_WORDS, "its text has all words of no combination")
        if without_words:
            visit.leave_out(*without_words)  # each fails by a visit of its own
            visit.leads_on = True  # so that these plans aren't told of an item that isn't theirs
        visit.seeds = tuple(matching)

    async def _offer_all(
        self,
        reading: Reading,
        visit: Visit,
        follow: Follow | None,
        rules: Sequence[PageLinks],
        *,
        crawls: Mapping[Seed, PlanCrawl],
        judged: Mapping[Seed, LinkingPage],
    ) -> None:
        """Offers links to each plan that wants the page, by its site's word or its own."""
        if follow:
            await self._offer(reading.links, visit, follow)
        text = ""
        if isinstance(reading.found, extract.Fields) and any(each.scorer.wants_words for each in crawls.values()):
            text = await asyncio.to_thread(_text_of, reading.found)
        for rule, links in zip(rules, reading.links_by_rule, strict=True):
            if rule.seed in visit.seeds:
                await self._offer_linked(links, visit, rule, text, judged)
        for seed in (crawls.keys() & visit.seeds) - {rule.seed for rule in rules}:
            # It leads no further itself; but by what it says, links of others may wait no longer, or be worth more.
            crawl = crawls[seed]
            await self._offer_linked(extract.Links(), visit, PageLinks(crawl, seed, crawl.follow), text, judged)

    async def _judge(self, page: Fetched, visit: Visit, crawls: Mapping[Seed, PlanCrawl]) -> dict[Seed, LinkingPage]:
        """Returns how new the page is to each plan that says itself which links are followed."""
        if (traps := self.claiming.traps) is None:
            return {}
        general = [seed for seed, crawl in crawls.items() if crawl.is_general and seed in visit.seeds]
        return {seed: await traps.read(seed, page.body, crawls[seed].edition) for seed in general}

    async def _offer(self, links: Links, visit: Visit, follow: Follow) -> None:
        """Offers links to each plan that wants the page; returns when Redis has them, so that its seed ends later."""
        await self.count_left_out(links, visit.seed)
        further = [
            Seed(
                url,
                seed.plan,
                seed.site,
                keywords=seed.keywords,
                depth=seed.depth + 1,
                priority=seed.priority,
                exact=seed.exact,
                match_text=seed.match_text,
            )
            for seed in visit.seeds
            if not seed.general and seed.depth < follow.depth
            for url in links.urls
        ]
        if further:
            visit.leads_on = True
            await self.claiming.offers.offer(further, budget=follow.per_host)

    async def _crawls(self, visit: Visit) -> dict[Seed, PlanCrawl]:
        """Returns what plans say of the page's links that have a word of their own, each with the page as it wants it.

        Raises:
            UnavailableError: That can't be had now.
        """
        return {seed: await self.claiming.plan_crawls.of(seed) for seed in visit.seeds if seed.general}

    async def _only_leads_on(
        self, crawls: Mapping[Seed, PlanCrawl], reading: Reading, page: Fetched, visit: Visit, site: Site
    ) -> bool:
        """Returns whether the page makes no item for any plan; those of others are left to another visit.

        Raises:
            ExtractError: The page asks not to be indexed.
            UnavailableError: The worker stops, and Redis doesn't take what the page names instead of itself.
        """
        canonical_url = reading.found.canonical_url if isinstance(reading.found, extract.Fields) else None
        page_type = reading.known.page_type if reading.known else None
        is_list = reading.found is None or bool(site.follow and page_type in site.follow.list_types)
        refusing: dict[Seed, Note | Reason] = dict.fromkeys(visit.seeds, reasons.LIST_PAGE) if is_list else {}
        instead: dict[Seed, Seed] = {}
        again: list[Seed] = []
        for seed, crawl in crawls.items():
            if not crawl.is_general or seed not in visit.seeds:
                continue
            if is_list or not crawl.makes_item(seed, page.url, page_type):
                refusing[seed] = reasons.LIST_PAGE
                again += filter(None, [crawl.next_visit(seed, page_type, site)])
            elif reading.is_noindex:
                refusing[seed] = reasons.NOINDEX
            elif named := crawl.canonical_page(seed, canonical_url, page.url, site):
                refusing[seed] = reasons.CANONICAL
                instead[seed] = named
        return await self._leave_out(refusing, instead, visit, again)

    async def _leave_out(
        self, refusing: dict[Seed, Note | Reason], instead: Mapping[Seed, Seed], visit: Visit, again: Sequence[Seed]
    ) -> bool:
        """Leaves plans that refuse a page's item to a visit of their own; returns whether all do, and ends it so.

        Args:
            instead: By seed, the page that is offered in the place of this one.
            again: The page by its schedule, where that was told by its type.
        """
        if not refusing:
            return False
        visit.leads_on = True  # a plan that asks later isn't told of an item
        if len(refusing) < len(visit.seeds):
            visit.leave_out(*refusing)
            return False
        for seed, named in instead.items():
            if why := await self._why_left_to(named, visit):
                refusing[seed] = why
            else:
                del refusing[seed]
        if len(refusing) < len(visit.seeds):
            visit.leave_out(*refusing)
            return False
        for seed in again:
            await self.claiming.offers.offer([seed], due_ms=visit.claimed.due_ms + seed.interval_s * 1000)
        note = visit.agree(dict(sorted(refusing.items(), key=lambda entry: isinstance(entry[1], Reason))))
        if note is reasons.NAMES_ANOTHER:
            self.decide_outcome(visit, Outcome("retry", reasons.NAMES_ANOTHER))
        elif isinstance(note, Reason):
            raise ExtractError(note)
        else:
            visit.note = note
            visit.moved_to = next((named.url for seed, named in instead.items() if seed in visit.seeds), "")
        return True

    async def _why_left_to(self, named: Seed, visit: Visit) -> Note | Reason | None:
        """Offers the page that a visit's page names as the one to index.

        Returns:
            Why that page makes the item, or may, or the one that it has moved to; None: that failed, is refused, or is
            this one, or nobody knows after the last try. Of two pages that name each other, one waits a try longer.

        Raises:
            UnavailableError: The worker stops, and Redis is away.
        """
        answer = await self.claiming.offers.ask(named)
        crawl = await self.claiming.plan_crawls.of(named)
        for _ in range(MAX_HOPS):
            moved_to = await self.claiming.offers.moved_to(named) if answer is OfferAnswer.KNOWN_FINISHED else ""
            target = crawl.moved(named, moved_to) if moved_to else None
            if target is None:
                break
            if target.fingerprint == visit.claimed.fingerprint:
                return None
            named, answer = target, await self.claiming.offers.ask(target)
        if answer in (OfferAnswer.KNOWN, OfferAnswer.REFUSED):
            return None
        if answer is not OfferAnswer.KNOWN_STAYS_KNOWN:
            return reasons.CANONICAL  # should it make no item, `NamingPages` has this one crawled again
        tries_left = self.worker.config.frontier.max_attempts - visit.claimed.tries - 1
        return None if tries_left <= (named.url > visit.seed.url) else reasons.NAMES_ANOTHER

    async def _offer_linked(
        self, links: Links, visit: Visit, rule: PageLinks, text: str, judged: Mapping[Seed, LinkingPage]
    ) -> None:
        """Offers the links of a page to a plan that has a word of its own of them; returns as `_offer` does."""
        await self.count_left_out(links, rule.seed)
        await self.count_out_of_scope(rule.seed, rule.refused)
        further = rule.crawl.scored(rule.seed, links, text)
        if further:
            visit.leads_on = True

        async def offer(seeds: Sequence[Seed], refused_as: str = "") -> int:
            offered = self.claiming.offers.offer(seeds, budget=rule.follow.per_host, refused_as=refused_as)
            return (await offered).new

        if (traps := self.claiming.traps) and (page := judged.get(rule.seed)):
            for note, number in (await traps.offer(page, further, offer)).items():
                await self.claiming.offers.refuse(rule.seed, note, number)
        elif further:
            await offer(further)

    async def _keep_language(self, reading: Reading, visit: Visit) -> None:
        """Leaves out of a visit the plans for which the page's language is out of scope.

        Raises:
            ExtractError: It is for all of them.
        """
        known = reading.known
        if visit.scope is None or not visit.scope.asks("page") or known is None:
            return
        text = f"{known.title}\n{known.content or reading.words}"
        language = await asyncio.to_thread(language_of, text)
        try:
            visit.scope.judge(visit.seed.url, language=language or "")
        except RefusedError as error:
            raise ExtractError(error.outcome.reason, f"its language is {language}") from None


def _rules(crawls: Mapping[Seed, PlanCrawl], site: Site) -> list[PageLinks]:
    """Returns the word of each plan that has one of a page's links, and that follows any from here."""
    follows = [(seed, crawl, crawl.follow_at(site)) for seed, crawl in crawls.items()]
    return [PageLinks(crawl, seed, follow) for seed, crawl, follow in follows if follow and seed.depth < follow.depth]


def _combinations_in(fields: Fields, search: CombinationSearch) -> list[tuple[str, ...]]:
    """Returns the combinations that a page's title, text and comments have."""
    return search.found_in(_text_of(fields))


def _text_of(fields: Fields) -> str:
    return text_of_page(fields.title, fields.content, (comment.text for comment in fields.comments))


def item(page: Fetched, visit: Visit, fields: Fields, missing_pages: Sequence[str] = ()) -> Item:
    """Returns the item of a visit.

    Args:
        page: The page, or the first of several.
        visit: What the page was fetched for.
        fields: What it yields.
        missing_pages: Further pages of it that couldn't be had.
    """
    seed, fingerprint = visit.seed, visit.claimed.fingerprint.hex()
    values = fields.in_item()
    page_item = Item(
        id=item_id(fingerprint),
        resource=seed.site,
        url=page.url,
        time=instant_now(),
        plan=seed.plan,
        keywords=list(seed.keywords),
        combinations=seed.combinations,
        status=page.status,
        rendered=page.rendered,
        sha256=page.sha256,
        node=NODE,
        fingerprint=fingerprint,
        missing_pages=list(missing_pages),
        **values,
    )
    page_item.visit = visit
    extra = (value if isinstance(value, list) else [value] for value in fields.extra.values())
    page_item.note_clean(
        *values.values(),
        *(comment.text for comment in fields.comments),
        *(value for entries in extra for value in entries),
    )
    return page_item
