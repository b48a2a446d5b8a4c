"""Finds the fields of content pages by comparing two of them: what is equal on both belongs to the site, not to a page.

The title is what the page of results calls the page. Date and author stand near it and have a form or a name of their
own. Where the content is, `body_text.py` tells.
"""

from __future__ import annotations

import re
from itertools import islice, takewhile
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit
from zoneinfo import ZoneInfo

from turbohtml import Element

from crawler.base.errors import HeadroomError
from crawler.discovery import body_text, comment_rows, cut_dates, next_links, selectors
from crawler.discovery.page import ancestors, width, within
from crawler.discovery.rules import (
    AUTHOR_NAME,
    AUTHOR_PATH,
    DATE_NAME,
    DATED_CHARACTERS,
    NAME_WIDTH,
    NAME_WIDTH_MIN,
    RuleKeys,
    as_pattern,
    author_in,
    author_pattern,
    is_in_one_piece,
    says_author,
)
from crawler.discovery.sample import SHORT_CHARACTERS, first_of
from crawler.extract import content as reading
from crawler.extract.dates import to_utc
from crawler.extract.declared import Declared
from crawler.sites import Site
from crawler.sites.selector import Selector

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from crawler.discovery.sample import Sample

CANDIDATES_MAX = 10  # elements on a page for one field; the nearest to the title are looked at
CUT_TITLE_MIN = 20  # characters; a shorter title isn't cut to fit into a list
PART_TITLE_MIN = 12  # width of a heading that is a part of what the page of results says, such as `Post: ...`
MARK_CHARACTERS = 2
AROUND_AUTHOR = 2  # elements around a name that may say that it is the author's
BEFORE_TITLE = 2  # times as far as behind it, as distances are weighed: most sites have date and author below the title
_ASIDE = ("nav", "header", "footer", "aside")
_HEADINGS = ("h1", "h2", "h3", "h4")
_NUMBER = re.compile(r"[\s#()\[\]]")  # what may stand around a number
_TITLE_BREAK = re.compile(r"(\s+[-|:\u00b7\u2013\u2014\u00bb\u2022]+\s+|[_|])")  # between a title and the site's name
_UTC = ZoneInfo("UTC")


def compare(samples: Sequence[Sample], further: Sequence[Sample] = ()) -> dict[str, RuleKeys]:
    """Returns the rules of `content`, by field, that pages show; those that can't be told are left out.

    Args:
        samples: Two pages of different content, which are compared.
        further: More pages, which show what not every page has, such as images.
    """
    rules: dict[str, RuleKeys] = {}
    every = [*samples, *further]
    titles, title = _title(samples, further)
    text = body_text.find(samples, further, continues=bool(next_links.to_second_pages([one.page for one in every])))
    contents = text.elements[: len(samples)] if text else ((), ())
    said = text.comments[: len(samples)] if text else ()
    near = _Near(samples, further, titles, contents, said)
    # The head of a content may hold them, too, where no block stands around the text alone.
    head = _Near(samples, further, titles, [_after_head(found) for found in contents], said)
    heading = title.get("select", "")
    if title:
        rules["title"] = title
    by = text.by if text else {}
    if author := by.get("author") or _author(near) or _author(head):
        rules["author"] = author
    if published := by.get("published") or _published(near) or _published(head) or _in_content(near):
        rules["published"] = published
    if text:
        is_inside = all(one is not None and within(one, top[0]) for one, top in zip(titles, contents, strict=True))
        found = [rules[name]["select"] for name in ("author", "published") if name in rules]
        removed = [*([heading] if is_inside else []), *text.rule.get("remove", ()), *_bylines(samples, contents, found)]
        whole = {key: value for key, value in text.rule.items() if key != "remove"}
        parted = whole | {"remove": list(dict.fromkeys(removed))}
        rules["content"] = parted if removed and _is_read(parted, whole, every) else whole
    inside = text.rule["select"].removeprefix("css:") if text else ""
    for name, tags in (("images", ("img",)), ("videos", ("video source", "video"))):
        if css := next(filter(None, (_media(every, tag, inside, heading) for tag in tags)), ""):
            rules[name] = {"select": css}
    return rules


def _after_head(contents: Sequence[Any]) -> list[Any]:
    """Returns the parts of a content from its first long text on."""
    for top in contents[:1]:
        parts = [one for one in top if isinstance(one, Element)]
        first = next((at for at, one in enumerate(parts) if len(one.text.strip()) > SHORT_CHARACTERS), 0)
        return [*parts[first:], *contents[1:]]
    return []


def _bylines(samples: Sequence[Sample], contents: Sequence[Sequence[Any]], found: Sequence[str]) -> list[str]:
    """Returns selectors of the short blocks within the contents that hold author and date, which are fields themselves.

    Args:
        samples: The pages.
        contents: On each page, the content.
        found: The selectors of those fields.
    """
    removed = []
    for select in found:
        css = select.removeprefix("css:").partition("::")[0]
        elements = [one.page.tree.select_one(css) if select.startswith("css:") else None for one in samples]
        blocks = [
            _byline(element, top[0]) if element is not None and top else None
            for element, top in zip(elements, contents, strict=True)
        ]
        within_all = [block for block in blocks if block is not None]
        if len(within_all) == len(samples) and (block_css := first_of(samples, within_all)):
            removed.append(block_css)
    return removed


def _byline(element: Any, top: Any) -> Any:
    """Returns the largest block with a short text around an element of the content; None if it stands elsewhere."""
    if element == top or not within(element, top):
        return None
    lineage = [element, *takewhile(lambda one: one != top, ancestors(element))]
    short = [*takewhile(lambda one: len(" ".join(one.text.split())) <= SHORT_CHARACTERS, lineage)]
    # A paragraph without a name may be one of the text.
    return short[-1] if short and (short[-1].tag != "p" or selectors.classes(short[-1])) else None


def _is_read(rule: RuleKeys, whole: RuleKeys, samples: Sequence[Sample]) -> bool:
    """Returns whether a rule of the content reads something on all pages on which that without `remove` does."""
    sites = [
        Site.from_definition({"name": "new", "content": {"title": "css:title", "content": one}})
        for one in (rule, whole)
    ]
    try:
        pages = [[reading.fields(one.page.fetched, site, continues=True) for site in sites] for one in samples]
    except HeadroomError:
        return False
    return all(bool(parted.content) == bool(all_of_it.content) for parted, all_of_it in pages)


class _Near:
    """Elements of two pages that hold a field, in pairs, those nearest to the titles first."""

    def __init__(
        self,
        samples: Sequence[Sample],
        further: Sequence[Sample],
        titles: Sequence[Any],
        contents: Sequence[Sequence[Any]],
        comments: Sequence[Sequence[Any]] = (),
    ) -> None:
        self.samples, self.further = samples, further
        self.titles, self.comments = titles, comments
        of_others = comments or [()] * len(samples)
        named = [
            _named_comments(sample, title, text) for sample, title, text in zip(samples, titles, contents, strict=True)
        ]
        self._left_out = [
            frozenset(one for top in tops for one in (top, *top.select("*")))
            for tops in ((*text, *said, *more) for text, said, more in zip(contents, of_others, named, strict=True))
        ]

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
            if element in self._left_out[at]:
                continue
            if value := read(sample, element, written):
                distance = order[element] - middle
                if found and within(element, found[-1][1]):
                    found.pop()  # what holds the value alone goes before what holds more
                found.append((distance if distance >= 0 else -BEFORE_TITLE * distance, element, value))
        found.sort(key=lambda one: one[0])
        return [(element, value) for _distance, element, value in found[:CANDIDATES_MAX]]


def _named_comments(sample: Sample, title: Any, content: Sequence[Any]) -> list[Any]:
    """Returns the blocks behind a content whose names say that they are comments: what they say isn't the page's own.

    Args:
        sample: The page.
        title: Its title; None: it isn't known.
        content: Its content; nothing is told without it.
    """
    if not content:
        return []
    order, own = sample.page.order, {*content, title}
    around = {outer for one in own if one is not None for outer in (one, *ancestors(one))}
    last = max(order[one] for one in content)
    blocks = (one for one in sample.page.tree.select("[id], [class]") if order[one] > last and one not in around)
    return [one for one in blocks if comment_rows.says_comment(one)]


def _title(samples: Sequence[Sample], further: Sequence[Sample]) -> tuple[list[Any], RuleKeys]:
    """Returns the element of the title on each page (None: it isn't known), and the rule of the title."""
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
            return list(pair), _heading(samples, pair, css)
    if declared := _declared_title(samples, "meta[property='og:title']"):
        return [None, None], {"select": declared}
    for pair in [pair for pair in called if pair not in pairs][:CANDIDATES_MAX]:  # such as a cell of a table
        if css := first_of(samples, pair):
            return list(pair), {"select": css}
    declared = _declared_title(samples, "title")
    written = [
        sample.page.text_of(one) for sample in [*samples, *further] for one in sample.page.tree.select("title")[:1]
    ]
    return [None, None], {"select": declared, **_without_site(written)} if declared else {}


def _heading(samples: Sequence[Sample], titles: Sequence[Any], css: str) -> RuleKeys:
    """Returns the rule of a title in a heading, without a link to it and the number of the page that stand in it."""
    removed = [f"{css} a"] if _has_mark(titles) else []
    numbers = [_number_of(title, sample.page.url) for title, sample in zip(titles, samples, strict=True)]
    if all(one is not None for one in numbers) and (number := first_of(samples, numbers)):
        removed.append(number)
    return {"select": css} | ({"remove": removed} if removed else {})


def _number_of(title: Any, url: str) -> Any:
    """Returns the element of a title that only says the number in the page's own address; None if there is none."""
    own = re.findall(r"\d+", urlsplit(url).path + urlsplit(url).query)
    return next((one for one in title.select("*") if _NUMBER.sub("", one.text) in own), None)


def _without_site(titles: Sequence[str]) -> RuleKeys:
    """Returns the `pattern` that leaves out the site's name, which stands before or behind each title; or nothing."""
    parts = [_TITLE_BREAK.split(title) for title in titles]
    max_count = min(map(len, parts)) // 2 if len(set(titles)) == len(titles) else 0
    for count in range(max_count, 0, -1):  # parts that are the site's, each with what divides it from the next one
        for form, own in (("^(.+){}$", slice(-2 * count, None)), ("^{}(.+)$", slice(2 * count))):
            names = {"".join(one[own]) for one in parts}
            if len(names) == 1:
                return {"pattern": form.format(as_pattern(names.pop()))}
    return {}


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


def _published(near: _Near) -> RuleKeys | None:
    # Two pages of one day have one date; so have all pages that show today's.
    if css := near.rule(_date_in, may_be_equal=lambda css: bool(DATE_NAME.search(css))):
        return _in_attribute(near, css) or {"select": css}
    for css in ("meta[property='article:published_time']", "meta[itemprop='datePublished']", "meta[name='pubdate']"):
        if all(sample.page.tree.select_one(css) is not None for sample in near.samples):
            return {"select": f"css:{css}"}
    return _cut_out(near) or _from_json_ld(near, "jsonld:datePublished")


def _date_in(sample: Sample, element: Any, written: str) -> str:
    """Returns the date that an element says; empty for none."""
    stated = element.attr("datetime")
    return to_utc(stated, _UTC) or "" if stated else _stated(sample, written)


def _in_attribute(near: _Near, css: str) -> RuleKeys | None:
    """Returns the rule of a date that is shown with the mouse, if it has the time of day that the one in a text lacks.

    It stands at the element with that text, or near it on all pages, where it is of the same day.

    Args:
        near: The pages.
        css: The selector of the text.
    """
    texts = _values(near, css, "")
    if any(":" in text for text in texts) or any(_values(near, css, "datetime")):
        return None
    language = near.samples[0].page.language
    beside = near.rule(lambda sample, one, _: _stated(sample, one.attr("title") or ""), may_be_equal=lambda _css: True)
    for select in filter(None, (css, beside)):
        titles = _values(near, select, "title")
        rule = (
            cut_dates.rule_of(titles, language) if len(titles) == len(texts) and all(map(_has_digit, titles)) else None
        )
        days = [
            {(to_utc(said, _UTC, language=language) or "")[:10] for said in both}
            for both in zip(titles, texts, strict=False)
        ]
        if rule is not None and (select == css or all(len(day) == 1 for day in days)):
            return {"select": f"{select}::attr(title)", **rule}
    return None


def _values(near: _Near, css: str, attribute: str) -> list[str]:
    """Returns the texts of the first matches of a selector on all pages that have one, or those of an attribute."""
    found = [one.page.tree.select_one(css.removeprefix("css:")) for one in [*near.samples, *near.further]]
    elements = [element for element in found if element is not None]
    return [((one.attr(attribute) or "") if attribute else one.text)[:DATED_CHARACTERS] for one in elements]


def _stated(sample: Sample, written: str) -> str:
    return (_has_digit(written) and to_utc(written, _UTC, language=sample.page.language)) or ""


def _in_content(near: _Near) -> RuleKeys | None:
    """Returns the rule of a date within the content, if its name says what it is."""
    css = _Near(near.samples, near.further, near.titles, ((), ()), near.comments).rule(
        _date_in, may_be_equal=lambda _css: True
    )
    return {"select": css} if css and DATE_NAME.search(css) else None


def _from_json_ld(near: _Near, select: str) -> RuleKeys | None:
    """Returns the rule of a value in what the pages declare as JSON-LD, if all of them have it there."""
    search = Selector.parse(select).search
    pages = (one.page for one in [*near.samples, *near.further])
    found = all(search(Declared(page.tree, page.url).of("jsonld")) for page in pages)
    return {"select": select} if found else None


def _cut_out(near: _Near) -> RuleKeys | None:
    """Returns a rule for dates within longer texts, or in what is shown when the mouse is over a relative one."""

    def has_digits(_sample: Sample, element: Any, written: str) -> str:
        title = element.attr("title") or ""
        found = next(filter(cut_dates.has_date, (title, written)), "")
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


def _author(near: _Near) -> RuleKeys | None:
    def is_beside(sample: Sample, element: Any, written: str) -> str:
        """Returns the text if the page of results has it beside the title, and it is a name."""
        is_name = not re.search(r"\d{2}", written) and _may_be_name(written)
        return written if is_name and written in sample.beside and element.tag != "time" else ""

    def is_named(_sample: Sample, element: Any, written: str) -> str:
        """Returns the text if its element, or the address that it leads to, says that it is an author's name."""
        if not _may_be_name(written) or to_utc(written, _UTC):
            return ""
        about = " ".join([*selectors.classes(element), element.attr("rel") or "", element.attr("itemprop") or ""])
        leads = element.tag == "a" and AUTHOR_PATH.search(element.attr("href") or "")
        return written if AUTHOR_NAME.search(about) or leads or element.tag == "address" else ""

    def is_marked(sample: Sample, element: Any, written: str) -> str:
        """Returns the text if its element, or one close around it, says that it is the author's name."""
        around = [element, *islice(ancestors(element), AROUND_AUTHOR)]
        return is_named(sample, element, written) if any(map(says_author, around)) else ""

    for read in (is_marked, is_beside, is_named):
        if rule := _author_rule(near, read):
            return rule
    stated = [sample.page.tree.select_one("meta[name='author']") for sample in near.samples]
    values = [element.attr("content") if element is not None else "" for element in stated]
    if all(values) and values[0] != values[1]:
        return {"select": "css:meta[name='author']"}
    return _author_rule(near, _name_in) or _from_json_ld(near, "jsonld:[author][].name")


def _author_rule(near: _Near, read: Callable[[Sample, Any, str], str]) -> RuleKeys | None:
    """Returns the rule of an author who can be read so, and without the words around the name."""
    css = near.rule(read, may_be_equal=lambda css: bool(AUTHOR_NAME.search(css)))
    if not css:
        return None
    elements = [sample.page.tree.select_one(css.removeprefix("css:")) for sample in near.samples]
    texts = [sample.page.text_of(one) for sample, one in zip(near.samples, elements, strict=True)]
    if pattern := author_pattern(texts, elements):
        return {"select": css, "pattern": pattern}
    return None if any(map(author_in, texts)) else {"select": css}  # else more than names would be read


def _name_in(_sample: Sample, element: Any, written: str) -> str:
    """Returns a name within a longer text, which says that it is one."""
    found = author_in(written)
    return found["name"] if found and is_in_one_piece(found["name"], element) else ""


def _may_be_name(written: str) -> bool:
    return NAME_WIDTH_MIN <= width(written) <= NAME_WIDTH and any(map(str.isalpha, written))


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
