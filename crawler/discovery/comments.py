"""Proposes how the comments below content pages are read: their text, author and time, and which one each answers.

A block is taken for a comment only if what the proposed rules read of it looks like one, on all pages that are
compared: none is proposed rather than one that isn't.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple
from zoneinfo import ZoneInfo

from turbohtml import Element, Text

from crawler.base.errors import HeadroomError
from crawler.discovery import answered, comment_rows, cut_dates, selectors
from crawler.discovery.comment_rows import ROWS_MAX, ROWS_MIN
from crawler.discovery.page import width, within
from crawler.discovery.rules import (
    AUTHOR_NAME,
    AUTHOR_PATH,
    DATE_NAME,
    DATED_CHARACTERS,
    NAME_WIDTH,
    NAME_WIDTH_MIN,
    NAME_WORDS,
    author_pattern,
    beside_date,
)
from crawler.extract import content as reading
from crawler.extract.dates import to_utc
from crawler.sites import Site

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from crawler.discovery.comment_rows import CommentElement, CommentList
    from crawler.discovery.rules import NamedDate, RuleKeys
    from crawler.discovery.sample import Sample
    from crawler.extract.comments import ReadComment

USUAL_SHARE = 0.8  # of the rows, that have what is selected in them
APART_SHARE = 0.3  # of the text of the first ones: an article that stands apart from its comments has so much
LABEL_SHARE = 0.6  # of the rows: what stands in so many of them, such as `Reply`, is no comment's own text
SELECTORS_MAX = 400  # that are tried within the rows
SHOWN = 2  # the rank of a date that is shown as text, behind those in attributes, which have 0 and 1
FOUND_MAX = 4  # answers that are kept: on the same one depends where the content is, and then what the file says
AROUND_MAX = 6  # names around an element that are combined with its own
_NOT_SHOWN = ("script", "style", "template", "noscript", "textarea", "option")
_NO_TEXT_TAGS = frozenset("a b button cite em form h2 h3 h4 h5 h6 i span strong time".split())
_is_author_label = re.compile(r"[Aa]uthor|作者|楼主|发布者|發佈者").match
_leads_to_posts_of = re.compile(r"[?&](?:u|uid|user|userid|author)=").search
_UTC = ZoneInfo("UTC")


class Proposed(NamedTuple):
    """How comments are read.

    Attributes:
        rules: The key `content.comments`.
        is_inside: They stand in the content, and are to be removed from it.
        rows: On each page, the comments.
        posts: On each page, the block of the same kind beside them, which holds the content; none where there is none.
        body_tag: The tag of the block behind each of them that has its text; empty where they have it themselves.
        removed: Selectors by which a content leaves them out.
        is_newest_first: None is older than the one behind it, so that the last post is the one that they answer.
    """

    rules: RuleKeys
    is_inside: bool
    rows: tuple[tuple[Any, ...], ...]
    posts: tuple[tuple[Any, ...], ...]
    body_tag: str = ""
    removed: tuple[str, ...] = ()
    is_newest_first: bool = False

    @property
    def blocks(self) -> tuple[tuple[Any, ...], ...]:
        """On each page, the comments, with the blocks that have their texts."""
        return tuple(tuple(one for row in rows for one in self.blocks_of(row)) for rows in self.rows)

    def blocks_of(self, row: Any) -> tuple[Any, ...]:
        """Returns a comment, and the block that has its text if that isn't the same."""
        return (row, comment_rows.next_block(row)) if self.body_tag else (row,)


def find(samples: Sequence[Sample], content: str) -> Proposed | None:
    """Returns how the comments of content pages are read; None if none are found.

    Args:
        samples: The pages that are compared.
        content: The selector of their content, which is its first match; empty: it isn't known.
    """
    return _find(tuple(samples), content)


@lru_cache(maxsize=FOUND_MAX)
def _find(samples: tuple[Sample, ...], content: str) -> Proposed | None:
    """Returns what `find` does, once for the same pages and content."""
    best: tuple[tuple[int, ...], Proposed] | None = None
    for group in comment_rows.candidates(samples, content):
        rules = _FieldFinder(group).rules()
        pages = _read(samples, group, rules, content) if rules else []
        kept = _kept(rules, pages) if pages else {}
        is_newest_first = _is_newest_first(pages)
        if group.is_newest_first and not is_newest_first:
            continue  # what stands above an article, rather than answers to it
        if is_newest_first and group.posts and not group.is_newest_first:
            if _is_newest_first(_read(samples, group, rules | {"each": f"css:{group.css_of_all}"}, content)):
                continue  # the first post is the newest, and no answers follow it
            is_newest_first = False
        rank = (group.is_named, len(kept), group.nested, len(group.rows))
        if kept and (best is None or rank > best[0]):
            rows = tuple(tuple(one.page.tree.select(group.css)) for one in samples)
            posts = tuple(tuple(one.element for one in of_page) for of_page in group.posts)
            best = (
                rank,
                Proposed(kept, group.is_inside, rows, posts, group.body_tag, group.removed, is_newest_first),
            )
    return best[1] if best else None


def _read(samples: Sequence[Sample], group: CommentList, rules: RuleKeys, content: str) -> list[Sequence[ReadComment]]:
    """Returns the comments that a site file with these rules reads on each page.

    Empty if they aren't the rows, or if too little remains of the content that they are removed from.
    """
    text = {"content": {"select": content, "remove": list(group.removed)}} if group.is_inside else {}
    try:
        site = Site.from_definition({"name": "new", "content": {"title": "css:title", **text, "comments": rules}})
        pages = [reading.fields(one.page.fetched, site) for one in samples]
    except HeadroomError:
        return []
    found: list[Sequence[ReadComment]] = [page.comments for page in pages]
    left = [width(page.content or "") for page in pages]
    firsts = sum(width(of_page[0].text) for of_page in found if of_page)
    if text and (not all(left) or sum(left) < APART_SHARE * firsts):
        return []
    posts = group.posts if rules["each"] == f"css:{group.css_of_all}" and group.posts else [()] * len(samples)
    together = [(*mine, *rows) for mine, rows in zip(posts, group.pages, strict=True)]
    is_whole = all(len(read[:ROWS_MAX]) == len(rows[:ROWS_MAX]) for read, rows in zip(found, together, strict=True))
    return found if is_whole else []


def _kept(rules: RuleKeys, pages: Sequence[Sequence[ReadComment]]) -> RuleKeys:
    """Returns the rules that read something on nearly all comments; empty if what they read are no comments."""
    read = [one for page in pages for one in page]
    if max(map(len, pages), default=0) < ROWS_MIN or not all(one.text for one in read):
        return {}
    said = [one.text for one in read if _has_letter(one.text)]
    if len(said) < USUAL_SHARE * len(read) or len({one.text for one in read}) * 2 <= len(read):
        return {}
    values = {"author": [one.author for one in read], "published": [one.published for one in read]}
    lacking = [name for name, said in values.items() if sum(map(bool, said)) < USUAL_SHARE * len(read)]
    return {} if len(lacking) == len(values) else {name: rule for name, rule in rules.items() if name not in lacking}


def _is_newest_first(pages: Sequence[Sequence[ReadComment]]) -> bool:
    """Returns whether the times of comments go down on all pages that have several."""
    dates = [[str(one.published) for one in page if one.published] for page in pages]
    several = [page for page in dates if len(set(page)) > 1]
    return bool(several) and all(page == sorted(page, reverse=True) for page in several)


@dataclass(frozen=True)
class _Choice:
    """A selector within rows.

    Attributes:
        css: The selector; empty: the row itself.
        found: What it finds first, by the number of the row.
    """

    css: str
    found: Mapping[int, Any]

    @property
    def has_name(self) -> bool:
        """Whether it is more than tags."""
        return bool(self.css) and not self.css.replace(" ", "").isalnum()

    def select(self, attribute: str = "") -> str:
        """Returns the selector as a rule has it, or that of an attribute."""
        if not self.css:
            return f"xpath:string(@{attribute})" if attribute else "xpath:."
        return f"css:{self.css}" + (f"::attr({attribute})" if attribute else "")


class _FieldChoice(NamedTuple):
    """Where comments have a field."""

    rule: RuleKeys
    choice: _Choice


class _FieldFinder:
    """Finds the fields of comments.

    Args:
        group: The comments.
    """

    def __init__(self, group: CommentList) -> None:
        self._group, self._rows = group, group.rows
        self._own = [_own_texts(row) for row in self._rows]
        self._language = self._rows[0].page.language

    def rules(self) -> RuleKeys:
        """Returns the rules of the comments; empty if they have no text, or neither author nor time."""
        published = self._published()
        author = self._author(published)
        fields = {name: one for name, one in (("author", author), ("published", published)) if one}
        text = self._text([one.choice for one in fields.values()]) if fields else {}
        if not text:
            return {}
        rules = {"text": text} | {name: one.rule for name, one in fields.items()}
        if not self._group.nested:
            rules |= answered.rules(self._group.pages, self._group.posts)
        short = {name: rule["select"] if list(rule) == ["select"] else rule for name, rule in rules.items()}
        return {"each": self._group.each, **short}

    def _parted(self, choice: _Choice) -> NamedDate | None:
        """Returns how name and date are told apart where an element has both of them and nothing else."""
        return beside_date(self._shown(choice), self._language)

    @cached_property
    def _choices(self) -> list[_Choice]:
        """The selectors that find something in most rows."""
        found: dict[str, dict[int, Any]] = {}
        for at, row in enumerate(self._rows):
            for element in row.own:
                for css in _selectors(row, element):
                    found.setdefault(css, {}).setdefault(at, element)
        usual = (_Choice(css, by_row) for css, by_row in found.items() if len(by_row) >= USUAL_SHARE * len(self._rows))
        heads = [_Choice("", {at: row.element for at, row in enumerate(self._rows)})] if self._group.body_tag else []
        return [*islice(usual, SELECTORS_MAX), *heads]

    def _shown(self, choice: _Choice) -> list[str]:
        """Returns the texts of what was chosen; empty if one has none, or one that is too long for a name or a date."""
        if any(len(one.text) > 2 * DATED_CHARACTERS for one in choice.found.values()):
            return []
        texts = [self._rows[at].page.text_of(one) for at, one in choice.found.items()]
        return texts if all(0 < len(text) <= DATED_CHARACTERS for text in texts) else []

    def _published(self) -> _FieldChoice | None:
        """Returns where the time is: rather in what is made for programs, or shown with the mouse, than in a text."""
        found: list[tuple[tuple[int, ...], _FieldChoice]] = []
        for choice in self._choices:
            for place_rank, attribute, texts in self._dates(choice):
                rule = cut_dates.rule_of(texts, self._language) if all(map(_has_digit, texts)) else None
                if place_rank == SHOWN and (parted := self._parted(choice)):
                    rule = parted.date
                if rule is not None:
                    select = choice.select(attribute)
                    rank = (place_rank, len(rule), max(map(len, texts)), not choice.has_name, len(found))
                    found.append((rank, _FieldChoice({"select": select, **rule}, choice)))
        return min(found, key=lambda one: one[0])[1] if found else None

    def _dates(self, choice: _Choice) -> Iterator[tuple[int, str, list[str]]]:
        """Yields where dates may be: the rank of the place (0: the best), its attribute (or none), and the texts."""
        elements = list(choice.found.values())
        if all(one.attr("datetime") for one in elements):  # of <time>, or of an element that a site makes up
            yield 0, "", [one.attr("datetime") or "" for one in elements]
            return
        for name in sorted(set.intersection(*({*one.attrs} for one in elements))):
            if name == "title" or (name.startswith("data-") and DATE_NAME.search(name)):
                yield 1, name, [str(one.attr(name) or "")[:DATED_CHARACTERS] for one in elements]
        if texts := self._shown(choice):
            yield SHOWN, "", texts

    def _author(self, published: _FieldChoice | None) -> _FieldChoice | None:
        """Returns where the author is: in what says so, or else the first that is a name by its looks."""
        found: list[tuple[tuple[int, ...], _FieldChoice]] = []
        dated = published.choice.found if published else {}
        for choice in self._choices:
            texts = self._shown(choice)
            if not texts:
                continue
            is_apart = not any(at in dated and within(dated[at], one) for at, one in choice.found.items())
            is_named = sum(map(_names_author, choice.found.values())) >= USUAL_SHARE * len(texts)
            tail = (sum(map(width, texts)), not choice.has_name, len(found))
            if is_apart and self._are_names(texts, is_named=is_named):
                places = sum(self._rows[at].places.get(one, 0) for at, one in choice.found.items())
                is_called_so = sum(map(_is_called_author, choice.found.values())) >= USUAL_SHARE * len(texts)
                rank = (0, int(not is_called_so), *tail) if is_named else (1, places, *tail)
                found.append((rank, _FieldChoice({"select": choice.select()}, choice)))
            elif pattern := author_pattern(texts, list(choice.found.values())):
                # `Author: Ann Lee` says more than a text does that looks like a name.
                rank = (1, -1, *tail) if _is_author_label(pattern) else (2, 0, *tail)
                found.append((rank, _FieldChoice({"select": choice.select(), "pattern": pattern}, choice)))
            elif parted := self._parted(choice):
                found.append(((2, 0, *tail), _FieldChoice({"select": choice.select(), "pattern": parted.name}, choice)))
            elif removed := self._beside_name(choice):
                rule = {"select": choice.select(), "remove": [f"css:{removed}"]}
                found.append(((3, 0, *tail), _FieldChoice(rule, choice)))
        return min(found, key=lambda one: one[0])[1] if found else None

    def _beside_name(self, choice: _Choice) -> str:
        """Returns the selector of what stands behind a name in the same element, such as how long ago it was said.

        Empty if there is nothing of the kind, or if what remains is no name.
        """
        elements = list(choice.found.values())
        inner = [[one for one in element if isinstance(one, Element) and one.text.strip()] for element in elements]
        if not all(len(found) == 1 for found in inner):
            return ""
        names = [_own_text(element) for element in elements]
        is_apart = all(_has_digit(found[0].text) and width(_own_text(found[0])) for found in inner)
        steps = selectors.steps(inner[0][0])
        css = next((step for step in steps if all(step in selectors.steps(found[0]) for found in inner)), "")
        return css if is_apart and self._are_names(names, is_named=False) else ""

    def _are_names(self, texts: Sequence[str], *, is_named: bool) -> bool:
        """Returns whether texts may be authors' names.

        Args:
            is_named: Their elements say so.
        """
        if not all(NAME_WIDTH_MIN <= width(one) <= NAME_WIDTH and _has_letter(one) for one in texts):
            return False
        if any(to_utc(one, _UTC) for one in texts):
            return False
        if is_named:
            return True
        is_label = any(re.search(r"\d{2}|[:.!?\u3002]", one) or one.casefold() in self._labels for one in texts)
        return not is_label and len(set(texts)) >= ROWS_MIN and all(len(one.split()) <= NAME_WORDS for one in texts)

    @cached_property
    def _labels(self) -> frozenset[str]:
        """The texts that stand in most rows."""
        counts = Counter(written for own in self._own for written in {text for _one, text in own})
        least = max(ROWS_MIN, LABEL_SHARE * len(self._rows))
        return frozenset(written for written, count in counts.items() if count >= least)

    @cached_property
    def _held(self) -> list[Counter[Any]]:
        """How much text of its own each element of each row holds; labels count against it."""
        held = []
        for row, own in zip(self._rows, self._own, strict=True):
            counts: Counter[Any] = Counter()
            for element, written in own:
                for around in row.lineage(element) if element != row.element else []:
                    counts[around] += -width(written) if written in self._labels else width(written)
            held.append(counts)
        return held

    def _text(self, aside: Sequence[_Choice]) -> RuleKeys:
        """Returns the rule of the text: of the part that holds the most besides others; empty if there is none.

        Args:
            aside: Author and time.
        """
        if self._group.body_tag:
            return {"select": f"xpath:following-sibling::*[1][self::{self._group.body_tag}]"}
        found: list[tuple[tuple[int, ...], RuleKeys]] = []
        for choice in self._choices:
            amounts = [self._held[at][one] for at, one in choice.found.items()]
            if len(amounts) < len(self._rows) or min(amounts) <= 0 or any(_overlap(choice, one) for one in aside):
                continue
            is_block = not any(one.tag in _NO_TEXT_TAGS for one in choice.found.values())
            select = f"css:{choice.css}"
            tail = (is_block, choice.has_name, -len(found))
            found.append(((sum(amounts), *tail), {"select": select}))
            if all(one.tag == "p" for one in choice.found.values()):
                several = sum(
                    held[one]
                    for row, held in zip(self._rows, self._held, strict=True)
                    for one in row.select(choice.css)
                )
                found += [((several, *tail), {"select": select, "all": True})] if several > sum(amounts) else []
        found += self._loose(aside)
        return max(found, key=lambda one: one[0])[1] if found else {}

    def _loose(self, aside: Sequence[_Choice]) -> list[tuple[tuple[int, ...], RuleKeys]]:
        """Returns the rule of a text that stands in the row itself, without an element of its own."""
        widths = [
            sum(width(text) for one, text in own if one == row.element)
            for row, own in zip(self._rows, self._own, strict=True)
        ]
        if min(widths) <= 0 or self._group.nested:
            return []
        removed = [f"css:{choice.css}" for choice in aside]
        return [((sum(widths), 0, 0, 0), {"select": "xpath:.", "remove": list(dict.fromkeys(removed))})]


def _own_texts(row: CommentElement) -> list[tuple[Any, str]]:
    """Returns the elements of a row that have a text themselves, each with that text in small letters."""
    found = []
    for element in (row.element, *row.own):
        written = _own_text(element)
        if written and element.tag not in _NOT_SHOWN:
            found.append((element, written.casefold()))
    return found


def _own_text(element: Any) -> str:
    """Returns the text that an element has itself, besides the elements in it."""
    return " ".join(" ".join(str(node.data) for node in element if isinstance(node, Text)).split())


def _overlap(choice: _Choice, other: _Choice) -> bool:
    """Returns whether what one selector finds holds what another one finds in some row, or stands in it."""
    pairs = ((one, other.found[at]) for at, one in choice.found.items() if at in other.found)
    return any(within(one, there) or within(there, one) for one, there in pairs)


def _selectors(row: CommentElement, element: Any) -> Iterator[str]:
    """Yields selectors of an element within a row."""
    yield from selectors.steps(element)
    if element.tag in ("td", "th") and not selectors.classes(element) and (cell := selectors.cell_of(element)):
        yield cell
    if tag := selectors.tag_of(element):
        around = (step for one in row.lineage(element)[1:] for step in selectors.steps(one)[:3] if step != one.tag)
        yield from (f"{outer} {tag}" for outer in islice(around, AROUND_MAX))


def _names_author(element: Any) -> bool:
    """Returns whether an element, or where it leads, says that it is an author's name."""
    href = (element.attr("href") or "") if element.tag == "a" else ""
    return bool(_is_called_author(element) or AUTHOR_PATH.search(href) or _leads_to_posts_of(href))


def _is_called_author(element: Any) -> bool:
    """Returns whether an element says that it is an author's name; where it leads, a picture may lead as well."""
    names = selectors.classes(element)
    about = " ".join([*names, element.attr("rel") or "", element.attr("itemprop") or ""])
    return bool(element.tag == "cite" or "fn" in names or AUTHOR_NAME.search(about))


def _has_digit(text: str) -> bool:
    return any(map(str.isdigit, text))


def _has_letter(text: str) -> bool:
    return any(map(str.isalpha, text))
