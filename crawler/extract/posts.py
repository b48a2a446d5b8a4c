"""The posts of a thread, or the comments below a page: boxes that are alike, each with a name, a time and a text.

Boxes are alike by their tag and a word of their class or a numbered id, wherever they stand, so that answers within
answers are found, or by their tag and the box that they stand in.
What stands in a post within another one is the inner one's.
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import accumulate
from operator import itemgetter
from typing import TYPE_CHECKING

from crawler.base import text
from crawler.extract.dates import to_utc
from crawler.extract.dates.spans import begins_with_day, time_in_line
from crawler.extract.evidence import LINKED_SHARE
from crawler.extract.published import MAX_CHARACTERS as MAX_TIME_CHARACTERS
from crawler.extract.published import time_marking

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from turbohtml import Element

    from crawler.extract.blocks import Box, TextBlock
    from crawler.extract.evidence import BlockEvidence
    from crawler.sites import Site

MIN_POSTS = 2  # alike; one that is named for it is a comment, too
MIN_SHARE = 0.6  # of boxes that are alike, that are posts
MIN_COVERED = 0.8  # of the words in posts by one reading of a page, in those of another reading with more posts
MAX_GROUPS = 40  # of boxes that are alike, that are looked at
MAX_TITLED_SHARE = 0.5  # of posts, that have a linked heading of their own, as entries of a list of other pages have
MAX_LINE_CHARACTERS = 200  # with a name or a time
MAX_NAME_CHARACTERS, MAX_NAME_WORDS = 40, 4
MIN_WORDS_OF_POST, MIN_WORDS_OF_LINE = 2, 4
MIN_SCORE_OF_POST = -6.0  # of a block that shows that a post has a text
MIN_SCORE, MAX_BELOW_BEST = -1.0, 3.0  # of a block of a post's text: it is above the one, or less below the best
MIN_SCORE_BEFORE = 0.5  # of blocks before the first post of a thread, such as its question
MIN_SHARE_OUTSIDE, SHARE_OUTSIDE_BY_THREAD = 0.1, 3.0  # of the likely text of a page that has comments
_ELSEWHERE = frozenset(
    "<aside> <nav> <footer> aside nav related recommended popular recent sidebar footer widget".split()
)
_TITLES = frozenset({"h1", "h2", "h3", "h4"})
_PARTS_OF_TEXT = frozenset({"p", "ul", "ol", "li", "blockquote", "pre", "table"})
_TIMES = frozenset({"time", "relative-time", "time-ago"})
# Find what `time_marking` is asked about.
_MAYBE_TIMES = ", ".join(("[datetime]", "[title]", "[itemprop][content]", *sorted(_TIMES)))
_MAYBE_LINKS_TO_TIMES = 'a[href*="?"]'
_is_own_text = re.compile(r"message|post|text|body", re.IGNORECASE).search
_QUOTES = frozenset({"quote", "quotebox", "ipsquote", "bbquote", "quoted"})
_DIGITS = "0123456789"
_UNSEEN_TIMES = "meta[itemprop=datePublished], meta[itemprop=dateCreated]"
_is_name_part = re.compile(r"[A-Za-z]+(?:[-_]+[A-Za-z]+)*[-_]*").fullmatch
_is_comment = re.compile(r"comment|reply|answer", re.IGNORECASE).search
_names_user = re.compile(
    r"author|user[-_]?name|poster|creator|nick|byline|member-?name|^(?:by|fn|name)$|user(?!-?(?:title|info|s))|handle",
    re.IGNORECASE,
).search
_names_more = re.compile(
    r"title|avatar|photo|image|date|time|count|rank|stat|info|details|badge|role|group|bio|posts|desc", re.IGNORECASE
).search
_leads_to_user = re.compile(
    r"/(?:u|users?|members?|membership|profiles?|people|author|account)[/.?-]|[?&](?:u|user|uid|author)=|mode=viewprofile"
    r"|action=profile|(?:member|profile)\.php|userinfo",
    re.IGNORECASE,
).search
_signed = re.compile(
    r"(?:^|\s|\u00bb)(?:by|von|par|por|di|door|av)\s*:?\s+(?P<name>\S[^\u00bb|\u00b7\u2022]{0,60})", re.IGNORECASE
).search
_ends_name = re.compile(
    r"\s*(?:[\u00bb|\u00b7\u2022(\[\n\t,]|\s(?:on|at|am|in|posted|wrote|says|said|replied)(?:\s|$)|\s-\s|\s\d{4}\b)"
).split
_no_name = re.compile(
    r"""(?:reply|quote|report|likes?|share|edit|link|permalink|flag|more|follow|profile|view|log\s?in|sign\s?(?:in|up)
    |send|message|contact|website|joined|posts?|op|(?:original|topic|thread|discussion)?\s?(?:poster|starter|author)|moderator|admin(?:istrator)?s?
    |(?:new|senior)?\s?member|guest\spost|top|next|previous|save|hide|show|yes|no|buy|name|email
    |go\sto.*|re:.*|\#?\d+|[A-Z][a-z]{2,8}\.?\s\d{1,2}|.*[<>*].*)""",
    re.IGNORECASE | re.VERBOSE,
).fullmatch
_clock = re.compile(r"\d:\d\d").search
_of_other_time = re.compile(
    r"join|regist|member\ssince|last\s(?:edit|seen|visit|activ|login)|edited|updated|modified", re.IGNORECASE
).search


@dataclass(frozen=True, slots=True)
class Post:
    """A post.

    Attributes:
        box: That it stands in.
        places: The blocks that are its text.
        author: Whose it is; None if that isn't said.
        published: When it was written, as UTC in ISO 8601; None if that isn't said.
    """

    box: Box
    places: tuple[int, ...]
    author: str | None
    published: str | None

    @property
    def is_comment(self) -> bool:
        """Whether the page's own names call it a comment."""
        return _is_comment(self.box.classes) is not None


def posts_of(evidence: BlockEvidence, scores: Sequence[float], site: Site, language: str) -> list[Post]:
    """Returns the posts of a page, in its order; none where its shape doesn't show any.

    Args:
        evidence: That on its blocks.
        scores: The logarithm of the odds of each block to be text.
        site: Whose dates it has.
        language: BCP 47 tag of the page; empty if it names none.
    """
    lines = _PostLines(evidence, scores)
    if not lines.times:
        return []
    groups = [group for boxes, ways in _alike(lines) if (group := _Group(lines, boxes, ways)).is_of_posts]
    most = max((group.words for group in groups if group.count > 1), default=0)
    groups = [group for group in groups if group.words >= MIN_COVERED * most or group.count == 1]
    best = max(groups, key=_Group.worth, default=None)
    posts = [*best.posts(site, language)] if best is not None else []
    if len(posts) == 1 and any(scores[place] > 0 for place in posts[0].places):
        return []  # it is the page's own text
    return posts


def own_places(
    evidence: BlockEvidence, scores: Sequence[float], likely: list[int], posts: Sequence[Post], thread_share: float
) -> list[int]:
    """Returns the places of a page's text: of a thread all of its posts, of another page what isn't in its comments.

    Args:
        evidence: That on its blocks.
        scores: The logarithm of the odds of each block to be text.
        likely: The places of those that are likely to be text.
        posts: Of the page.
        thread_share: How likely it is to be a thread, 0 where anything else is likelier. The more so, the more of its
            text may stand before its posts.
    """
    if not posts:
        return likely
    within = {place for post in posts for place in range(post.box.first, post.box.end)}
    outside = [place for place in likely if place not in within]
    words, words_outside = (sum(evidence.counts[place] for place in places) for places in (likely, outside))
    if len(posts) == 1 or words_outside > (MIN_SHARE_OUTSIDE + SHARE_OUTSIDE_BY_THREAD * thread_share) * words:
        return outside
    likely_places = {*likely}
    own = {place for post in posts for place in (likely_places.intersection(post.places) or post.places)}
    own.update(place for place in outside if place < posts[0].box.first and scores[place] > MIN_SCORE_BEFORE)
    return sorted(own)


class _PostLines:
    """What the blocks of a page say for posts: times and names, each looked for once.

    Attributes:
        times: By the place of a block, the times that it has as they are written, and whether each is marked as one.
    """

    def __init__(self, evidence: BlockEvidence, scores: Sequence[float]) -> None:
        self.evidence, self.blocks, self.scores = evidence, evidence.page.blocks, scores
        boxes = evidence.page.boxes
        marked = _marked_times(boxes[0].element) if boxes else {}
        self.times = {
            place: times
            for place, (block, has_digit) in enumerate(zip(self.blocks, evidence.has_digit, strict=True))
            if (times := _times_of(block, marked, has_digit=has_digit))
        }
        if boxes:
            self._add_unseen_times(boxes)
        self.quoted: set[int] = set()
        end = 0
        for box in boxes if self.times else ():
            if box.end > end and _is_quote(box.tag, box.classes):
                self.quoted.update(range(box.first, box.end))
                end = box.end
        for place in self.quoted.intersection(self.times):
            del self.times[place]
        self._names: dict[tuple[int, int], str] = {}

    def _add_unseen_times(self, boxes: list[Box]) -> None:
        """Adds the times that posts have for programs alone, as such of their first blocks."""
        metas = boxes[0].element.select(_UNSEEN_TIMES)
        box_of = {box.element: box for box in boxes} if metas else {}
        for meta in metas:
            box = box_of.get(meta.parent)
            if box is not None and box.first < box.end:
                self.times.setdefault(box.first, []).append((meta.attr("content") or "", True))

    def words_at(self, place: int) -> int:
        """Returns how many words of a block are likely to be text."""
        count = self.evidence.counts[place]
        is_line = count >= MIN_WORDS_OF_LINE and self.evidence.share_linked(place) < LINKED_SHARE
        return count if is_line and self.scores[place] > MIN_SCORE_OF_POST else 0

    def first_name(self, places: list[int], ways: int) -> tuple[str, int]:
        """Returns the name that blocks have by the surest way to say one, and the place of the block; "", -1 for none.

        Args:
            places: Of the blocks.
            ways: How many of the ways count, the surest first.
        """
        for way in range(ways):
            for place in places:
                if (place, way) not in self._names:
                    names = () if place in self.quoted else _WAYS[way](self.blocks[place])
                    self._names[place, way] = next(filter(None, map(_name, names)), "")
                if name := self._names[place, way]:
                    return name, place
        return "", -1


def _alike(lines: _PostLines) -> list[tuple[tuple[Box, ...], int]]:
    """Returns boxes that are alike, most of which have a time, and how many of the ways to say a name count in them.

    Those of which most have a time come first. Where it is only by what they stand in that boxes are alike, a name has
    to be marked as one.
    """
    boxes = lines.evidence.page.boxes
    timed = [*accumulate((place in lines.times for place in range(len(lines.blocks))), initial=0)]
    with_time: Counter[tuple[str, str | Box]] = Counter()
    for box in boxes[1:]:
        if timed[box.end] > timed[box.first]:
            with_time.update((box.tag, name) for name in _likenesses(box))
    groups: dict[tuple[str, str | Box], list[Box]] = {
        kind: []
        for kind, count in with_time.items()
        if count >= MIN_POSTS or (isinstance(kind[1], str) and _is_comment(kind[1]))
    }
    tags = {tag for tag, _ in groups}
    for box in boxes[1:] if groups else ():
        if box.tag in tags:
            for name in _likenesses(box):
                if (group := groups.get((box.tag, name))) is not None:
                    group.append(box)
    ways_of: dict[tuple[Box, ...], int] = {}  # boxes that are alike in several ways count once
    for (tag, likeness), group in groups.items():
        if with_time[tag, likeness] >= MIN_SHARE * len(group) and not lines.evidence.is_beside(group[0], _ELSEWHERE):
            ways = len(_WAYS) if isinstance(likeness, str) else _MARKED_WAYS
            ways_of[tuple(group)] = max(ways, ways_of.get(tuple(group), 0))
    likely = sorted(ways_of, key=lambda group: sum(timed[box.end] > timed[box.first] for box in group), reverse=True)
    return [(group, ways_of[group]) for group in likely[:MAX_GROUPS]]


def _likenesses(box: Box) -> list[str | Box]:
    """Returns by what a box may be one of several that are alike: words of its class, a numbered id, its place."""
    likenesses: list[str | Box] = [*_names_alone(box.classes)] if box.classes else []
    if box.html_id and box.html_id[-1].isdigit():
        likenesses.append(f"#{box.html_id.rstrip(_DIGITS)}")
    if box.parent is not None:
        likenesses.append(box.parent)
    return likenesses


@lru_cache(maxsize=20_000)
def _names_alone(classes: str) -> tuple[str, ...]:
    return tuple(filter(_is_name_part, classes.split()))


class _Group:
    """Boxes that are alike, and may be posts.

    Attributes:
        count: How many of them have a name, a time and a text.
        words: How many words those have.
    """

    def __init__(self, lines: _PostLines, boxes: tuple[Box, ...], ways: int) -> None:
        self._lines, self._boxes = lines, boxes
        self._own = self._own_places()
        self._times = [*map(self._time, self._own)]
        words = [sum(map(lines.words_at, places)) for places in self._own]
        self._names = [
            lines.first_name(places, ways) if time else ("", -1)
            for places, (time, _) in zip(self._own, self._times, strict=True)
        ]
        self._whole = [at for at, (name, _) in enumerate(self._names) if name and words[at] >= MIN_WORDS_OF_POST]
        self.count, self.words = len(self._whole), sum(words[at] for at in self._whole)

    def _own_places(self) -> list[list[int]]:
        """Returns the places of the blocks of each box, without those of boxes of the group within it."""
        boxes = self._boxes
        own: list[list[int]] = [[] for _ in boxes]
        opened: list[int] = []
        following = 0
        for place in range(boxes[0].first, max(box.end for box in boxes)):
            while opened and boxes[opened[-1]].end <= place:
                opened.pop()
            while following < len(boxes) and boxes[following].first <= place:
                if boxes[following].end > place:
                    opened.append(following)
                following += 1
            if opened:
                own[opened[-1]].append(place)
        return own

    @cached_property
    def is_of_posts(self) -> bool:
        """Whether most of them are posts, and no entries of a list of other pages."""
        evidence, blocks = self._lines.evidence, self._lines.blocks
        names = {name for name, _ in self._names}
        titles = {
            evidence.texts[place]
            for at in self._whole
            for place in self._own[at]
            if blocks[place].tag in _TITLES
            and evidence.share_linked(place) > LINKED_SHARE
            and place not in (self._names[at][1], self._times[at][1])
        } - names
        return self.count >= MIN_SHARE * len(self._boxes) and len(titles) <= MAX_TITLED_SHARE * self.count

    def worth(self) -> tuple[int, int, int]:
        """Returns by what groups are compared; of several boxes around a single comment the innermost is best."""
        return self.count, self.words if self.count > 1 else -self.words, self._boxes[0].depth

    def posts(self, site: Site, language: str) -> Iterator[Post]:
        """Yields the posts."""
        for box, places, (name, named), (time, timed) in zip(
            self._boxes, self._own, self._names, self._times, strict=True
        ):
            own = self._text(box, places, {named, timed})
            if own and (name or time):
                published = to_utc(time, site.zone, language=language) if time else None
                yield Post(box, tuple(own), name or None, published)

    def _text(self, post: Box, places: list[int], label_places: set[int]) -> list[int]:
        """Returns the places of a post's text: the largest part of it with neither its name nor its time."""
        blocks, scores = self._lines.blocks, self._lines.scores
        label_places |= {place for place in places if blocks[place].tag in _TITLES and place < max(label_places)}
        words: dict[Box, float] = defaultdict(float)
        for place in places:
            is_quoted = place in self._lines.quoted  # it would be a post of its own
            likely = 0.0 if is_quoted else self._lines.evidence.counts[place] / (1 + math.exp(-scores[place])) ** 2
            for box in _up_to(post, blocks[place].box):
                words[box] += -math.inf if place in label_places else likely
        largest = max(words, key=lambda box: (words[box], -box.depth), default=post)
        if words[largest] <= 0:
            largest = post
        elif largest.tag in _PARTS_OF_TEXT and largest.parent is not None:
            largest = largest.parent
        own = [place for place in places if place not in label_places and largest.first <= place < largest.end]
        least = min(MIN_SCORE, max((scores[place] for place in own), default=0.0) - MAX_BELOW_BEST)
        return [place for place in own if scores[place] >= least]

    def _time(self, places: list[int]) -> tuple[str, int]:
        """Returns when a post was written, as it says so, and in which block: what is marked or has a clock is sure."""
        times = [
            (not is_marked, _clock(words) is None, place, words)
            for place in places
            for words, is_marked in self._lines.times.get(place, ())
        ]
        *_, place, words = min(times, key=itemgetter(0, 1, 2), default=(True, True, -1, ""))
        return words, place


@lru_cache(maxsize=20_000)
def _is_quote(tag: str, classes: str) -> bool:
    """Returns whether a box with a tag and a class has what a post quotes of another one."""
    names = classes.lower().split()
    if any(name in _QUOTES or name.endswith(("-quote", "_quote")) for name in names):
        return True
    return tag == "blockquote" and _is_own_text(classes) is None  # some forums have each post in one


def _up_to(post: Box, box: Box | None) -> Iterator[Box]:
    """Yields a box of a post and those around it, without that of the post."""
    while box is not None and box is not post:
        yield box
        box = box.parent


def _marked_times(body: Element) -> dict[Element, str]:
    """Returns the elements of a page that are marked as times, each with its time for programs, empty for none."""
    elements = (*body.select(_MAYBE_TIMES), *body.select(_MAYBE_LINKS_TO_TIMES))
    times = ((element, time_marking(element)) for element in elements)
    return {element: words for element, words in times if words or element.tag in _TIMES}


def _times_of(block: TextBlock, marked: dict[Element, str], *, has_digit: bool) -> list[tuple[str, bool]]:
    """Returns the times that a block has, as they are written, and whether each is marked as one.

    Args:
        block: Of the page.
        marked: Elements that are marked as times.
        has_digit: Whether its text has one.
    """
    if marked:
        times = [
            (words, True)
            for begin, end, element in _elements(block)
            if element in marked
            and (words := marked[element] or block.text[begin:end].strip())
            and len(words) <= MAX_TIME_CHARACTERS
        ]
        if times:
            return times
    if not has_digit and not begins_with_day(block.line):
        return []
    lines = [block.line]
    if "\n" in block.text:
        lines = [" ".join(line.split()) for line in block.text[: 3 * MAX_LINE_CHARACTERS].split("\n")]
    return [
        (time[0], False)
        for line in lines
        if len(line) <= MAX_LINE_CHARACTERS and (time := time_in_line(line)) is not None and not _of_other_time(line)
    ]


def _elements(block: TextBlock) -> Iterator[tuple[int, int, Element]]:
    """Yields the elements in a block, that around it, and those around that which have nothing else."""
    yield from block.inline
    box: Box | None = block.box
    while box is not None and (box is block.box or box.end - box.first == 1):
        yield 0, len(block.text), box.element
        box = box.parent


def _declared_names(block: TextBlock) -> Iterator[str]:
    for begin, end, element in _elements(block):
        if "author" in f"{element.attr('itemprop') or ''} {element.attr('rel') or ''}".split():
            named = element.select_one("[itemprop~=name]")
            yield block.text[begin:end] if named is None else named.attr("content") or named.text


def _called_names(block: TextBlock) -> Iterator[str]:
    called = [
        (end - begin, block.text[begin:end])
        for begin, end, element in _elements(block)
        if end - begin <= 2 * MAX_NAME_CHARACTERS
        and any(_names_user(name) and not _names_more(name) for name in (element.attr("class") or "").split())
    ]
    return (written for _, written in sorted(called))


def _linked_names(block: TextBlock) -> Iterator[str]:
    for begin, end, element in block.inline:
        if element.tag == "a" and _leads_to_user(element.attr("href") or ""):
            yield block.text[begin:end]


def _bold_names(block: TextBlock) -> Iterator[str]:
    """Yields the text of a block that is a term, or wholly bold."""
    whole = block.text.strip()
    if block.tag == "dt" or any(
        element.tag in ("b", "strong") and block.text[begin:end].strip() == whole
        for begin, end, element in block.inline
    ):
        yield whole


def _name(written: str) -> str:
    """Returns a name as people have them in forums; empty if it is none."""
    if len(written) > MAX_LINE_CHARACTERS:
        return ""
    line = text.line(written)
    signed = _signed(line)
    name = _ends_name(signed["name"] if signed else line)[0].strip(" ,;:-\u2013/@")
    is_name = (
        1 < len(name) <= MAX_NAME_CHARACTERS
        and len(name.split()) <= MAX_NAME_WORDS
        and any(map(str.isalpha, name))
        and _no_name(name) is None
    )
    return name if is_name else ""


_WAYS = (_declared_names, _called_names, _linked_names, _bold_names)  # to say a name, the surest first
_MARKED_WAYS = 3  # of these, that mark it
