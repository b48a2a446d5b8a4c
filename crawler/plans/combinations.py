"""Keyword classes and `match` become combinations, each of which is one search.

A class yields its required words with each choice of its optional ones. `and` multiplies, `or` unites. A combination is
a set of words: equal ones count once at each step, and the first one's order is kept. Words are compared exactly, since
some sites tell `Flood` from `flood`; a dry run reports such pairs as overlap.
"""

from __future__ import annotations

from itertools import combinations
from math import comb, prod
from typing import TYPE_CHECKING

from crawler.base.errors import PlanError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from crawler.plans.match import Expression
    from crawler.plans.plan_file import KeywordClass

Combination = tuple[str, ...]
STEPS_PER_COMBINATION = 20  # how many may turn out equal, for each that is allowed, before there are too many


class TooManyError(PlanError):
    """More combinations than allowed.

    Args:
        count: How many, equal ones among them.
    """

    def __init__(self, count: int) -> None:
        super().__init__(f"{count} combinations are too many")
        self.count = count


def count(expression: Expression, classes: Mapping[str, KeywordClass]) -> int:
    """Returns the number of combinations, equal ones among them, without building any."""
    if isinstance(expression, str):
        words = classes[expression]
        optional = len(dict.fromkeys(words.optional))
        return comb(optional, words.choose) if optional else int(bool(words.required))
    counts = [count(part, classes) for part in expression.parts]
    return prod(counts) if expression.operator == "and" else sum(counts)


def combine(expression: Expression, classes: Mapping[str, KeywordClass], limit: int) -> tuple[Combination, ...]:
    """Returns the combinations, each once, in the order of the words in the file; empty when there is none.

    Memory is bounded by `limit` combinations per level of parentheses, time by `limit` x STEPS_PER_COMBINATION.

    Args:
        expression: What `match.parse` returned.
        classes: The keyword classes by name, with all that stand in the expression.
        limit: Most combinations to return, at least 1.

    Raises:
        TooManyError: There are more.
    """
    total = count(expression, classes)
    if not total:
        return ()
    try:
        return tuple(_Builder(classes, limit).build(expression).values())
    except TooManyError:
        raise TooManyError(total) from None


class _Builder:
    """Builds combinations part by part, until they are too many, or too many were equal."""

    def __init__(self, classes: Mapping[str, KeywordClass], limit: int) -> None:
        self._classes = classes
        self._limit = limit
        self._steps_left = limit * STEPS_PER_COMBINATION

    def build(self, expression: Expression) -> dict[frozenset[str], Combination]:
        if isinstance(expression, str):
            return self._add({}, _of_class(self._classes[expression]))
        result = self.build(expression.parts[0])
        for part in expression.parts[1:]:
            more = self.build(part).values()
            if expression.operator == "or":
                result = self._add(result, more)
            else:
                result = self._add({}, (first + second for first in result.values() for second in more))
        return result

    def _add(
        self, combos: dict[frozenset[str], Combination], candidates: Iterable[Combination]
    ) -> dict[frozenset[str], Combination]:
        for words in candidates:
            combos.setdefault(frozenset(words), tuple(dict.fromkeys(words)))
            self._steps_left -= 1
            if len(combos) > self._limit or self._steps_left < 0:
                raise TooManyError(len(combos))
        return combos


def _of_class(words: KeywordClass) -> Iterator[Combination]:
    optional = tuple(dict.fromkeys(words.optional))
    if optional:
        return (words.required + chosen for chosen in combinations(optional, words.choose))
    return iter([words.required] if words.required else [])
