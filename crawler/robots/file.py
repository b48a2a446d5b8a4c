"""The result of asking for a robots.txt, and for how long it is valid (RFC 9309, 2.3.1 and 2.4). Does no I/O.

| answer | means |
|---|---|
| 2xx but 206 | its rules are valid for a day |
| 4xx but 429; a redirect to no valid URL, or a sixth one | there are no rules: all is allowed, for a day |
| 429, 5xx, a part (206), no answer | nothing may be fetched for now; the file is asked for again after growing delays |

While a file is unreachable, one question is asked for many pages of its host: those that are held meanwhile count it as
a try; the others wait, untried. The first question is asked for the pages that happen to be held, the next for 10, then
20, 40, at last MAX_HOLD. So all pages of a host that stays silent fail by tries of their own: 2,000 of them take 8,000
tries, which are some 135 questions, five minutes apart: 11 hours.

Not done: the RFC allows to treat a file unreachable for 30 days as missing, and to use an old copy meanwhile.
"""

from __future__ import annotations

import base64
import binascii
import zlib
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, Literal

import orjson

from crawler.robots.rules import MAX_FILE_BYTES, MAX_LINE_BYTES, clip

MAX_REDIRECTS = 5  # most redirects to a file; RFC 9309, 2.3.1.2 wants at least five followed
# How long a file may take; one of the size that is read which takes longer counts as unreachable.
MAX_FETCH_SECONDS = 30
KEEP_SECONDS = 86_400.0  # how long a file is used; RFC 9309, 2.4 allows 24 hours
KEEP_FAILURES_SECONDS = 21_600.0  # a count of failures is kept this much longer than the delay, for the next failure
# The factor of delays: pages are tried after 1, 4, 16 minutes, to outlast a host's restart but not a weekend.
GROWTH = 4.0
# The most by which the delay grows until an unreachable file is asked for again, so that a host that is back is noticed
# in 5 minutes.
MAX_FACTOR = 5.0
MAX_RETRY_SECONDS = 3_600.0  # longest delay until a page is tried again whose robots.txt was unreachable
HOLD_FIRST = 10  # how many pages are tried together with the second question; each later one has twice as many
# The most pages that are tried together: so many leave a worker room for others while the host is silent, since
# CONCURRENT_REQUESTS is 64.
MAX_HOLD = 60
# The longest record in Redis: base64 of a file that zlib couldn't shrink, and a little more.
MAX_RECORD_BYTES = 1024 * 1024
State = Literal["rules", "none", "unreachable"]


@dataclass(frozen=True, slots=True)
class RobotsFile:
    """The result of asking one authority for its robots.txt.

    Attributes:
        state: `rules`: `text` has them; `none`: there is no file; `unreachable`: there was no usable answer.
        text: The file, clipped; empty unless the state is `rules`.
        failures: Number of times in a row that the file was unreachable.
        fresh_s: Seconds until the file must be asked for again; 0 or less: now.
    """

    state: State
    text: bytes = b""
    failures: int = 0
    fresh_s: float = KEEP_SECONDS

    @property
    def expires_s(self) -> float:
        """How long Redis keeps the record, in seconds: at most a day."""
        return self.fresh_s + (KEEP_FAILURES_SECONDS if self.state == "unreachable" else 0.0)

    @classmethod
    def from_response(
        cls, status: int, body: bytes, retry_after_s: float, earlier: RobotsFile | None, delay_s: float
    ) -> RobotsFile:
        """Returns the result of a response. A redirect is one that couldn't be followed.

        Args:
            retry_after_s: The seconds that the response asks to wait for; 0: none.
            earlier: The result before this one; None: there is none.
            delay_s: The delay until the file is asked for again, after a first failure.
        """
        if HTTPStatus.OK <= status < HTTPStatus.MULTIPLE_CHOICES and status != HTTPStatus.PARTIAL_CONTENT:
            return cls("rules", clip(body))
        missing = HTTPStatus.MULTIPLE_CHOICES <= status < HTTPStatus.INTERNAL_SERVER_ERROR
        if missing and status != HTTPStatus.TOO_MANY_REQUESTS:
            return cls("none")
        return cls.from_no_response(earlier, delay_s, retry_after_s)

    @classmethod
    def from_no_response(cls, earlier: RobotsFile | None, delay_s: float, retry_after_s: float = 0.0) -> RobotsFile:
        """Returns the result when there was no usable response; arguments as for `from_response`."""
        failures = earlier.failures + 1 if earlier is not None else 1
        factor = min(GROWTH ** min(failures - 1, 10), MAX_FACTOR)  # a larger exponent makes no difference
        delay_s = max(delay_s * factor, retry_after_s)
        return cls("unreachable", failures=failures, fresh_s=min(delay_s, KEEP_SECONDS - KEEP_FAILURES_SECONDS))

    @property
    def pages_held(self) -> int:
        """How many pages of a host are to be held, and so tried, when its unreachable file is asked for next."""
        return min(HOLD_FIRST << min(self.failures - 1, 10), MAX_HOLD)

    def dump(self) -> bytes:
        """Returns the record as JSON. Its age is left to the key's expiry, so that no node's clock matters."""
        text = base64.b64encode(zlib.compress(self.text, 1)).decode() if self.text else ""
        return orjson.dumps({"state": self.state, "text": text, "failures": self.failures})

    @classmethod
    def load(cls, raw: bytes, expires_s: float) -> RobotsFile | None:
        """Reads what `dump` wrote; returns None for anything else, so that the file is asked for again.

        Args:
            expires_s: Seconds until the key expires.
        """
        if not 0 <= expires_s <= KEEP_SECONDS:
            return None
        try:
            record: Any = orjson.loads(raw)
            state, failures = record["state"], record["failures"]
            text = _inflated(record["text"])
        except (ValueError, TypeError, KeyError, AttributeError, binascii.Error, zlib.error):
            return None
        if state not in ("rules", "none", "unreachable") or type(failures) is not int or failures < 0:
            return None
        fresh_s = expires_s - (KEEP_FAILURES_SECONDS if state == "unreachable" else 0.0)
        return cls(state, text, failures, fresh_s)


def page_delay_s(tries: int, first_s: float) -> float:
    """Returns the delay until a page is tried again whose robots.txt was asked for in vain while it was held.

    Args:
        tries: How often the page was tried before, from 0.
        first_s: The delay after the first try.
    """
    return min(first_s * GROWTH ** min(tries, 10), MAX_RETRY_SECONDS)


def _inflated(text: str) -> bytes:
    """Returns the bytes of a record's text; never decompresses more than a file may have."""
    if not text:
        return b""
    stream = zlib.decompressobj()
    plain = stream.decompress(base64.b64decode(text, validate=True), MAX_FILE_BYTES + MAX_LINE_BYTES)
    if not stream.eof:
        raise ValueError("the text is longer than a file may be, or truncated")
    return plain
