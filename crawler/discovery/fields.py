"""Finds the fields of content pages by comparing two of them: what is equal on both belongs to the site, not to a page.

The title is what the page of results calls the page. Date and author stand near it and have a form or a name of their
own. Where the content is, `body_text.py` tells.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

from crawler.discovery import body_text, cut_dates, selectors
from crawler.discovery.page import ancestors, width, within
from crawler.discovery.paging import NEXT
from crawler.discovery.sample import first_of
from crawler.extract.dates import to_utc
from crawler.extract.declared import Declared
from crawler.sites.selector import Selector

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from crawler.discovery.sample import Sample

CANDIDATES_MAX = 10  # elements on a page for one field; the nearest to the title are looked at
NAME_WIDTH = 60  # of an author
CUT_TITLE_MIN = 20  # characters; a shorter title isn't cut to fit into a list
PART_TITLE_MIN = 12  # width of a heading that is a part of what the page of results says, such as `Post: ...`
MARK_CHARACTERS = 2
DATED_CHARACTERS = 200  # of a text with a date in it
BEFORE_TITLE = 2  # times as far as behind it, as distances are weighed: most sites have date and author below the title
_ASIDE = ("nav", "header", "footer", "aside")
_HEADINGS = ("h1", "h2", "h3", "h4")
DATE_NAME = re.compile(r"date|time|publish|posted|日期|时间", re.IGNORECASE)
AUTHOR_NAME = re.compile(
    r"author|byline|user-?_?name|(?:^|[-_ ])(?:user|poster|writer|creator|nick|nickname|by)(?:$|[-_ ])", re.IGNORECASE
)
AUTHOR_PATH = re.compile(r"/(?:authors?|users?|members?|profiles?|people|space|u)(?:[/=.?-]|$)", re.IGNORECASE)
# A name within a longer text, such as `by Ann Becker on 2026-11-03`: what stands before it, and what ends it.
author_in = re.compile(
    r"(?:^|(?<=\s))(?P<label>(?:[Bb]y|BY|[Aa]uthor|作者|楼主|发布者|發佈者)\s*[:\uff1a]?\s*)"
    r"(?P<name>[^\s|,:][^|,]{1,40}?)(?P<end>,?\s+(?:on|at|in)\s|\s*[|,\u00b7\u2022]|\s+(?=\d)|$)"
).search
_UTC = ZoneInfo("UTC")
Rule = dict[str, Any]


def compare(samples: Sequence[Sample], further: Sequence[Sample] = ()) -> dict[str, Rule]:
    """Returns the rules of `content`, by field, that pages show; those that can't be told are left out.

    Args:
        samples: Two pages of different content, which are compared.
        further: More pages, which show what not every page has, such as images.
    """
    rules: dict[str, Rule] = {}
    titles, title = _title(samples)
    text = body_text.find(samples, further)
    contents = text.elements if text else ((), ())
    near = _Near(samples, further, titles, contents)
    if title:
        rules["title"] = {"select": title} | ({"remove": [f"{title} a"]} if _has_mark(titles) else {})
    if author := _author(near):
        rules["author"] = author
    if published := _published(near):
        rules["published"] = published
    if text:
        is_inside = all(
            title is not None and within(title, top[0]) for title, top in zip(titles, contents, strict=True)
        )
        removed = [*([title] if is_inside else []), *text.rule.get("remove", ())]
        rules["content"] = text.rule | ({"remove": removed} if removed else {})
    inside = text.rule["select"].removeprefix("css:") if text else ""
    for name, tags in (("images", ("img",)), ("videos", ("video source", "video"))):
        if found := next(filter(None, (_media([*samples, *further], tag, inside, title) for tag in tags)), ""):
            rules[name] = {"select": found}
    return rules


def next_page(samples: Sequence[Sample]) -> str:
    """Returns the selector of a content page's link to its own second page; empty if no page has one.

    A link to the next article isn't one: the address of a second page is that of the first with a 2, at its end or
    in place of a 1.
    """
    for sample in samples:
        for anchor in sample.page.anchors:
            marks = f"{anchor.element.attr('rel') or ''} {anchor.element.attr('class') or ''}".lower().split()
            is_next = {"next", "nxt"} & set(marks) or NEXT.fullmatch(anchor.text)
            if is_next and _is_second(anchor.url, sample.page.url) and (css := first_of([sample], [anchor.element])):
                return css
    return ""


def _is_second(there: str, here: str) -> bool:
    ours, theirs = (re.split(r"(\d+)", url) for url in (here, there))
    if len(ours) == len(theirs):
        return [pair for pair in zip(ours, theirs, strict=True) if pair[0] != pair[1]] == [("1", "2")]
    first = re.escape(here.rstrip("/").removesuffix(".html"))
    return bool(re.fullmatch(first + r"(?:[?&][\w-]+=2|[/_-](?:page[/_-]?)?2/?)(?:\.html)?", there))


class _Near:
    """Elements of two pages that hold a field, in pairs, those nearest to the titles first."""

    def __init__(
        self,
        samples: Sequence[Sample],
        further: Sequence[Sample],
        titles: Sequence[Any],
        contents: Sequence[Sequence[Any]],
    ) -> None:
        self.samples, self.further = samples, further
        self.titles, self._contents = titles, contents

    def rule(self, read: Callable[[Sample, Any, str], str], *, may_be_equal: Callable[[str], bool]) -> str:
        """Returns a selector of elements from which a field can be read on both pages; empty if there is none.

        Args:
            read: Returns the field's value that an element with a text has; empty: none.
            may_be_equal: Whether elements with a selector may have the same value on both pages.
        """
        here, there = (self._on(at, read) for at in range(2))
        alike = ((one, other) for one in here for other in there if one[0].tag == other[0].tag)
        for (one, value), (other, other_value) in alike:
            css = first_of(self.samples, (one, other))
            if css and (value != other_value or may_be_equal(css) or self._differs(css, value, read)):
                return css
        return ""

    def _differs(self, css: str, value: str, read: Callable[[Sample, Any, str], str]) -> bool:
        """Returns whether a further page has another value where a selector finds one."""
        for sample in self.further:
            element = sample.page.tree.select_one(css.removeprefix("css:"))
            if element is not None and read(sample, element, sample.page.text_of(element)) not in ("", value):
                return True
        return False

    def _on(self, at: int, read: Callable[[Sample, Any, str], str]) -> list[tuple[Any, str]]:
        sample, title = self.samples[at], self.titles[at]
        order = sample.page.order
        middle = order.get(title, 0) if title is not None else 0
        found: list[tuple[int, Any, str]] = []
        for element, written in sample.short_texts:
            if any(within(element, top) for top in self._contents[at]):
                continue
            if value := read(sample, element, written):
                distance = order[element] - middle
                if found and within(element, found[-1][1]):
                    found.pop()  # what holds the value alone goes before what holds more
                found.append((distance if distance >= 0 else -BEFORE_TITLE * distance, element, value))
        found.sort(key=lambda one: one[0])
        return [(element, value) for _distance, element, value in found[:CANDIDATES_MAX]]


def _title(samples: Sequence[Sample]) -> tuple[list[Any], str]:
    """Returns the element of the title on each page (None: it isn't known), and the selector of the title."""
    called = [(one, other) for one in _called(samples[0]) for other in _called(samples[1]) if one.tag == other.tag]
    pairs = [pair for pair in called if pair[0].tag in _HEADINGS or selectors.classes(pair[0])]
    headings = [
        {sample.page.text_of(element): element for element in reversed(sample.page.tree.select("h1"))}
        for sample in samples
    ]
    own = [
        [element for text, element in here.items() if text and text not in there]
        for here, there in (headings, reversed(headings))
    ]
    pairs += [(own[0][0], own[1][0])] if all(len(found) == 1 for found in own) else []
    pairs.sort(key=lambda pair: pair[0].tag not in _HEADINGS)
    for pair in pairs[:CANDIDATES_MAX]:
        if css := first_of(samples, pair):
            return list(pair), css
    if declared := _declared_title(samples, "meta[property='og:title']"):
        return [None, None], declared
    for pair in [pair for pair in called if pair not in pairs][:CANDIDATES_MAX]:  # such as a cell of a table
        if css := first_of(samples, pair):
            return list(pair), css
    return [None, None], _declared_title(samples, "title")


def _declared_title(samples: Sequence[Sample], css: str) -> str:
    """Returns the selector of an element in the head, if each page has one of its own; else an empty text."""
    elements = [sample.page.tree.select_one(css) for sample in samples]
    values = [element and (element.attr("content") or element.text) for element in elements]
    return f"css:{css}" if all(values) and values[0] != values[1] else ""


def _has_mark(titles: Sequence[Any]) -> bool:
    """Returns whether each title has a link of a sign or two in it, as many tools put there to link to a heading."""
    links = [title.select_one("a") if title is not None else None for title in titles]
    return all(link is not None and 0 < len(link.text.strip()) <= MARK_CHARACTERS for link in links)


def _called(sample: Sample) -> list[Any]:
    """Returns the elements whose text is what the page of results calls the page, headings first."""
    wanted = sample.title.casefold()
    head = re.sub(r"\s*(?:\.\.\.|…)$", "", wanted)
    is_cut = head != wanted and len(head) >= CUT_TITLE_MIN

    def is_title(element: Any, written: str) -> bool:
        if element.tag == "a":
            return False
        is_part = element.tag in _HEADINGS and width(written) >= PART_TITLE_MIN and written in wanted
        return written == wanted or (is_cut and written.startswith(head)) or is_part

    found = [element for element, written in sample.short_texts if is_title(element, written.casefold())]
    return sorted(found, key=lambda element: element.tag not in _HEADINGS)


def _published(near: _Near) -> Rule | None:
    def read(sample: Sample, element: Any, written: str) -> str:
        stated = element.attr("datetime") if element.tag == "time" else None
        return (
            to_utc(stated, _UTC)
            if stated
            else _has_digit(written) and to_utc(written, _UTC, language=sample.page.language)
        ) or ""

    # Two pages of one day have one date; so have all pages that show today's.
    if css := near.rule(read, may_be_equal=lambda css: bool(DATE_NAME.search(css))):
        return {"select": css}
    for css in ("meta[property='article:published_time']", "meta[itemprop='datePublished']", "meta[name='pubdate']"):
        if all(sample.page.tree.select_one(css) is not None for sample in near.samples):
            return {"select": f"css:{css}"}
    return _cut_out(near) or _from_json_ld(near, "jsonld:datePublished") or _in_content(near, read)


def _in_content(near: _Near, read: Callable[[Sample, Any, str], str]) -> Rule | None:
    """Returns the rule of a date within the content, if its name says what it is."""
    css = _Near(near.samples, near.further, near.titles, ((), ())).rule(read, may_be_equal=lambda _css: True)
    return {"select": css} if css and DATE_NAME.search(css) else None


def _from_json_ld(near: _Near, select: str) -> Rule | None:
    """Returns the rule of a value in what the pages declare as JSON-LD, if all of them have it there."""
    search = Selector.parse(select).search
    pages = (one.page for one in [*near.samples, *near.further])
    found = all(search(Declared(page.tree, page.url).of("jsonld")) for page in pages)
    return {"select": select} if found else None


def _cut_out(near: _Near) -> Rule | None:
    """Returns a rule for dates within longer texts, or in what is shown when the mouse is over a relative one."""

    def has_digits(_sample: Sample, element: Any, written: str) -> str:
        title = element.attr("title") or ""
        found = next((one for one in (title, written) if any(re.search(form, one) for form in cut_dates.PATTERNS)), "")
        return found[:DATED_CHARACTERS]

    css = near.rule(has_digits, may_be_equal=lambda _css: True)
    if not css:
        return None
    found = [one.page.tree.select_one(css.removeprefix("css:")) for one in [*near.samples, *near.further]]
    language = near.samples[0].page.language
    titles = [(element.attr("title") or "") if element is not None else "" for element in found]
    if (rule := cut_dates.rule_of(titles, language)) is not None:
        return {"select": f"{css}::attr(title)", **rule}
    rule = cut_dates.rule_of([element.text if element is not None else "" for element in found], language)
    return {"select": css, **rule} if rule is not None else None


def _author(near: _Near) -> Rule | None:
    def is_beside(sample: Sample, element: Any, written: str) -> str:
        """Returns the text if the page of results has it beside the title, and it is a name."""
        is_name = not re.search(r"\d{2}", written) and width(written) <= NAME_WIDTH
        return written if is_name and written in sample.beside and element.tag != "time" else ""

    def is_named(_sample: Sample, element: Any, written: str) -> str:
        """Returns the text if its element, or the address that it leads to, says that it is an author's name."""
        if width(written) > NAME_WIDTH or to_utc(written, _UTC):
            return ""
        about = " ".join([*selectors.classes(element), element.attr("rel") or "", element.attr("itemprop") or ""])
        leads = element.tag == "a" and AUTHOR_PATH.search(element.attr("href") or "")
        return written if AUTHOR_NAME.search(about) or leads or element.tag == "address" else ""

    def is_said(_sample: Sample, _element: Any, written: str) -> str:
        found = author_in(written)
        return found["name"] if found else ""

    for read in (is_beside, is_named, is_said):
        if css := near.rule(read, may_be_equal=lambda css: bool(AUTHOR_NAME.search(css))):
            texts = [
                sample.page.text_of(sample.page.tree.select_one(css.removeprefix("css:"))) for sample in near.samples
            ]
            pattern = author_pattern(texts)
            if read is not is_said or pattern:
                return {"select": css} | ({"pattern": pattern} if pattern else {})
    stated = [sample.page.tree.select_one("meta[name='author']") for sample in near.samples]
    values = [element.attr("content") if element is not None else "" for element in stated]
    if all(values) and values[0] != values[1]:
        return {"select": "css:meta[name='author']"}
    return _from_json_ld(near, "jsonld:[author][].name")


def author_pattern(texts: Sequence[str]) -> str:
    """Returns the pattern of a name that has the same words before and behind it in all texts; empty for none."""
    found = [match for match in map(author_in, texts) if match]
    if len(found) < len(texts) or len({match["label"] for match in found}) > 1:
        return ""
    ends = {match["end"] for match in found}
    end = re.escape(ends.pop()) if len(ends) == 1 else ""
    return f"{re.escape(found[0]['label'])}(.+?){end or '$'}".replace("\\ ", " ")


def _media(samples: Sequence[Sample], tag: str, content: str, title: str) -> str:
    """Returns the selector of those images or videos that only one of the pages has; empty if there are none.

    Args:
        samples: The pages.
        tag: What they are, such as `img`.
        content: The selector of the content; media in it are selected by it, if that are all.
        title: That of the title, with `css:`: what isn't in a block with both belongs to other articles.
    """
    css = f"{tag}[src]"
    shown = [{element.attr("src") for element in sample.page.tree.select(css)} for sample in samples]
    wanted = []
    for at, sample in enumerate(samples):
        known = set().union(*(shown[:at] + shown[at + 1 :]))
        known |= {element.attr("src") for around in _ASIDE for element in sample.page.tree.select(f"{around} {css}")}
        top = _around(sample, content, title.removeprefix("css:"))
        own = [one for one in top.select(css) if one.attr("src") not in known and _is_shown(one)]
        wanted.append((sample.page.tree, own))
    if not any(own for _tree, own in wanted):
        return ""
    within_content = f"{content} {tag}"
    if content and all(list(tree.select(within_content)) == own for tree, own in wanted):
        return f"css:{within_content}"
    found = selectors.all_of(wanted)
    return f"css:{found.css}" if found else ""


def _around(sample: Sample, content: str, title: str) -> Any:
    """Returns the smallest block of a page that holds the title and the content; all of the page if there is none."""
    tree = sample.page.tree
    texts = tree.select(content) if content else []
    heading = tree.select_one(title) if title else None
    if not texts:
        return tree
    for top in (texts[0], *ancestors(texts[0])):
        if all(within(one, top) for one in texts) and (heading is None or within(heading, top)):
            return top
    return tree


def _is_shown(element: Any) -> bool:
    """Returns whether an image is more than a dot that counts visitors."""
    return not {element.attr("width"), element.attr("height")} & {"0", "1", "1px"}


def _has_digit(written: str) -> bool:
    return any(character.isdigit() for character in written)
