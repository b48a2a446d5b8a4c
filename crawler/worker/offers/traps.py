"""Bounds traps: parts of sites that make links for ever, such as calendars, facets and soft 404s that link on.

Few traps show in one address. What shows is that their pages say nothing new, and lead to more of their own kind. So a
link that could be a trap's takes from a budget of its kind, which grows with the pages of that kind that say something
new, until it needs none; and what a page leads to that says nothing new takes from a budget of all pages with that
text. Links that a page with something new has to pages of other kinds take from none, as those of a list do; but one
that leads to another host, or has a query, does so unless it stands among several of its kind.

What is beyond the budget of its kind waits here, and is offered once pages of its kind have shown that they say
something new; it is lost with the worker. All of it is this worker's memory alone: with N workers a trap
may cost N times as much, and a worker that starts anew has forgotten what it knew.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from scrapy.utils.datatypes import LocalCache

from crawler.base import reasons
from crawler.worker.offers.address_kind import AddressKind, certain_trap, kind_of, likely_trap, plain
from crawler.worker.offers.page_text import clauses_of
from crawler.worker.offers.seen import Seen

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from crawler.base.models import Seed
    from crawler.base.reasons import Note

MAX_REMEMBERED = 20_000  # most kinds, texts, hosts and pages that are remembered, each: in some 15 MB in all
MAX_WAITING, MAX_WAITING_OF_KIND = 10_000, 1_000  # most links that wait, in some 10 MB
MIN_NEW_BYTES = 40  # how much text that was never met makes a page new: a sentence
MIN_MIRRORED_BYTES = 200  # how much text tells that a page is another host's, too
CREDIT = 10  # links that a kind may have for each of its pages that said something new
CREDIT_OF_MARKED = 1  # likewise, of addresses that say themselves that their page has another one
MIN_OF_LIST = 5  # links of a kind on one page that make a list
MIN_PROVING, MIN_PROVING_SHARE = 10, 0.5  # pages of a kind that said something new, after which it needs no budget
MIN_PROVING_SHARE_OF_MARKED = 0.8  # likewise, of those: `/print/` may be a folder like any other
MIN_JUDGED, MIN_JUDGED_OF_HOST = 20, 10  # pages of a kind, or of a host, that were read before it is judged
MAX_STALE_SHARE = 0.1  # of a kind of which at most so many pages said something new, all links take from its budget
MIN_MIRRORED_SHARE = 0.4  # of a host's pages that say all that one of a host says that was met before it


@dataclass(slots=True)
class _Kind:
    """What is known of a kind of addresses.

    Attributes:
        read: Its pages that were read.
        new: Those that said something new.
        taken: Links that it took from its budget.
        waiting: Links beyond it.
    """

    read: int = 0
    new: int = 0
    taken: int = 0
    waiting: dict[str, Seed] = field(default_factory=dict)

    @property
    def is_stale(self) -> bool:
        return self.read >= MIN_JUDGED and self.new <= MAX_STALE_SHARE * self.read

    def is_proven(self, mark: str) -> bool:
        share = MIN_PROVING_SHARE_OF_MARKED if mark else MIN_PROVING_SHARE
        return self.new >= MIN_PROVING and self.new >= share * self.read


@dataclass(slots=True)
class _Text:
    """What is known of a text: which host had it first, and how many links its pages took since."""

    host: str
    taken: int = 0


@dataclass(slots=True)
class _Host:
    """How many pages of a host have a text, and one that a host has that was met before; which one of all it is."""

    number: int
    read: int = 0
    mirrored: int = 0

    @property
    def is_mirror(self) -> bool:
        return self.read >= MIN_JUDGED_OF_HOST and self.mirrored >= MIN_MIRRORED_SHARE * self.read


@dataclass(frozen=True, slots=True)
class LinkingPage:
    """A page, as it is judged for one plan.

    Attributes:
        is_new: It says something that the plan's pages haven't said.
        text: A hash of all that it says; of its kind, where that is next to nothing.
    """

    plan: str
    kind: AddressKind
    is_new: bool
    text: int


class Traps:
    """What one worker knows of kinds of addresses.

    Args:
        links_max: TRAP_LINKS.
    """

    def __init__(self, links_max: int) -> None:
        self._links_max = links_max
        self._clauses, self._addresses = Seen(), Seen()
        self._waiting = 0
        self._kinds: LocalCache[tuple[str, str], _Kind] = LocalCache(MAX_REMEMBERED)
        self._texts: LocalCache[tuple[str, int], _Text] = LocalCache(MAX_REMEMBERED)
        self._hosts: LocalCache[tuple[str, str], _Host] = LocalCache(MAX_REMEMBERED)
        # A page that is read again, since its visit was lost, says nothing new by then, but is as it was.
        self._pages: LocalCache[tuple[str, str], LinkingPage] = LocalCache(MAX_REMEMBERED)

    def read(self, url: str, body: bytes, plans: Iterable[str]) -> dict[str, LinkingPage]:
        """Returns for each plan how a page is judged, and counts it for its kind and host."""
        clauses = clauses_of(body, url)
        return {plan: self._pages.get((plan, url)) or self._judge(plan, url, clauses) for plan in plans}

    def sift(self, page: LinkingPage, links: Sequence[Seed]) -> tuple[list[Seed], Counter[Note]]:
        """Returns which links of a page may be offered, and how many may not, by the name of their trap.

        Links of earlier pages, which waited, are among them.
        """
        unknown = {link.url: kind_of(link.url) for link in links if not self._knows(page.plan, link.url)}
        numbers = Counter(kind.family for kind in unknown.values())
        is_new = page.is_new or self._is_list(page, numbers, unknown.values())
        refused: Counter[Note] = Counter()
        offered = []
        for link in links:
            note = None
            if (kind := unknown.get(link.url)) is not None:
                note = self._refusal(page, link, kind, is_new=is_new, number=numbers[kind.family])
            if note is None:
                self._know(page.plan, link.url)
                offered.append(link)
            else:
                refused[note] += 1
        return offered + self._no_longer_waiting(page), refused

    def _judge(self, plan: str, url: str, clauses: dict[int, int]) -> LinkingPage:
        new_bytes = sum(length for clause, length in clauses.items() if self._clauses.add(hash((plan, clause))))
        size, address = sum(clauses.values()), kind_of(url)
        text = hash((frozenset(clauses), address.family if size < MIN_NEW_BYTES else ""))
        page = LinkingPage(plan, address, new_bytes >= MIN_NEW_BYTES, text)
        self._know(plan, url)
        kind = self._kind(plan, page.kind.family)
        kind.read += 1
        kind.new += page.is_new
        if size >= MIN_MIRRORED_BYTES:
            host, first = self._host(plan, page.kind.host), self._host(plan, self._text(page).host)
            host.read += 1
            if host is not first:  # whichever page was read first: hosts that are crawled side by side take turns
                max(host, first, key=lambda known: known.number).mirrored += 1
        self._pages[plan, url] = page
        return page

    def _is_list(self, page: LinkingPage, numbers: Counter[str], unknown: Iterable[AddressKind]) -> bool:
        """Returns whether a page leads to several new pages of another kind, which counts as new for its own."""
        listed = {kind.family for kind in unknown if not kind.mark and numbers[kind.family] >= MIN_OF_LIST}
        listed.discard(page.kind.family)
        is_list = any(not self._kind(page.plan, family).is_stale for family in listed)
        self._kind(page.plan, page.kind.family).new += is_list
        return is_list

    def _refusal(self, page: LinkingPage, link: Seed, kind: AddressKind, *, is_new: bool, number: int) -> Note | None:
        """Returns why a link is refused, None if it isn't.

        Args:
            number: How many such links the page has.
        """
        host = self._hosts.get((page.plan, kind.host))
        if (trap := certain_trap(link.url)) or (host is not None and host.is_mirror):
            return trap or reasons.TRAP_MIRROR
        if (shorter := plain(link.url)) != link.url and self._knows(page.plan, shorter):
            duplicates = self._kind(page.plan, f"{kind.host}//")
            duplicates.taken += 1
            return reasons.TRAP_DUPLICATE if duplicates.taken > self._links_max else None
        own = self._kind(page.plan, kind.family)
        is_listed = number >= MIN_OF_LIST or not (kind.has_query or kind.host != page.kind.host)
        is_of_list = is_listed and kind.family != page.kind.family and not (kind.mark or own.is_stale)
        if is_new and (is_of_list or own.is_proven(kind.mark)):
            return None
        return self._over_budget(page, link, kind, own, is_new=is_new)

    def _over_budget(
        self, page: LinkingPage, link: Seed, kind: AddressKind, own: _Kind, *, is_new: bool
    ) -> Note | None:
        """Takes a link from the budgets of its kind and of its page's text; returns which of them has nothing left."""
        if not self._has_room(own, kind):
            may_wait = len(own.waiting) < MAX_WAITING_OF_KIND and self._waiting < MAX_WAITING
            if may_wait and link.url not in own.waiting:
                own.waiting[link.url] = link
                self._waiting += 1
            return likely_trap(link.url, kind)
        if not is_new:
            text = self._text(page)
            if text.taken >= self._links_max:
                name = likely_trap(link.url, kind)
                return reasons.TRAP_SAME_TEXT if name == reasons.TRAP_TEMPLATE else name
            text.taken += 1
        own.taken += 1
        return None

    def _has_room(self, own: _Kind, kind: AddressKind) -> bool:
        return own.taken < self._links_max + (CREDIT_OF_MARKED if kind.mark else CREDIT) * own.new

    def _no_longer_waiting(self, page: LinkingPage) -> list[Seed]:
        """Returns links that have waited for pages such as this one to say something new."""
        own = self._kind(page.plan, page.kind.family)
        released: list[Seed] = []
        while own.waiting and (own.is_proven(page.kind.mark) or self._has_room(own, page.kind)):
            url = next(iter(own.waiting))
            released.append(own.waiting.pop(url))
            own.taken += 1
            self._waiting -= 1
            self._know(page.plan, url)
        return released

    def _knows(self, plan: str, url: str) -> bool:
        return hash((plan, url)) in self._addresses

    def _know(self, plan: str, url: str) -> None:
        """Remembers an address that is offered, and the one that it most likely equals."""
        for address in {url, plain(url)}:
            self._addresses.add(hash((plan, address)))

    def _host(self, plan: str, host: str) -> _Host:
        return self._hosts.setdefault((plan, host), _Host(len(self._hosts)))

    def _kind(self, plan: str, family: str) -> _Kind:
        return self._kinds.setdefault((plan, family), _Kind())

    def _text(self, page: LinkingPage) -> _Text:
        return self._texts.setdefault((page.plan, page.text), _Text(page.kind.host))
