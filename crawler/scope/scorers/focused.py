"""Focused: links that look as if they led to the plan's words come first, and it learns which of them do."""

from __future__ import annotations

import math
import re
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple, Self
from urllib.parse import unquote

from crawler.scope.scorers.scorer import LinkScore

if TYPE_CHECKING:
    from collections.abc import Sequence
    from collections.abc import Set as AbstractSet

    from crawler.scope.scorers.scorer import Link, PageOfLinks, PlanTopic

LEARNING_RATE = 0.3
MAX_GROUPS = 60_000  # most templates, folders, words and links whose yields are remembered, the latest, in some 10 MB
# The plan's average counts as at least this: of a group without any page on topic, it takes some thirty to say much.
LEAST_AVERAGE = 0.03
# A link is also worth following to learn of its folder, or else a crawl stays where it began: the first to a folder as
# much as if its page were 7 times as likely on topic, by this logarithm; the third 0.7 of that, the ninth 0.4 ...
NOVELTY_WORTH, FEW_LINKS = 2.0, 2
TITLE_CHARACTERS = 80  # of a page's text, which begins with its title: whose words are what a link to it says
CACHED_LINKS = 4_096  # whose words are kept in pieces, since pages of a site share their menus: some 8 MB
MAX_ODDS = 2.0  # of evidence from a group, against the plan's average, as half a logarithm: 55 times as likely
# The logarithms of odds from which on a link has priority 1, 2 ... 9: that its page is on topic by 1, 2, 4, 8, 15, 27,
# 43, 60 and 77 in 100. Where nothing is known, a link has priority 2.
LEVELS = (-4.5, -3.8, -3.1, -2.4, -1.7, -1.0, -0.3, 0.4, 1.2)
USUAL_PRIORITY = 5  # of a plan; that of others moves its links by as much

_why = re.compile(r"-?\d{1,3}(?:,-?\d{1,3}){12}", re.ASCII)
STEM_LETTERS, ENOUGH_PIECES = 6, 3  # `replicas` is as good as `replication`; a link has few words

_piece = re.compile(r"[^\W\d_]{2,}").findall
_not_word = re.compile(r"[\W_]+")
_id = re.compile(r"[0-9a-f]*[0-9][0-9a-f]*")  # a number, decimal or not


class Evidence(NamedTuple):
    """What is known of a link while its page isn't.

    Attributes:
        anchor: Which part of the words of a combination stands on the link, of that which has most: 0 to 1.
        around: Likewise, around it.
        address: Likewise, in its address.
        pieces: How many of the single words of all combinations stand on the link or in its address, by their first
            letters: 1 for all, or for three.
        page: 1: the page that it stands on is on topic.
        density: How often the plan's words stand on that page: 0 never, 1 in every tenth word or so.
        depth: How many links led to that page: 1 for ten or more.
        template: How much likelier than the plan's average are pages on topic whose addresses have but other numbers:
            half the logarithm of their odds.
        folder: Likewise, pages of the same folder.
        words: Likewise, pages that have the words of the link and its address in their titles and addresses, together.
        linked: Likewise, pages that link to it.
    """

    anchor: float = 0.0
    around: float = 0.0
    address: float = 0.0
    pieces: float = 0.0
    page: float = 0.0
    density: float = 0.0
    depth: float = 0.0
    template: float = 0.0
    folder: float = 0.0
    words: float = 0.0
    linked: float = 0.0


# What a scorer begins with, found on topics of their own (benchmarks/focused.py): the weight of each part of the
# evidence, and at the end what holds without any: that a page is on topic by 3 in 100.
FIRST_WEIGHTS = (*Evidence(2.5, 1.0, 2.0, 2.0, 1.0, 1.0, -0.5, 0.3, 1.0, 1.5, 1.5), -3.5)


class Focused:
    """Scores links by how likely their pages have all words of a combination, by a logistic regression.

    It learns from each page that the plan's links led to, step by step (AdaGrad), and remembers how many pages of each
    template and folder, with each word, and with a link to each page were on topic. All of that is this worker's alone
    and ends with it: another one begins anew, and is as good after some hundred pages.

    Raises:
        ValueError: The plan has no words.
    """

    wants_words = True

    def __init__(self, topic: PlanTopic) -> None:
        if not topic.combinations:
            raise ValueError("`order: focused` needs keywords, which say what links are judged by")
        self._combinations = [frozenset(words) for words in topic.combinations]
        self._words_in = topic.words_in
        self._pieces = frozenset().union(*(_pieces_of(" ".join(words)) for words in topic.combinations))
        self._moved_by = topic.priority - USUAL_PRIORITY
        self._weights = list(FIRST_WEIGHTS)
        self._squares = [1.0] * len(FIRST_WEIGHTS)  # of all steps' gradients, by which later steps are shorter
        self._groups: dict[int, tuple[int, int]] = {}  # by hash: how many pages were read, how many were on topic
        self._read, self._on_topic = 0, 0

    @classmethod
    def of(cls, topic: PlanTopic) -> Self:
        """Returns the scorer of a plan."""
        return cls(topic)

    def scores(self, links: Sequence[Link], page: PageOfLinks) -> list[LinkScore]:
        """Learns from a page, and returns what each of its links is worth."""
        present = self._words_in(page.text) if page.text else frozenset[str]()
        is_on_topic = any(words <= present for words in self._combinations)
        self._learn(page, links, is_on_topic=is_on_topic)
        occurrences = sum(map(page.text.count, present))
        of_page = Evidence(
            page=float(is_on_topic),
            density=min(1.0, math.log1p(1_000 * occurrences / (len(page.text) + 500)) / 3),
            depth=min(page.depth + 1, 10) / 10,
        )
        odds_of_words: dict[str, float] = {}
        return [self._score(link, of_page, odds_of_words) for link in links]

    def _score(self, link: Link, of_page: Evidence, odds_of_words: dict[str, float]) -> LinkScore:
        address = _address_of(link.url)
        pieces = _pieces_of(f"{link.anchor} {address}")
        for piece in pieces.difference(odds_of_words):
            odds_of_words[piece] = self._odds(hash(piece))
        telling = [odds for piece in pieces if (odds := odds_of_words[piece])]
        template, folder = map(self._odds, _groups_of(link.url))
        evidence = of_page._replace(
            pieces=min(1.0, len(self._pieces & pieces) / (min(len(self._pieces), ENOUGH_PIECES) or 1)),
            template=template,
            folder=folder,
            words=_bounded(sum(telling) / math.sqrt(len(telling) or 1)),  # they aren't independent of each other
            linked=self._odds(_linked_group(link.url)),
        )
        if self._words_in(f"{link.anchor} {link.around} {address}"):  # most links have none, anywhere
            evidence = evidence._replace(
                anchor=self._part(self._words_in(link.anchor)),
                around=self._part(self._words_in(link.around)),
                address=self._part(self._words_in(address)),
            )
        odds = self._odds_of(evidence)
        novelty = self._novelty(link.url)
        level = sum(odds + NOVELTY_WORTH * novelty >= least for least in LEVELS) + self._moved_by
        parts = (_likelihood(odds), *evidence, novelty)
        return LinkScore(min(9, max(0, level)), ",".join(str(round(100 * part)) for part in parts))

    def _novelty(self, url: str) -> float:
        """Returns how few other addresses of its folder links led to before: 1 for none."""
        group = hash((_groups_of(url)[1], "links"))
        before = self._groups.get(group, (0, 0))[0]
        if self._groups.get(_linked_group(url), (0, 0))[0] <= 1:  # it is the first link to this address
            self._count(group, is_on_topic=False)
        return 1 / math.sqrt(1 + before / FEW_LINKS)

    def _part(self, present: AbstractSet[str]) -> float:
        """Returns which part of the words of a combination a text has, of that which has most."""
        return max(len(words & present) / len(words) for words in self._combinations) if present else 0.0

    def _odds(self, group: int) -> float:
        """Returns how much likelier than the plan's average are pages of a group on topic, as `Evidence` has it."""
        read, on_topic = self._groups.get(group, (0, 0))
        if not read:
            return 0.0
        average = max(LEAST_AVERAGE, (self._on_topic + 0.5) / (self._read + 10))
        off_topic = 1 / average - 1  # pages for one that is on topic: as many are added, as a group may have but one
        return _bounded(math.log((on_topic + 1) * off_topic / (read - on_topic + off_topic)) / 2)

    def _count(self, group: int, *, is_on_topic: bool) -> None:
        read, on_topic = self._groups.pop(group, (0, 0))
        self._groups[group] = (read + 1, on_topic + is_on_topic)

    def _odds_of(self, evidence: Evidence) -> float:
        """Returns the logarithm of the odds that a page is on topic."""
        *weights, without_any = self._weights
        return without_any + sum(weight * part for weight, part in zip(weights, evidence, strict=True))

    def _learn(self, page: PageOfLinks, links: Sequence[Link], *, is_on_topic: bool) -> None:
        self._read += 1
        self._on_topic += is_on_topic
        words = map(hash, _pieces_of(f"{page.text[:TITLE_CHARACTERS]} {_address_of(page.url)}"))
        for group in (*_groups_of(page.url), *words, *(_linked_group(link.url) for link in links)):
            self._count(group, is_on_topic=is_on_topic)
        while len(self._groups) > MAX_GROUPS:
            del self._groups[next(iter(self._groups))]
        if (parsed := _parsed(page.why)) is None:
            return
        _likely, evidence, _novelty = parsed
        too_likely = _likelihood(self._odds_of(evidence)) - is_on_topic
        for place, part in enumerate((*evidence, 1.0)):
            gradient = too_likely * part
            self._squares[place] += gradient * gradient
            self._weights[place] -= LEARNING_RATE * gradient / math.sqrt(self._squares[place])

    @classmethod
    def explanation(cls, why: str) -> str:
        """Returns a sentence on how likely a page was to be on topic when its link was found, and by what."""
        if (parsed := _parsed(why)) is None:
            return ""
        likelihood, evidence, novelty = parsed
        parts = [
            *(f"{_share(part)} {where}" for part, where in zip(evidence, _PLACES, strict=False) if part > 0),
            *(["it has single words of the plan's"] if evidence.pieces else []),
            *(["the page with the link is on topic"] if evidence.page else []),
            *(
                f"pages {which} were {math.exp(2 * odds):.1f} times as likely as others"
                for which, odds in zip(_PAGES, evidence[-len(_PAGES) :], strict=True)
                if abs(odds) >= _TELLING_ODDS
            ),
        ]
        since = f", since {', '.join(parts)}" if parts else ", as nothing was known of it"
        sooner = "; it comes sooner as few links to its folder were known" if novelty >= _TELLING_NOVELTY else ""
        return f"its link was found to lead to the topic by {likelihood:.0%}{since}{sooner}"


_PLACES = ("on the link", "around the link", "in its address")
_PAGES = ("of its template", "of its folder", "with words of its link", "with links to it")
_TELLING_ODDS = 0.1  # less is no reason to anybody
_TELLING_NOVELTY = 0.35  # less moves a link by no priority


def _share(part: float) -> str:
    return "all words of the plan stand" if part == 1 else f"{part:.0%} of the plan's words stand"


@lru_cache(CACHED_LINKS)
def _address_of(url: str) -> str:
    """Returns an address without its host, as it is and as words."""
    path = unquote(url.partition("//")[2].partition("/")[2])
    return f"{path} {_not_word.sub(' ', path)}"


@lru_cache(CACHED_LINKS)
def _pieces_of(text: str) -> frozenset[str]:
    return frozenset(word[:STEM_LETTERS] for word in _piece(text.casefold()))


def _groups_of(url: str) -> tuple[int, int]:
    """Returns the template of an address, in which numbers are alike, and its folder, as hashes."""
    return hash(_id.sub("0", url)), hash(url.partition("?")[0].rpartition("/")[0])


def _linked_group(url: str) -> int:
    """Returns the hash of the pages that link to an address."""
    return hash((url, "linked"))


def _bounded(odds: float) -> float:
    return max(-MAX_ODDS, min(MAX_ODDS, odds))


def _likelihood(odds: float) -> float:
    return 1 / (1 + math.exp(-max(-30.0, min(30.0, odds))))


def _parsed(why: str) -> tuple[float, Evidence, float] | None:
    """Returns a likelihood, the evidence for it, and the novelty; None for what isn't made here: it is from Redis."""
    if _why.fullmatch(why) is None:
        return None
    likelihood, *parts, novelty = (_bounded(int(part) / 100) for part in why.split(","))
    return likelihood, Evidence(*parts), novelty
