"""Finds the content of two pages: the smallest block that holds most of the text which only one of them has.

A thread's content is a block in each of its posts.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from turbohtml import Element, Text

from crawler.discovery import selectors
from crawler.discovery.page import ancestors, width, within
from crawler.discovery.sample import first_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from crawler.discovery.page import ParsedPage
    from crawler.discovery.sample import Sample

OWN_SHARE = 0.6  # of a block's own text: an inner block with so much of it is the content instead
UNLIKE_SHARE = 0.3  # is enough where the block beside it has another form: an article and the comments on it
HELD_SHARE = 0.9  # of the text in the content of a further page, that a selector must find there
POSTS_SHARE = 0.8  # of the text of a block that blocks of one class must hold to be the posts of a thread
POSTS_MIN = 2
PART_WIDTH = 20  # of a text; shorter ones are labels, of which some are on one page alone by chance
REMOVED_MAX = 5  # blocks within the content that are left out
CLASSES_MAX = 100  # elements within the content that are looked at for those
_BOXES = frozenset(
    """article blockquote center dd div dl fieldset figure form li main ol pre section table tbody td tr
    ul""".split()  # noqa: SIM905 -- a list of words reads better
)
_ASIDE = frozenset({"script", "style", "noscript", "template", "nav", "footer", "aside", "select", "textarea"})
_MENUS = ("nav", "aside", "form")
_HEADINGS = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})
_INLINE = frozenset({"p", "tr", "td", "span", "b", "i", "a", "em", "strong", "img", "h1", "h2", "h3"})


@dataclass(frozen=True, slots=True)
class BodyText:
    """The content of two pages.

    Attributes:
        elements: On each page, those that are the content.
        rule: The site file's rule that selects them.
    """

    elements: tuple[tuple[Any, ...], ...]
    rule: dict[str, Any]


def find(samples: Sequence[Sample], further: Sequence[Sample] = ()) -> BodyText | None:
    """Returns the content of two pages; None if no selector finds it on both.

    Args:
        samples: Two pages of different content.
        further: More pages: on each of them the selector must find most of its own text, too.
    """
    one, other = (_Weights(here.page, there.page) for here, there in (samples, reversed(samples)))
    blocks = one.blocks, other.blocks
    if not all(blocks):
        return None
    more = [_Weights(sample.page, samples[0].page) for sample in further]
    for here in reversed(blocks[0]):
        for there in reversed(blocks[1]):
            css = first_of(samples, (here, there)) if here.tag == there.tag else ""
            if not css or not all(weights.holds_content(css) for weights in more):
                continue
            for name in one.post_names(here) or other.post_names(there):
                posts = [one.posts(here, name), other.posts(there, name)]
                if all(posts) and (css_of_posts := _all_of(samples, posts)):
                    return BodyText(tuple(map(tuple, posts)), {"select": css_of_posts, "all": True})
            removed = _boilerplate(samples, (here, there))
            return BodyText(((here,), (there,)), {"select": css} | ({"remove": removed} if removed else {}))
    return None


class _Weights:
    """How much text each element of a page holds that another page hasn't.

    Args:
        page: The page.
        other: Another content page of the site.
    """

    def __init__(self, page: ParsedPage, other: ParsedPage) -> None:
        self._page = page
        theirs = {written.casefold() for _element, written in _texts(other)}
        self._own: Counter[Any] = Counter()
        for element, written in _texts(page):
            if width(written) >= PART_WIDTH and written.casefold() not in theirs:
                self._own[element] += width(written)
        self._held: Counter[Any] = Counter()
        for element, amount in self._own.items():
            for around in (element, *ancestors(element)):
                self._held[around] += amount
        body = page.tree.select_one("body")
        self.blocks = self._inwards(body)[1:] or [body] if body is not None and self._held[body] else []

    def holds_content(self, css: str) -> bool:
        """Returns whether the first match of a selector holds nearly all that the page's content holds."""
        found = self._page.tree.select_one(css.removeprefix("css:"))
        whole = self._held[self.blocks[-1]] if self.blocks else 0
        return found is not None and self._held[found] >= HELD_SHARE * whole

    def _inwards(self, top: Any) -> list[Any]:
        """Returns blocks within each other, from a block to the smallest that holds most of its text."""
        blocks = [top]
        while inner := self._main_part(blocks[-1]):
            blocks.append(inner)
        return blocks

    def post_names(self, top: Any) -> list[str]:
        """Returns the classes of the posts of a thread, those that hold the least besides their texts first.

        Blocks side by side with headings between them are the parts of one text instead.
        """
        boxes = [one for one in top.select("[class]")[:CLASSES_MAX] if one.tag in _BOXES and self._held[one]]
        names = Counter(name for one in boxes for name in selectors.classes(one))
        sizes = {}
        for name, count in names.items():
            found = self.posts(top, name) if count >= POSTS_MIN else []
            are_parts = len({one.parent for one in found}) == 1 and any(map(_follows_heading, found))
            if len(found) >= POSTS_MIN and not are_parts:
                sizes[name] = sum(len(one.text) for one in found)
        places = {name: place for place, name in enumerate(sizes)}
        return sorted(sizes, key=lambda name: (sizes[name], -places[name]))  # of two as large, the inner one first

    def posts(self, top: Any, name: str) -> list[Any]:
        """Returns the blocks of a class that together hold nearly all of a block's own text; empty if they don't."""
        found = [one for one in top.select(f".{name}") if one.tag in _BOXES and self._held[one]]
        outer = [one for one in found if not any(around in found for around in ancestors(one))]
        return outer if sum(self._held[one] for one in outer) >= POSTS_SHARE * self._held[top] else []

    def _main_part(self, top: Any) -> Any:
        """Returns the inner block that is the content rather than the block itself; None if there is none."""
        inner = sorted((one for one in top if _is_box(one)), key=lambda one: -self._held[one])
        if not inner or not self._held[inner[0]]:
            return None
        largest, rest = inner[0], [one for one in inner[1:] if self._held[one]]
        if self._held[largest] >= OWN_SHARE * self._held[top]:
            return largest
        is_apart = not any(_alike(largest, one) for one in rest) and not self._has_paragraphs(top)
        return largest if is_apart and self._held[largest] >= UNLIKE_SHARE * self._held[top] else None

    def _has_paragraphs(self, top: Any) -> bool:
        """Returns whether a block has text of its own beside inner blocks: then it is what holds the text."""
        return bool(self._own[top]) or any(
            isinstance(one, Element) and one.tag == "p" and self._own[one] for one in top
        )


def _all_of(samples: Sequence[Sample], elements: Sequence[Sequence[Any]]) -> str:
    """Returns a selector, with `css:`, of just these elements of the pages; empty if there is none."""
    wanted = [(sample.page.tree, found) for sample, found in zip(samples, elements, strict=True)]
    found = selectors.all_of(wanted)
    return f"css:{found.css}" if found and not found.misses else ""


def _follows_heading(element: Any) -> bool:
    before = next((one for one in element.previous_siblings if isinstance(one, Element)), None)
    return before is not None and before.tag in _HEADINGS


def _is_box(node: Any) -> bool:
    return isinstance(node, Element) and node.tag in _BOXES


def _alike(one: Any, other: Any) -> bool:
    names, others = set(selectors.classes(one)), set(selectors.classes(other))
    return one.tag == other.tag and (bool(names & others) or not (names or others))


def _texts(page: ParsedPage) -> Iterator[tuple[Any, str]]:
    """Yields the texts of a page with the elements that hold them, but for menus and what isn't shown."""
    aside: set[Any] = set()
    for element in page.order:
        if element.tag in _ASIDE or element.parent in aside:
            aside.add(element)
            continue
        written = " ".join(" ".join(str(node.data) for node in element if isinstance(node, Text)).split())
        if written:
            yield element, written


def _boilerplate(samples: Sequence[Sample], tops: Sequence[Any]) -> list[str]:
    """Returns selectors of named blocks within the content that say the same on both pages."""
    found: dict[str, Any] = {}
    names = (name for one in tops[0].select("[class]")[:CLASSES_MAX] for name in selectors.classes(one))
    for name in dict.fromkeys(names):
        here, there = (top.select(f".{name}") for top in tops)
        if (
            not len(here) == len(there) == 1
            or here[0].tag in _INLINE
            or any(within(here[0], one) for one in found.values())
        ):
            continue
        written = [sample.page.text_of(one) for sample, one in zip(samples, (here[0], there[0]), strict=True)]
        if written[0] and written[0] == written[1]:
            found[f"css:.{name}"] = here[0]
    menus = [f"css:{tag}" for tag in _MENUS if all(top.select_one(tag) is not None for top in tops)]
    return [*menus, *found][:REMOVED_MAX]
