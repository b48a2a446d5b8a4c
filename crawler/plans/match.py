"""Parses `match`: names of keyword classes joined by `and`, `or` and parentheses.

    expression = term ("or" term)*
    term       = factor ("and" factor)*
    factor     = class | "(" expression ")"

So `and` binds tighter than `or`. Both may be written in any letter case.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

OPERATORS = frozenset({"and", "or"})
MAX_NESTING = 20  # most levels of parentheses; people read fewer, and each takes some of Python's stack
_TOKEN = re.compile(r"[()]|\w+|[^\s\w()]+")


@dataclass(frozen=True, slots=True)
class Group:
    """Parts joined by one operator.

    Attributes:
        operator: `and` or `or`.
        parts: Two or more; a string is the name of a class.
    """

    operator: str
    parts: tuple[Expression, ...]


Expression = Group | str


class MatchError(Exception):
    """The text isn't an expression. The message says what was expected at which character, counted from 1."""


def parse(text: str, classes: Collection[str]) -> Expression:
    """Returns the expression.

    Args:
        text: The expression.
        classes: Names that may stand in it.

    Raises:
        MatchError: It isn't one: a parenthesis without its partner, an unknown class, an operator too many or missing.
    """
    return _Parser(text, classes).parse()


def join(operator: str, classes: Collection[str]) -> Expression:
    """Returns the classes, at least one, joined by an operator."""
    names = tuple(classes)
    return names[0] if len(names) == 1 else Group(operator, names)


def names_in(expression: Expression) -> Iterator[str]:
    """Yields the names of the classes in an expression, from left to right."""
    if isinstance(expression, str):
        yield expression
    else:
        for part in expression.parts:
            yield from names_in(part)


class _Parser:
    """Reads tokens from left to right; each method reads one rule of the grammar above."""

    def __init__(self, text: str, classes: Collection[str]) -> None:
        self._tokens = [(token[0], token.start() + 1) for token in _TOKEN.finditer(text)]
        self._next = 0
        self._end = len(text) + 1
        self._classes = classes

    def parse(self) -> Expression:
        result = self._group("or", 0)
        word, place = self._peek()
        if word == ")":
            raise MatchError(f"an opening parenthesis before the closing one at character {place}")
        if word:
            raise MatchError(f"and, or, or the end at character {place}, before {word!r}")
        return result

    def _group(self, operator: str, nesting: int) -> Expression:
        parts = [self._part(operator, nesting)]
        while self._peek()[0].lower() == operator:
            self._next += 1
            parts.append(self._part(operator, nesting))
        return parts[0] if len(parts) == 1 else Group(operator, tuple(parts))

    def _part(self, operator: str, nesting: int) -> Expression:
        return self._group("and", nesting) if operator == "or" else self._factor(nesting)

    def _factor(self, nesting: int) -> Expression:
        word, place = self._peek()
        if word == "(":
            return self._parenthesis(place, nesting + 1)
        if not word or word == ")" or word.lower() in OPERATORS:
            before = f", before {word!r}" if word else ", where it ends"
            raise MatchError(f"a class at character {place}{before}")
        if word not in self._classes:
            class_names = ", ".join(self._classes)
            raise MatchError(f"a class under keywords ({class_names}) at character {place}, not {word!r}")
        self._next += 1
        return word

    def _parenthesis(self, opened: int, nesting: int) -> Expression:
        if nesting > MAX_NESTING:
            raise MatchError(f"at most {MAX_NESTING} parentheses inside each other, at character {opened}")
        self._next += 1
        result = self._group("or", nesting)
        word, place = self._peek()
        if word and word != ")":
            raise MatchError(f"and, or, or a closing parenthesis at character {place}, before {word!r}")
        if not word:
            raise MatchError(f"a closing parenthesis for the one at character {opened}")
        self._next += 1
        return result

    def _peek(self) -> tuple[str, int]:
        return self._tokens[self._next] if self._next < len(self._tokens) else ("", self._end)
