"""What is kept of a host's answer while its page may fail."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from scrapy.http import Headers

# Of an answer. What failed_answers.py cuts of it goes only once secrets are hidden: half of one is none that is known.
BODY_BYTES = 4_096


class AnswerHead(NamedTuple):
    """The beginning of an answer; taking it costs less than a microsecond.

    Attributes:
        body: Its first `BODY_BYTES`.
    """

    url: str
    status: int
    headers: Headers
    body: bytes
