"""CSS selectors of tags, classes and ids, found through an index of the page instead of a walk over it for each one.

A site has some ten selectors, most of them as simple as `.post a.author::text`. Their XPaths visit each element of the
page; here all classes of the page are listed once, and each selector looks its own up. What is found is what the XPath
finds, in the same order. Selectors with more in them (`:has`, `[href^=...]`, lists) have no `IndexedCss`, only XPath.

This saves 100 to 200 us of a page, 10 to 20 % of its CPU: the selectors of the two sites of
`.venv/bin/python -m benchmarks.extraction` take 103 and 91 us with the index, 205 and 292 us without.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any

from cssselect.parser import Class, CombinedSelector, Element, FunctionalPseudoElement, Hash, parse

if TYPE_CHECKING:
    from collections.abc import Iterable

MAX_INDEXED_TAGS = 20_000  # an index holds some 100 bytes for each; larger pages are rare and are left to XPath
MAX_CACHED_CHARACTERS = 200  # of a `class` attribute; longer ones are split each time, so that no page fills the memory
_NAME = re.compile(r"[a-zA-Z_][a-zA-Z0-9_.-]*")
_BLANKS = re.compile(r"[ \t\r\n]+")  # those of XPath; Python knows more


class PageIndex:
    """The elements of a page by class and by id, each list in document order. Both are made on first use.

    Args:
        root: The `<html>` element.
        tags: At least the number of the page's tags.

    Attributes:
        root: As given.
        is_usable: Whether selectors may use the index; a page with too many tags has none.
    """

    def __init__(self, root: Any, tags: int) -> None:
        self.root = root
        self.is_usable = tags <= MAX_INDEXED_TAGS

    @cached_property
    def classes(self) -> dict[str, list[Any]]:
        """The elements that have a class, by the name of the class."""
        found: dict[str, list[Any]] = {}
        for element in self._elements:
            value = element.get("class")
            if value:
                for name in (_cached_names if len(value) <= MAX_CACHED_CHARACTERS else _names)(value):
                    if name in found:
                        found[name].append(element)
                    else:
                        found[name] = [element]
        return found

    @cached_property
    def ids(self) -> dict[str, list[Any]]:
        """The elements that have an id; several may have the same one, whatever the standard says."""
        found: dict[str, list[Any]] = {}
        for element in self._elements:
            value = element.get("id")
            if value is not None:
                found.setdefault(value, []).append(element)
        return found

    @cached_property
    def _elements(self) -> list[Any]:
        return list(self.root.iter("*"))


@dataclass(frozen=True, slots=True)
class Step:
    """One part of a selector between combinators, such as `a.author#x`.

    Attributes:
        tag: Empty for any.
        classes: That an element must have, all of them.
        ids: Likewise.
        is_child: The element is a child of the step before, not any descendant.
    """

    tag: str
    classes: tuple[str, ...]
    ids: tuple[str, ...]
    is_child: bool

    def indexed(self, index: PageIndex) -> list[Any] | None:
        """Returns the elements of the page that fit; None for a step without class or id, which no index finds."""
        lists = [index.ids.get(name, []) for name in self.ids] + [index.classes.get(name, []) for name in self.classes]
        if not lists:
            return None
        rarest = min(lists, key=len)
        found = [element for element in rarest if element.tag == self.tag] if self.tag else rarest
        for other in lists:
            if other is not rarest:
                members = frozenset(other)
                found = [element for element in found if element in members]
        return found


@dataclass(frozen=True, slots=True)
class IndexedCss:
    """A compiled selector.

    Attributes:
        steps: From left to right.
        takes_text: It ends in `::text`.
        attribute: The name in `::attr(name)` at its end; empty for none.
    """

    steps: tuple[Step, ...]
    takes_text: bool
    attribute: str

    @classmethod
    def from_css(cls, css: str) -> IndexedCss | None:
        """Compiles a valid selector; None if it has more in it than tags, classes and ids."""
        selectors = parse(css)
        if len(selectors) != 1:
            return None
        pseudo = selectors[0].pseudo_element
        attribute = ""
        if isinstance(pseudo, FunctionalPseudoElement):
            if pseudo.name != "attr" or len(pseudo.arguments) != 1:
                return None
            attribute = str(pseudo.arguments[0].value)
            if not _NAME.fullmatch(attribute):
                return None
        elif pseudo not in (None, "text"):
            return None
        steps = _steps(selectors[0].parsed_tree)
        return cls(steps, pseudo == "text", attribute) if steps else None

    def search(self, index: PageIndex) -> list[Any] | None:
        """Returns the elements or strings that the selector finds; None if only XPath can tell the order of strings."""
        found = self._elements(index)
        if self.attribute:
            return [value for element in found if (value := element.get(self.attribute)) is not None]
        if self.takes_text:
            if any(map(len, found)):  # the texts of an element with children stand between those of the children
                return None
            return [text for element in found if (text := element.text)]
        return found

    def _elements(self, index: PageIndex) -> list[Any]:
        step = self.steps[0]
        indexed = step.indexed(index)
        found = list(index.root.iter(step.tag or "*")) if indexed is None else indexed
        for step in self.steps[1:]:
            if not found:
                return found
            indexed, before = step.indexed(index), frozenset(found)
            if indexed is None and not step.is_child:
                found = [
                    one for element in _outermost(found, before) for one in element.iterdescendants(step.tag or "*")
                ]
                continue
            candidates = index.root.iter(step.tag or "*") if indexed is None else indexed
            if step.is_child:
                found = [element for element in candidates if element.getparent() in before]
            else:
                found = [element for element in candidates if not before.isdisjoint(element.iterancestors())]
        return list(found) if found is indexed else found  # the list of the index stays its own


def _outermost(elements: list[Any], members: frozenset[Any]) -> Iterable[Any]:
    """Returns those of the elements that aren't inside another one."""
    if len(elements) == 1:
        return elements
    return [element for element in elements if members.isdisjoint(element.iterancestors())]


def _steps(tree: Any) -> tuple[Step, ...]:
    """Returns the steps of a parsed selector; none if it has more in it than tags, classes and ids."""
    if isinstance(tree, CombinedSelector):
        before, last = _steps(tree.selector), _steps(tree.subselector)
        if tree.combinator not in (" ", ">") or not before or len(last) != 1:
            return ()
        step = last[0]
        return (*before, Step(step.tag, step.classes, step.ids, tree.combinator == ">"))
    classes: list[str] = []
    ids: list[str] = []
    while isinstance(tree, Class | Hash):
        (classes if isinstance(tree, Class) else ids).append(tree.class_name if isinstance(tree, Class) else tree.id)
        tree = tree.selector
    if not isinstance(tree, Element) or tree.namespace or any(_BLANKS.search(name) or not name for name in classes):
        return ()
    tag = tree.element or ""
    if tag and not _NAME.fullmatch(tag):
        return ()
    return (Step(tag.lower(), tuple(classes), tuple(ids), is_child=False),)


def _names(value: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for name in _BLANKS.split(value) if name))


_cached_names = lru_cache(1_000)(_names)  # the pages of a site have the same few attributes
