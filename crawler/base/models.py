"""A page on its way: the Seed in Redis, the Claimed seed that a worker holds, the Fetched page. Then see `item.py`."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from dataclasses import fields as dataclass_fields
from functools import lru_cache
from hashlib import sha256
from sys import intern
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Self

import orjson

from crawler.base.errors import FrontierError, UrlError
from crawler.base.urls import canonical, fingerprint, host

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

Frontier = Literal["nav", "content"]
Settled = Literal["selector", "quiet", "cap"]  # what ended the wait for a rendered page
MAX_PRIORITY = 9  # of seeds, from 0
MAX_COMBINATIONS = 50  # of a seed, as lib/combinations.lua has them
SUCCESS, REDIRECTION = 2, 3  # the first digits of the statuses of such answers
_PLAN_NAME = re.compile(r"[a-z0-9-]{1,64}")


def is_plan_name(name: str) -> bool:
    """Returns whether a plan can have the name."""
    return _PLAN_NAME.fullmatch(name) is not None


@dataclass(frozen=True, slots=True)
class Seed:
    """One page to visit.

    Attributes:
        url: Canonical URL, with the route that a script shows, where a browser renders the page.
        plan: Name of the plan that asked for it.
        site: Name of the site definition that reads it.
        frontier: `nav` for a search or list page, `content` for a page that holds data.
        keywords: The combination's words.
        edition: When the plan was submitted, in ms since the epoch; part of a nav seed's identity. 0 for content seeds.
        method: Upper-case HTTP method.
        body: Request body, sent as UTF-8 unless the site's search says otherwise.
        page: Which page of search results a nav seed is, from 1.
        more: How many pages of a search may follow this one, each when the one before was read.
        per_page: Results that are asked for on each page of its search, as the plan says.
        sort: Their order, likewise.
        since: First day that they are from, likewise: YYYY-MM-DD, or empty.
        hops: Redirects that led here, each of which ended another seed.
        stands_for: Canonical URL of the first of those, for which this one is crawled; empty: there is none.
        named_by: Canonical URL of the page that has named this one, or a page that has led here, as the one to index,
            and is crawled again if this one can't be had; empty: there is none. Of that page then: its own.
        depth: Links followed from a content page to here.
        priority: 0 to 9: what is claimed first of the due seeds of a host, the highest first; of those that are equal
            in it, the lowest depth first (lua/lib/order.lua).
        why: What the plan's scorer said of the link that led to it (`crawler/scope/scorers/`); empty if none did.
        trap: Which budgets its page takes from, since the link that led to it may be a trap's
            (`crawler/worker/offers/traps.py`); empty: none.
        interval_s: Seconds between two visits of a scheduled seed, such as a list page; 0: visited once.
        run: Which run of a scheduled search a further page belongs to, and part of its identity: each run reads its
            pages anew. 0 for all other seeds.
        row: What the row of results that led here says of the page, as JSON (`crawler/extract/rows.py`).
        exact: Whether each spelling of the URL is a page of its own, as the site's `identity` says.
        match_text: Its plan asks that the page's text has words of the plan.
        general: Its plan says by `follow` what its links are worth, instead of its site.
        further_keywords: Further combinations of the plan's words whose searches found the page before it was claimed.
    """

    url: str
    plan: str
    site: str
    frontier: Frontier = "content"
    keywords: tuple[str, ...] = ()
    edition: int = 0
    method: str = "GET"
    body: str = ""
    page: int = 1
    more: int = 0
    per_page: int = 20
    sort: str = "newest"
    since: str = ""
    hops: int = 0
    stands_for: str = ""
    named_by: str = ""
    depth: int = 0
    priority: int = 5
    why: str = ""
    trap: str = ""
    interval_s: int = 0
    run: int = 0
    row: str = ""
    exact: bool = False
    match_text: bool = False
    general: bool = False
    further_keywords: tuple[tuple[str, ...], ...] = ()

    @property
    def combinations(self) -> list[list[str]]:
        """The combinations of words whose searches led here, each once, `keywords` first; empty if none did."""
        return [list(words) for words in dict.fromkeys((self.keywords, *self.further_keywords)) if words]

    def found_by(self, combinations: Sequence[tuple[str, ...]]) -> Self:
        """Returns the seed with other combinations, at least one, in the place of those that found it."""
        return replace(self, keywords=combinations[0], further_keywords=tuple(combinations[1:MAX_COMBINATIONS]))

    @property
    def host(self) -> str:
        """The host of the URL, by whose turns the seed is paced."""
        return host(self.url)

    @property
    def trusted_host(self) -> str:
        """The host, unless another one has redirected here, or named the page as the one to index; then empty.

        What a site's file has sent to the plan's hosts isn't sent on to others.
        """
        if self.hops and not self.stands_for:
            return ""
        is_own = all(host(url) == self.host for url in (self.stands_for, self.named_by) if url)
        return self.host if is_own else ""

    @property
    def fingerprint(self) -> bytes:
        """The 16 bytes that identify the seed in its frontier."""
        run = f"#{self.run}" if self.run else ""
        is_of_plan = self.frontier == "nav" or self.interval_s > 0  # others' schedules are none of its own
        scope = f"{self.plan}@{self.edition}{run}" if is_of_plan else self.site
        return fingerprint(self.url, method=self.method, body=self.body, scope=scope, exact=self.exact)

    def followed_by(self, *, url: str, method: str, body: str) -> Seed:
        """Returns the seed of the next page of the same search, which isn't scheduled by itself."""
        return replace(
            self,
            url=url,
            method=method,
            body=body,
            page=self.page + 1,
            more=self.more - 1,
            hops=0,
            stands_for="",
            named_by="",
            interval_s=0,
        )

    def dump(self) -> bytes:
        """Returns what Redis stores: `HOST PLAN SITE INTERVAL JSON`.

        Lua scripts read the first four words and never parse the JSON, from which fields at their default are left out.
        Priority and depth, by which they order seeds, stand at its beginning. It is one line, so that what several
        plans ask for can be stored line by line. Each combination stands between two tabs, by which scripts find it: in
        JSON they mean nothing, and in its strings they are escaped.
        """
        compact = {
            short: value for name, short in _SEED_KEYS.items() if (value := getattr(self, name)) != _SEED_DEFAULTS[name]
        }
        head = f"{self.host} {self.plan} {self.site} {self.interval_s} "
        json = orjson.dumps(compact)
        if self.keywords:
            json = b'%b,"k":%b}' % (json[:-1], _between_tabs(self.keywords))
        if self.further_keywords:
            json = b'%b,"c":[%b]}' % (json[:-1], b",".join(map(_between_tabs, self.further_keywords)))
        return head.encode() + json

    @classmethod
    def load(cls, raw: bytes, frontier: Frontier) -> Seed:
        """Reads what `dump` wrote.

        Raises:
            FrontierError: Redis holds something else under a seed's fingerprint.
        """
        try:
            _host, plan, site, interval, rest = raw.split(b" ", 4)
            compact = orjson.loads(rest)
            values = {key: compact[short] for key, short in _SEED_KEYS.items() if short in compact}
            words, further = compact.get("k", []), compact.get("c", [])
            values["keywords"], values["further_keywords"] = tuple(words), tuple(map(tuple, further))
            # Thousands of seeds share one text.
            values["plan"], values["site"] = intern(plan.decode()), intern(site.decode())
            seed = cls(frontier=frontier, interval_s=int(interval), **values)
            for address in {seed.url, seed.stands_for or seed.url, seed.named_by or seed.url}:
                canonical(address, routes=True)  # it may have been canonical by earlier rules, but must be a URL
        except (ValueError, TypeError, KeyError, AttributeError, UrlError) as error:
            raise FrontierError(f"not a seed: {raw[:80]!r}") from error
        are_kinds = all(type(getattr(seed, name)) is kind for name, kind in _SEED_KINDS.items())  # no bool for an int
        if not are_kinds or not _are_words(words, *further) or not 0 <= seed.priority <= MAX_PRIORITY or seed.depth < 0:
            raise FrontierError(f"not a seed: {raw[:80]!r}")
        return seed

    def as_wanted_by(self, line: bytes) -> Seed:
        """Returns the page as a further plan wants it, by its line in `also`: `PLAN JSON`.

        A damaged line costs that plan its keywords, but not the page.
        """
        plan, _, rest = line.partition(b" ")
        try:
            head = f"{self.host} {plan.decode()} {self.site} {self.interval_s} "
            seed = Seed.load(head.encode() + rest, self.frontier)
        except (FrontierError, ValueError):
            return replace(self, plan=plan.decode("utf-8", "replace"), keywords=(), further_keywords=())
        return replace(seed, url=self.url, method=self.method, body=self.body, exact=self.exact)


@lru_cache(1_000)  # all seeds of a search have the same
def _between_tabs(words: tuple[str, ...]) -> bytes:
    return b"\t%b\t" % orjson.dumps(words)


def _are_words(*lists: Any) -> bool:
    """Returns whether each is a list of words."""
    return all(isinstance(words, list) and all(isinstance(word, str) for word in words) for words in lists)


def further_plans(lines: bytes | None) -> list[str]:
    """Returns the plans that a value of the hash `also` names, a line `PLAN JSON` for each; none for None."""
    return [line.partition(b" ")[0].decode("utf-8", "replace") for line in (lines or b"").splitlines()]


# The names of fields in the JSON of a stored seed: one letter, since there are millions of seeds. Beside these it has
# `k`, the keywords, and `c`, the further ones.
# lua/lib/order.lua looks for the first two at the beginning.
_SEED_KEYS = {
    "priority": "q",
    "depth": "d",
    "url": "u",
    "edition": "e",
    "method": "m",
    "body": "b",
    "page": "p",
    "more": "n",
    "per_page": "w",
    "sort": "o",
    "since": "s",
    "hops": "h",
    "stands_for": "i",
    "named_by": "a",
    "run": "r",
    "row": "f",
    "exact": "x",
    "match_text": "t",
    "general": "g",
    "why": "y",
    "trap": "z",
}
_SEED_DEFAULTS = {entry.name: entry.default for entry in dataclass_fields(Seed)}
_SEED_KINDS = {name: str if name == "url" else type(_SEED_DEFAULTS[name]) for name in _SEED_KEYS}


@dataclass(frozen=True, slots=True)
class Politeness:
    """How hard one host may be asked.

    Attributes:
        delay_s: Seconds between two starts of a turn.
        concurrency: Requests at once: the host's number of turns.
        burst: Seeds that one claim may take per turn.
    """

    delay_s: float = 1.0
    concurrency: int = 1
    burst: int = 10


@dataclass(frozen=True, slots=True)
class Claimed:
    """A seed that this worker holds.

    Attributes:
        partition: Of the frontier.
        claim: Id of the claim that took it: `OWNER#NUMBER`. A seed that was claimed anew isn't settled by it.
        turn: The token of the host's turn that it is crawled on; 0 where nothing is fetched. Seeds of one claim and
            host may share a turn.
        due_ms: When it was due, in ms since the epoch.
        tries: Real tries before this one.
        delay_s: Seconds between two starts on the turn.
        quarantined: Two workers died while they fetched it; nothing runs beside it.
        suspected: A worker died while it held this seed, perhaps because of another one.
        hopeless: Worker after worker died with it, so that it is failed and not fetched.
        also: The same page as further plans want it, each with its own keywords and depth.
        delivered: The page was delivered before these plans asked for it: they are told of it, nothing is fetched.
    """

    seed: Seed
    fingerprint: bytes
    partition: int
    claim: str
    turn: int
    due_ms: int
    tries: int
    delay_s: float
    quarantined: bool = False
    suspected: bool = False
    hopeless: bool = False
    also: tuple[Seed, ...] = ()
    delivered: bool = False

    @property
    def seeds(self) -> tuple[Seed, ...]:
        """The page as each plan wants it, the first one's first."""
        return (self.seed, *self.also)

    @property
    def run(self) -> int:
        """Which run of a scheduled search this is: higher with each visit that ends, the same for a soon retry; else 0.

        A visit that ends is due again an interval later, so in another one of the intervals since the epoch.
        """
        return self.due_ms // (1000 * self.seed.interval_s) if self.seed.interval_s else self.seed.run

    @property
    def owner(self) -> str:
        """The owner of the session in which the seed was claimed."""
        return self.claim.partition("#")[0]


@dataclass(frozen=True, slots=True)
class JsonAnswer:
    """JSON that a page loaded while a browser rendered it.

    Attributes:
        body: As it came, decoded.
        is_wanted: Its address is one of those that whoever has the page rendered has named.
    """

    url: str
    body: bytes
    method: str = "GET"
    status: int = 200
    is_wanted: bool = False


@dataclass(frozen=True, slots=True)
class LoadedJson:
    """The JSON that a rendered page loaded, of a site that has something read from it.

    Attributes:
        answers: Those that the site names, in the order in which the page asked for them.
        others: Addresses of further ones, for errors; those of a status that says that there is none with it.
        left_out: How many of those that the site names were more than can be kept.
    """

    answers: tuple[JsonAnswer, ...] = ()
    others: tuple[str, ...] = ()
    left_out: int = 0

    @classmethod
    def of(cls, loaded: Iterable[JsonAnswer], left_out: int) -> Self:
        """Returns what extraction reads of all JSON that a page loaded."""
        answers, others = [], []
        for answer in loaded:
            if answer.is_wanted and answer.status // 100 == SUCCESS:
                answers.append(answer)
            else:
                others.append(
                    answer.url if answer.status // 100 == SUCCESS else f"{answer.url} (status {answer.status})"
                )
        return cls(tuple(answers), tuple(others), left_out)


class SentOn(NamedTuple):
    """That a request was answered with a page of another address, to which it was redirected.

    Attributes:
        asked: The address that was asked for, canonical.
        to: The one whose page has come.
    """

    asked: str
    to: str


@dataclass(frozen=True, slots=True)
class Fetched:
    """A downloaded page as extraction sees it: no network, no framework behind it.

    Attributes:
        url: The URL that answered, after redirects on the same host.
        content_type: The Content-Type header as sent; empty when missing.
        rendered: What a browser took the page to be complete by, where one rendered it; None: none did.
        sent_on: From where the request was sent on to this page; None: it is what was asked for.
        gaps: How much a rendered page lacks that another visit may have.
        loaded: The JSON that it loaded in a browser; None: none did render it, or its site has nothing read from that.
        robots_tags: Its headers X-Robots-Tag, as sent.
        is_trial: Whoever reads it raises LacksError if it lacks something, before anything else is done with it.
    """

    url: str
    status: int
    content_type: str
    body: bytes
    rendered: Settled | None = field(default=None, kw_only=True)
    sent_on: SentOn | None = field(default=None, kw_only=True)
    gaps: int = field(default=0, kw_only=True)
    loaded: LoadedJson | None = field(default=None, kw_only=True)
    robots_tags: tuple[str, ...] = field(default=(), kw_only=True)
    is_trial: bool = field(default=False, kw_only=True)

    @property
    def sha256(self) -> str:
        """SHA-256 of what it is read from, in hex: its body, or the JSON that its site has it read from.

        Of a rendered page the document often differs from one visit to the next where that JSON doesn't.
        """
        parts = [answer.body for answer in self.loaded.answers] if self.loaded else [self.body]
        return sha256(b"\n".join(parts)).hexdigest()
