"""The JSON that one page loads: in the order in which it asked for it, within bounds, each request once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawler.base import page_json
from crawler.base.models import REDIRECTION, SUCCESS, JsonAnswer

if TYPE_CHECKING:
    from collections.abc import Callable
    from collections.abc import Set as AbstractSet

    from crawler.render.exchange import PageAnswer, PageRequest

MAX_ANSWERS = 500  # most wanted answers, and most others; twenty rounds of a "more" button bring some forty
MAX_BYTES = 16 * 1024 * 1024  # the most that the wanted ones take, and the others; a page of results is some 100 kB

Key = tuple[str, str, bytes]  # a request's method, address and body


class JsonLog:
    """What JSON has come for a page.

    A request that the page repeats, as one that looks for news every second does, counts once, with its last answer: an
    error doesn't take the place of what came before.
    What is wanted has bounds of its own, so that nothing else takes its room.

    Args:
        is_wanted: Tells by the address what is wanted; None: nothing in particular.

    Attributes:
        left_out: How many answers that are wanted couldn't be kept.
    """

    def __init__(self, is_wanted: Callable[[str], bool] | None) -> None:
        self._is_wanted = is_wanted
        self._kept: dict[bool, dict[Key, tuple[int, JsonAnswer]]] = {True: {}, False: {}}
        self._bytes = {True: 0, False: 0}
        self.left_out = 0

    @property
    def answers(self) -> tuple[JsonAnswer, ...]:
        """All that was kept, in the order in which the page asked for it."""
        numbered = [*self._kept[True].values(), *self._kept[False].values()]
        return tuple(answer for _, answer in sorted(numbered, key=lambda pair: pair[0]))

    @property
    def wanted(self) -> AbstractSet[Key]:
        """The requests whose answers are wanted and have come."""
        return self._kept[True].keys()

    @property
    def has_wanted(self) -> bool:
        """Whether an answer that is wanted has come, and says that there is something."""
        return any(answer.status // 100 == SUCCESS for _, answer in self._kept[True].values())

    def note(self, number: int, request: PageRequest, answer: PageAnswer) -> None:
        """Keeps an answer, if it is JSON and there is room.

        Args:
            number: Of the request among those of the page; it decides the order.
        """
        if answer.status // 100 == REDIRECTION or not _is_json(answer):
            return
        is_wanted = self._is_wanted is not None and self._is_wanted(request.url)
        answers, key = self._kept[is_wanted], (request.method, request.url, request.body)
        first, former = answers.get(key, (number, None))
        if former is not None and former.status // 100 == SUCCESS != answer.status // 100:
            return
        size = self._bytes[is_wanted] + len(answer.body) - (len(former.body) if former else 0)
        if size > MAX_BYTES or (former is None and len(answers) == MAX_ANSWERS):
            self.left_out += is_wanted
            return
        self._bytes[is_wanted] = size
        answers[key] = (first, JsonAnswer(request.url, answer.body, request.method, answer.status, is_wanted))


def _is_json(answer: PageAnswer) -> bool:
    """Returns whether an answer is JSON: by its type, or by itself, since many send it as text."""
    body = answer.body.lstrip()
    content_type = next((value for name, value in answer.headers if name.lower() == b"content-type"), b"")
    if b"json" in content_type.lower():
        return bool(body)
    return body.startswith((b"{", b"[")) and page_json.may_be_json(body)
