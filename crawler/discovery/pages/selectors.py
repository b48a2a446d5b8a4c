"""Makes a short CSS selector of elements that were found, out of names that all of them have and nothing else has.

A name that a site's author gave (a class, an id, `rel`, `itemprop`) outlasts changes of a page better than a place in
it, so no selector counts children, except for the cell of a table that has no name.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import chain, islice, product
from typing import TYPE_CHECKING, Any

from turbohtml import Element

from crawler.discovery.pages.page import ancestors

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from turbohtml import Document

MAX_STEPS = 24  # how many names of an element, and of what is around it, are combined
MAX_TRIED = 500  # how many selectors are tried; each is run on some pages, for 50 us or more
MAX_NAME_CHARACTERS = 60  # nobody types a longer name
MAX_BEFORE = 100  # how many elements and texts of a row are counted to find the place of a cell
_NAME = re.compile(r"-?[A-Za-z_][A-Za-z0-9_-]*")
# Names that a build makes anew each time, such as `css-1x2y3z`, `sc-bdVaJa`, `_3kf9d`.
_MADE_UP = re.compile(
    r"(?:css|sc|jss|jsx|emotion|svelte|astro)-|_*[A-Za-z]*\d+[A-Za-z]+\w{2,}|.*[_-]{2}[A-Za-z0-9]{5}$"
)
_NAMING = ("rel", "itemprop", "property")  # attributes that say what an element is
_DATED = re.compile(r"\d[-/.]\d|\d{4}")  # a `title` with a date, which the mouse shows
_PLAIN = frozenset({"html", "body", "div", "span", "a"})  # tags that say nothing of what they hold
_VAGUE = frozenset({"b", "dd", "dt", "i", "li", "p", "small", "td", "th", "tr"})  # tags that say little of it


@dataclass(frozen=True, slots=True)
class CssChoice:
    """A selector.

    Attributes:
        css: Without `css:` in front.
        misses: How many elements it selects too few or too many; 0: it is exact.
    """

    css: str
    misses: int = 0


def classes(element: Any) -> tuple[str, ...]:
    """Returns those classes of an element that a selector can rely on."""
    value = element.attr("class") or ""
    names = value if isinstance(value, list | tuple) else value.split()
    return tuple(name for name in names[:MAX_STEPS] if _is_stable(name))


def all_of(
    wanted: Sequence[tuple[Document, Sequence[Any]]],
    absent: Sequence[Document] = (),
    indifferent: Collection[Any] = frozenset(),
) -> CssChoice | None:
    """Returns the shortest selector that finds just the wanted elements.

    Args:
        wanted: Pages, each with its elements, at least one.
        absent: Pages on which it should find nothing.
        indifferent: Elements that it may find or not.

    Returns:
        The best of all that were tried if none is exact; None if none finds more right than wrong.
    """
    sets = [(tree, frozenset(elements)) for tree, elements in wanted]
    best: CssChoice | None = None
    for css in _candidates([element for _tree, elements in wanted for element in elements]):
        selections = [(elements, frozenset(tree.select(css)).difference(indifferent)) for tree, elements in sets]
        misses = sum(len(elements ^ matches) for elements, matches in selections)
        misses += sum(len(tree.select(css)) for tree in absent)
        if best is None or misses < best.misses:
            best = CssChoice(css, misses)
            if not misses:
                break
    right = sum(len(elements) for _tree, elements in sets)
    return best if best and best.misses < right / 2 else None


def first_of(tree: Document, wanted: Any) -> CssChoice | None:
    """Returns the shortest selector whose first match on a page is the wanted element; None if there is none.

    One that has no other match goes before one that has.
    """
    matches = ((css, tree.select(css)) for css in _candidates([wanted]))
    choices = (CssChoice(css, len(elements) - 1) for css, elements in matches if elements and elements[0] == wanted)
    return min(choices, key=lambda choice: choice.misses, default=None)


def _candidates(elements: Sequence[Any]) -> Iterator[str]:
    """Yields selectors that all elements fulfil, the best first."""
    own = _common([*map(steps, elements)])
    around = _common([[step for outer in ancestors(element) for step in steps(outer)] for element in elements])
    around = [step for step in around if step not in _PLAIN]
    own = own[:MAX_STEPS]
    near = around[:MAX_STEPS]
    pairs = (f"{outer} {inner}" for inner, outer in product(own, near))
    cells = (f"{outer} {cell} {inner}" for cell in _cells(elements) for outer in ["", *near] for inner in own)
    unnamed = (f"{outer} {inner}" for inner in _common([*map(_unnamed, elements)]) for outer in near)
    triples = (f"{outer} {middle} {inner}" for middle, outer, inner in product(near, near, own[:3]) if outer != middle)
    plain = [step for step in own if step in _PLAIN or step.endswith("[title]")]
    vague = [step for step in own if step in _VAGUE]
    named = [step for step in own if step not in (*plain, *vague)]
    return islice(chain(named, pairs, vague, (cell.strip() for cell in cells), unnamed, triples, plain), MAX_TRIED)


def _common(lists: Sequence[Sequence[str]]) -> list[str]:
    """Returns what is in all lists, in the order of the first, each once."""
    rest = [frozenset(names) for names in lists[1:]]
    return [step for step in dict.fromkeys(lists[0]) if all(step in names for names in rest)]


def tag_of(element: Any) -> str:
    """Returns the tag of an element as a selector says it; empty for one that none can say, such as Word's `o:p`."""
    return element.tag if _NAME.fullmatch(element.tag) else ""


def steps(element: Any) -> list[str]:
    """Returns the simple selectors that an element fulfils, the best first."""
    identity = element.attr("id") or ""
    names, tag = classes(element), tag_of(element)
    named = [*(f"{tag}.{name}" for name in names if tag), *(f".{name}" for name in names)]
    named += [
        f"{tag}[{name}={value}]"
        for name in _NAMING
        if (value := element.attr(name)) and isinstance(value, str) and _is_stable(value)
    ]
    if element.tag == "meta":
        return [
            f"meta[{name}='{value}']"
            for name in ("property", "name", "itemprop")
            if (value := element.attr(name)) and re.fullmatch(r"[\w:.-]{1,60}", value)
        ]
    if tag and _DATED.search(element.attr("title") or ""):  # what tells it from a link beside it
        named.append(f"{tag}[title]")
    named += [f"#{identity}"] if _is_stable(identity) and not re.search(r"\d", identity) else []
    return [*named, tag] if tag else named


def _unnamed(element: Any) -> list[str]:
    """Returns `a:not([class])` for an element without a class, which tells it from one beside it that has one."""
    tag = tag_of(element)
    return [f"{tag}:not([class])"] if tag and element.attr("class") is None else []


def _cells(elements: Sequence[Any]) -> list[str]:
    """Returns `td:nth-child(n)` if all elements lie in cells of that column."""
    columns = set()
    for element in elements:
        cell = next((outer for outer in ancestors(element) if outer.tag in ("td", "th")), None)
        if cell is None or cell.parent is None:
            return []
        columns.add(cell_of(cell))
    return list(columns) if len(columns) == 1 and "" not in columns else []


def cell_of(cell: Any) -> str:
    """Returns `td:nth-child(n)`, which finds a cell of a table by its column; empty behind `MAX_BEFORE` others."""
    before = [*islice(cell.previous_siblings, MAX_BEFORE + 1)]
    if len(before) > MAX_BEFORE:
        return ""
    return f"{cell.tag}:nth-child({sum(isinstance(sibling, Element) for sibling in before) + 1})"


def _is_stable(name: str) -> bool:
    return len(name) <= MAX_NAME_CHARACTERS and bool(_NAME.fullmatch(name)) and not _MADE_UP.match(name)
