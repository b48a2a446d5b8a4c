"""A rendered page."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from crawler.base.models import JsonAnswer, Settled
    from crawler.sites.render_step import PlayedStep


@dataclass(frozen=True, slots=True)
class Rendered:
    """A page as it was when it had settled.

    Attributes:
        url: Where the page was by then; scripts may have changed it, its fragment too.
        status: Of the answer that brought its document.
        headers: Of that answer.
        html: The document, with its doctype, as scripts have left it.
        settled: What ended the wait: the selector matched, all was quiet, or the cap was reached.
        answers: JSON that the page loaded, in the order in which it asked for it.
        left_out: How much more of that was wanted, and can't be kept.
        steps: What was done on it, in order.
    """

    url: str
    status: int
    headers: tuple[tuple[bytes, bytes], ...]
    html: str
    settled: Settled
    answers: tuple[JsonAnswer, ...]
    left_out: int = 0
    steps: tuple[PlayedStep, ...] = ()
