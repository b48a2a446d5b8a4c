"""Bounds traps: parts of sites that make links for ever, such as calendars, facets and soft 404s that link on.

Few traps show in one address. What shows is that their pages say nothing new, and lead to more of their own kind. So a
link that could be a trap's is marked as it is offered, and its page takes from a budget of its kind as it is read; that
grows with the pages of the kind that say something new, until it needs none. What a page leads to that says nothing new
takes from a budget of all pages with that text, too. Links that a page with something new has to pages of other kinds
take from none, as those of a list do. But a link to another host, or with a query, takes from its kind's budget unless
it stands among five of its kind.

What its budget has no room for fails by the name of its trap, as it is offered or at the latest as it comes to be asked
for. It is ready again once a page of its kind has said something new, or as a page leads there that takes from no
budget. All that is known lies in Redis, for all workers, until FAIL_DAYS after a host's last page.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter, defaultdict
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from redis.exceptions import RedisError
from scrapy.utils.datatypes import LocalCache

from crawler.base import reasons
from crawler.base.errors import UnavailableError
from crawler.frontier.keys import as_count, partition_of
from crawler.worker.offers.address_kind import AddressKind, certain_trap, kind_of, likely_trap
from crawler.worker.offers.page_text import clauses_of
from crawler.worker.offers.seen_texts import SeenTexts, label_of, number_of

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence

    from redis.asyncio import Redis

    from crawler.base.models import Seed
    from crawler.base.reasons import Note, Reason
    from crawler.frontier.frontier_config import FrontierConfig
    from crawler.frontier.seed_admin import SeedAdmin, UnfinishedSeed

MAX_REMEMBERED = 20_000  # kinds, and hosts, that a worker remembers as it has seen them last, in some 5 MB each
MAX_KINDS_OFFERED = 1_000  # kinds of which a worker remembers the links, most often 60 in 6 kB
MAX_LIGHT_BYTES = 10_000  # larger pages may take more than 0.5 ms, and are read in a thread
MIN_NEW_BYTES = 40  # how much text that was never met makes a page new: a sentence
MIN_MIRRORED_BYTES = 200  # how much text tells that a page is another host's, too
CREDIT = 10  # links that a kind may have for each of its pages that said something new
CREDIT_OF_MARKED = 1  # likewise, of addresses that say themselves that their page has another one
MAX_RELEASED = 30  # refused pages that each page makes ready once its kind needs no budget: each takes three calls
MAX_LOOKED_AT = 100  # refused pages that are looked at for those: some may be known by now by other links
MIN_OF_LIST = 5  # links of a kind on one page that make a list
MIN_PROVING, MIN_PROVING_SHARE = 10, 0.5  # pages of a kind that said something new, after which it needs no budget
MIN_PROVING_SHARE_OF_MARKED = 0.8  # likewise, of those: `/print/` may be a folder like any other
MIN_JUDGED, MIN_JUDGED_OF_HOST = 20, 10  # pages of a kind, or of a host, that were read before it is judged
MAX_STALE_SHARE = 0.1  # of a kind of which at most so many pages said something new, all links take from its budget
MIN_MIRRORED_SHARE = 0.4  # of a host's pages that say all that one of a host says that was met before it
# What a link is marked with, `Seed.trap`: it takes from its kind's budget if the kind is stale, or unless it is proven.
# Any other mark is a text's, as `_text_mark` gives it: it takes from the budgets of its kind and of that text.
IF_STALE, OF_KIND = "s", "k"


class KindCounts(NamedTuple):
    """What is known of a kind of addresses.

    Attributes:
        read: Its pages that were read.
        new: Those that said something new.
        taken: Pages read that took from its budget.
    """

    read: int = 0
    new: int = 0
    taken: int = 0

    @property
    def is_stale(self) -> bool:
        """Whether all its links take from its budget."""
        return self.read >= MIN_JUDGED and self.new <= MAX_STALE_SHARE * self.read

    def is_proven(self, mark: str) -> bool:
        """Returns whether it needs no budget; `mark`: of its addresses."""
        share = MIN_PROVING_SHARE_OF_MARKED if mark else MIN_PROVING_SHARE
        return self.new >= MIN_PROVING and self.new >= share * self.read

    def room(self, links_max: int, mark: str) -> int:
        """Returns how many may take from its budget; `mark`: of its addresses."""
        return links_max + (CREDIT_OF_MARKED if mark else CREDIT) * self.new


@dataclass(frozen=True, slots=True)
class LinkingPage:
    """A page, as it is judged for one plan.

    Attributes:
        seed: As its plan wants it.
        edition: Of its plan.
        is_new: It says something that the plan's pages haven't said.
        text: What its links are marked with if it isn't.
        was_read: It was counted before, by a visit that was lost or is repeated.
        taken: How many pages took from that text's budget.
    """

    seed: Seed
    edition: int
    kind: AddressKind
    is_new: bool
    text: str
    was_read: bool
    taken: int = 0


class Traps:
    """Judges pages, marks their links, and says which marked ones are refused.

    Each method raises UnavailableError where Redis is away.

    Args:
        admin: Has refused pages ready again.
        links_max: TRAP_LINKS.
    """

    def __init__(self, redis: Redis, config: FrontierConfig, admin: SeedAdmin, links_max: int) -> None:
        self._redis: Any = redis  # its types don't know what answers are
        self._keys, self._partitions, self._keep_s = config.keys, config.partitions, config.fail_days * 86_400
        self._admin, self._links_max = admin, links_max
        self._texts = SeenTexts(redis, self._keys.trap_texts)
        # Of a plan, by its edition and family: as this worker has seen them last.
        self._kinds: LocalCache[tuple[str, int, str], KindCounts] = LocalCache(MAX_REMEMBERED)
        # Likewise, by host: whether it is a mirror.
        self._mirrors: LocalCache[tuple[str, int, str], bool] = LocalCache(MAX_REMEMBERED)
        # By family: marked links that this worker has offered, of the kinds that came last.
        self._offered: LocalCache[tuple[str, int, str], set[bytes]] = LocalCache(MAX_KINDS_OFFERED)

    async def read(self, seed: Seed, body: bytes, edition: int) -> LinkingPage:
        """Returns how a page is judged for a plan, and counts it for its kind and host."""
        kind = kind_of(seed.url)
        if len(body) > MAX_LIGHT_BYTES:
            clauses = await asyncio.to_thread(clauses_of, body, seed.url)
        else:
            clauses = clauses_of(body, seed.url)
        size, own = sum(clauses.values()), label_of(seed.url)
        text = 0
        for clause in clauses:
            text ^= clause
        text = number_of(f"{text} {kind.family if size < MIN_NEW_BYTES else ''}")
        of_plan = number_of(f"{seed.plan} {edition}")
        said = [(clause ^ of_plan, own) for clause in (*clauses, number_of(seed.url))]
        if size >= MIN_MIRRORED_BYTES:
            said.append((text ^ of_plan, label_of(kind.host)))
        with _reaching_redis():
            speakers = await self._texts.say(said)
            # A page that is read again, since its visit was lost, is as it was.
            new_bytes = sum(
                length for length, speaker in zip(clauses.values(), speakers, strict=False) if speaker in (0, own)
            )
            mark, was_read = f"{text % (1 << 16):04x}", speakers[len(clauses)] == own
            page = LinkingPage(seed, edition, kind, new_bytes >= MIN_NEW_BYTES, mark, was_read)
            if size >= MIN_MIRRORED_BYTES and not was_read:
                await self._count_for_host(page, speakers[-1])
            return replace(page, taken=await self._count(page, read=1, new=int(page.is_new)))

    async def offer(
        self, page: LinkingPage, links: Sequence[Seed], offer: Callable[[Sequence[Seed], str], Awaitable[int]]
    ) -> Counter[Note]:
        """Offers the links of a page, marked; returns how many aren't offered, by the name of their trap.

        Args:
            offer: Offers seeds, which fail at once if new and a reason is given; returns how many were new.

        Raises:
            UnavailableError: As `offer`, too.
        """
        refused: Counter[Note] = Counter()
        kinds: list[tuple[Seed, AddressKind]] = []
        for link in links:
            if trap := certain_trap(link.url):
                refused[trap] += 1
            else:
                kinds.append((link, kind_of(link.url)))
        numbers = Counter(kind.family for _link, kind in kinds)
        is_new = page.is_new
        if not is_new:
            # A page without a text of its own may lead to several new pages of another kind, which counts as new.
            listed: list[tuple[Seed, AddressKind]] = []
            others: list[tuple[Seed, AddressKind]] = []
            for link, kind in kinds:
                is_list = numbers[kind.family] >= MIN_OF_LIST and self._is_of_list(page, kind, MIN_OF_LIST)
                (listed if is_list and not self._known(page, kind).is_stale else others).append((link, kind))
            kinds = others
            fresh = await offer(self._marked(page, listed, numbers, is_new=True), "") if listed else 0
            if is_new := fresh >= MIN_OF_LIST:
                with _reaching_redis():
                    await self._count(page, read=0, new=1)
        by_reason: dict[str, list[Seed]] = defaultdict(list)
        waiting: dict[str, list[Seed]] = defaultdict(list)
        for link, (_link, kind) in zip(self._marked(page, kinds, numbers, is_new=is_new), kinds, strict=True):
            reason = self._refused_at_once(page, link, kind)
            by_reason[reason].append(link)
            if reason not in ("", reasons.TRAP_SAME_TEXT):
                waiting[self._waiting(page.seed.plan, page.edition, kind)].append(link)
        for reason, seeds in by_reason.items():
            await offer(seeds, reason)
        with _reaching_redis():  # also of those that are known: a worker may have died before it came to this
            await self._wait(waiting)
        return refused

    def _refused_at_once(self, page: LinkingPage, link: Seed, kind: AddressKind) -> str:
        """Returns why a marked link is refused as it is offered, by what this worker has seen last; empty: it isn't."""
        known = self._known(page, kind)
        if link.trap and self._mirrors.get((page.seed.plan, page.edition, kind.host)):
            return reasons.TRAP_MIRROR
        if not link.trap or not _takes(link, known, kind):
            return ""
        of_kind = (page.seed.plan, page.edition, kind.family)
        offered = self._offered.setdefault(of_kind, set())
        self._offered.move_to_end(of_kind)
        room = known.room(self._links_max, kind.mark)
        if known.taken >= room or (len(offered) >= room and link.fingerprint not in offered):
            return likely_trap(link.url, kind)
        offered.add(link.fingerprint)
        return reasons.TRAP_SAME_TEXT if link.trap == page.text and page.taken >= self._links_max else ""

    async def refusal(self, seed: Seed, edition: int) -> Reason | None:
        """Returns why a marked page isn't asked for now; None: it is."""
        kind = kind_of(seed.url)
        key, label, host = self._keys.traps(seed.plan, edition, kind.host), label_of(kind.family), label_of(kind.host)
        with _reaching_redis():
            async with self._redis.pipeline(transaction=False) as pipe:
                pipe.hmget(key, f"r{label}", f"n{label}", f"t{label}", f"x{seed.trap}")
                pipe.hmget(self._keys.trap_hosts(seed.plan, edition), f"r{host}", f"m{host}")
                own, of_host = map(_counts, await pipe.execute())
            self._mirrors[seed.plan, edition, kind.host] = is_mirror = _is_mirror(*of_host)
            known, taken_of_text = KindCounts(*own[:3]), own[3]
            self._kinds[seed.plan, edition, kind.family] = known
            if not is_mirror and not _takes(seed, known, kind):
                return None
            if is_mirror or known.taken >= known.room(self._links_max, kind.mark):
                await self._wait({self._waiting(seed.plan, edition, kind): [seed]})
                return reasons.TRAP_MIRROR if is_mirror else likely_trap(seed.url, kind)
        return reasons.TRAP_SAME_TEXT if taken_of_text >= self._links_max else None

    def _marked(
        self,
        page: LinkingPage,
        kinds: Sequence[tuple[Seed, AddressKind]],
        numbers: Counter[str],
        *,
        is_new: bool,
    ) -> list[Seed]:
        """Returns the links of a page, each with the budgets that it takes from.

        Args:
            numbers: How many links of each kind the page has.
            is_new: Whether the page says something new, or is a list.
        """
        marked = []
        for link, kind in kinds:
            is_elsewhere = kind.host != page.kind.host  # that may be a mirror
            if not is_new:
                trap = page.text
            elif self._is_of_list(page, kind, numbers[kind.family]):
                trap = IF_STALE if is_elsewhere or self._known(page, kind).is_stale else ""
            else:
                trap = "" if self._known(page, kind).is_proven(kind.mark) and not is_elsewhere else OF_KIND
            marked.append(replace(link, trap=trap))
        return marked

    def _is_of_list(self, page: LinkingPage, kind: AddressKind, number: int) -> bool:
        is_listed = number >= MIN_OF_LIST or not (kind.has_query or kind.host != page.kind.host)
        return is_listed and kind.family != page.kind.family and not kind.mark

    async def _count(self, page: LinkingPage, *, read: int, new: int) -> int:
        """Counts a page for its kind, once, and has pages of that kind ready again that there is room for now.

        Returns:
            How many pages took from the budget of its text.
        """
        key, label = self._keys.traps(page.seed.plan, page.edition, page.kind.host), label_of(page.kind.family)
        trap = page.seed.trap
        if page.was_read:
            read = new = 0
        is_taken = trap and _takes(page.seed, self._known(page, page.kind), page.kind)
        async with self._redis.pipeline(transaction=False) as pipe:
            pipe.hincrby(key, f"r{label}", read)
            pipe.hincrby(key, f"n{label}", new)
            pipe.hincrby(key, f"t{label}", read if is_taken else 0)
            if trap not in ("", IF_STALE, OF_KIND):
                pipe.hincrby(key, f"x{trap}", read)
            pipe.expire(key, self._keep_s)
            pipe.hget(key, f"x{page.text}")
            counted = await pipe.execute()
        known = KindCounts(*counted[: len(KindCounts._fields)])
        self._kinds[page.seed.plan, page.edition, page.kind.family] = known
        if new and not self._mirrors.get((page.seed.plan, page.edition, page.kind.host)):
            credit = CREDIT_OF_MARKED if page.kind.mark else CREDIT
            await self._release(page, MAX_RELEASED if known.is_proven(page.kind.mark) else credit)
        return as_count(counted[-1] or b"0") or 0

    def _waiting(self, plan: str, edition: int, kind: AddressKind) -> str:
        """Returns the key of a kind's pages that were refused."""
        return f"{self._keys.traps(plan, edition, kind.host)}:{label_of(kind.family)}"

    async def _wait(self, waiting: Mapping[str, Sequence[Seed]]) -> None:
        """Notes pages that were refused, by the key of their kind."""
        async with self._redis.pipeline(transaction=False) as pipe:
            for key, seeds in waiting.items():
                pipe.zadd(key, {seed.fingerprint: time.time() for seed in seeds}, nx=True)
                pipe.expire(key, self._keep_s)
            await pipe.execute()

    async def _release(self, page: LinkingPage, number: int) -> None:
        """Has so many refused pages of a page's kind ready again, those first that have waited longest."""
        waiting = self._waiting(page.seed.plan, page.edition, page.kind)
        executing: set[bytes] = set()

        def is_trapped(seed: UnfinishedSeed) -> bool:
            if seed.state == "executing":  # Redis may not have been told yet that it was refused
                executing.add(seed.fingerprint)
            return seed.reason.startswith(reasons.TRAP)

        partition = partition_of(page.seed.host, self._partitions)
        for fingerprint in await self._redis.zrange(waiting, 0, MAX_LOOKED_AT - 1):
            if number <= 0:
                break
            number -= await self._admin.retry_some([(partition, fingerprint)], is_trapped)
            if fingerprint not in executing:
                await self._redis.zrem(waiting, fingerprint)

    async def _count_for_host(self, page: LinkingPage, earlier_host: int) -> None:
        """Counts a page for its host.

        Args:
            earlier_host: The label of the host that had its text before; 0: none had.
        """
        key, own = self._keys.trap_hosts(page.seed.plan, page.edition), label_of(page.kind.host)
        async with self._redis.pipeline(transaction=False) as pipe:
            pipe.hincrby(key, f"r{own}", 1)
            pipe.hsetnx(key, f"s{own}", time.time_ns())
            pipe.hmget(key, f"s{own}", f"s{earlier_host}", f"r{own}", f"m{own}")
            pipe.expire(key, self._keep_s)
            since, earlier_since, *of_host = _counts((await pipe.execute())[2])
        self._mirrors[page.seed.plan, page.edition, page.kind.host] = _is_mirror(*of_host)
        if earlier_host not in (0, own):  # whichever page was read first: hosts crawled side by side take turns
            await self._redis.hincrby(key, f"m{own if since > earlier_since else earlier_host}", 1)

    def _known(self, page: LinkingPage, kind: AddressKind) -> KindCounts:
        """Returns what is known of a kind, as this worker has seen it last."""
        return self._kinds.get((page.seed.plan, page.edition, kind.family)) or KindCounts()


def _takes(seed: Seed, known: KindCounts, kind: AddressKind) -> bool:
    """Returns whether a marked page takes from its kind's budget, by what is known of the kind."""
    if seed.trap == IF_STALE:
        return known.is_stale
    return seed.trap != OF_KIND or not known.is_proven(kind.mark)


def _counts(raw: Sequence[bytes | None]) -> list[int]:
    return [as_count(value or b"0") or 0 for value in raw]


def _is_mirror(read: int, mirrored: int) -> bool:
    """Returns whether a host is a mirror, by how many of its pages were read, and how many of those another one has."""
    return read >= MIN_JUDGED_OF_HOST and mirrored >= MIN_MIRRORED_SHARE * read


@contextmanager
def _reaching_redis() -> Iterator[None]:
    try:
        yield
    except RedisError as error:
        raise UnavailableError(f"what is known of traps: {error}") from error
