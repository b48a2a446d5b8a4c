"""CSS selectors of names, classes and ids, found through an index of the page instead of a walk over it for each.

A site has ten selectors, and most are as plain as `.post a.author::text`. XPath would visit every element for each of
them; here a page's classes are listed once and all its selectors look them up. What is found is what the selector's
XPath finds, in the same order; selectors with more in them (`:has`, `[href^=...]`, lists) have only their XPath.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any

from cssselect.parser import Class, CombinedSelector, Element, FunctionalPseudoElement, Hash, parse

if TYPE_CHECKING:
    from collections.abc import Iterable

MAX_INDEXED_TAGS = 20_000  # some 100 bytes for each element that is held; larger pages are rare, and left to XPath
MAX_CLASS_CHARACTERS = 200  # of an attribute that is remembered; no page may fill the memory
_NAME = re.compile(r"[a-zA-Z_][a-zA-Z0-9_.-]*")
_BLANKS = re.compile(r"[ \t\r\n]+")  # XPath's, not Python's


class Index:
    """A page's elements by class and by id, each list in document order, made when first asked for.

    Args:
        root: The `<html>` element.
        tags: How many tags the page has, or more.
    """

    def __init__(self, root: Any, tags: int) -> None:
        self.root = root
        self.is_worth_it = tags <= MAX_INDEXED_TAGS

    @cached_property
    def classes(self) -> dict[str, list[Any]]:
        """The elements that have a class, by its name."""
        found: dict[str, list[Any]] = {}
        for element in self._elements:
            value = element.get("class")
            if value:
                for name in _names(value) if len(value) <= MAX_CLASS_CHARACTERS else _names.__wrapped__(value):
                    if name in found:
                        found[name].append(element)
                    else:
                        found[name] = [element]
        return found

    @cached_property
    def ids(self) -> dict[str, list[Any]]:
        """The elements that have an id; pages use one twice, whatever the standard says."""
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
    """What one element of the path is: `a.author#x`; an empty tag is any."""

    tag: str
    classes: tuple[str, ...]
    ids: tuple[str, ...]
    is_child: bool  # of the step before, not just somewhere in it

    def first(self, index: Index) -> list[Any] | None:
        """Returns the elements that have its rarest mark, to be tested for the others; None when it has but a tag."""
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
class Simple:
    """A compiled selector."""

    steps: tuple[Step, ...]
    takes_text: bool
    attribute: str

    @classmethod
    def of(cls, css: str) -> Simple | None:
        """Returns a valid selector's path; None when it isn't simple."""
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

    def search(self, index: Index) -> list[Any] | None:
        """Returns the elements or strings that it finds; None when only its XPath can tell their order."""
        found = self._elements(index)
        if self.attribute:
            return [value for element in found if (value := element.get(self.attribute)) is not None]
        if self.takes_text:
            if any(map(len, found)):  # with elements in it, an element's text has parts, and others' between them
                return None
            return [text for element in found if (text := element.text)]
        return found

    def _elements(self, index: Index) -> list[Any]:
        step = self.steps[0]
        marked = step.first(index)
        found = list(index.root.iter(step.tag or "*")) if marked is None else marked
        for step in self.steps[1:]:
            if not found:
                return found
            marked, before = step.first(index), frozenset(found)
            if marked is None and not step.is_child:
                found = [
                    one for element in _outermost(found, before) for one in element.iterdescendants(step.tag or "*")
                ]
                continue
            candidates = index.root.iter(step.tag or "*") if marked is None else marked
            if step.is_child:
                found = [element for element in candidates if element.getparent() in before]
            else:
                found = [element for element in candidates if not before.isdisjoint(element.iterancestors())]
        return list(found) if found is marked else found


def _outermost(elements: list[Any], members: frozenset[Any]) -> Iterable[Any]:
    """Returns the elements that aren't inside another of them."""
    if len(elements) == 1:
        return elements
    return [element for element in elements if members.isdisjoint(element.iterancestors())]


def _steps(tree: Any) -> tuple[Step, ...]:
    """Returns a parsed selector's steps; none when there is more to it."""
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


@lru_cache(1_000)  # a site's pages have the same few
def _names(value: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for name in _BLANKS.split(value) if name))
