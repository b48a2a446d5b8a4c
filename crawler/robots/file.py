"""What asking for a robots.txt brought, and how long that counts (RFC 9309, 2.3.1 and 2.4). Pure.

| answer | means |
|---|---|
| 2xx | its rules count, for a day |
| 4xx but 429; a redirect that leads nowhere, or a sixth one | there are no rules: all is allowed, for a day |
| 429, 5xx, no answer | nothing may be fetched for now; asked again later and later, and after any Retry-After |

Not done: the RFC lets a file unreachable for 30 days count as missing, and an old copy serve meanwhile.
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

KEEP_SECONDS = 86_400.0  # RFC 9309, 2.4: no longer than 24 hours
REMEMBER_SECONDS = 21_600.0  # the count of failures outlives their last wait by that: the next failure must find it
MAX_WAIT_SECONDS = 3_600.0  # a site that is back should not wait for hours to be seen
WAIT_GROWTH = 4  # 1, 4, 16 minutes: MAX_ATTEMPTS asks outlast a restart, not a weekend
MAX_RECORD_BYTES = 1024 * 1024  # in Redis: base64 of what zlib couldn't shrink, and a little more
State = Literal["rules", "none", "unreachable"]


@dataclass(frozen=True, slots=True)
class RobotsFile:
    """What one authority's robots.txt came to.

    Attributes:
        text: The file, clipped; empty unless the state is `rules`.
        failures: Times in a row that it was unreachable.
        fresh_s: How long this may be relied on; 0 or less: ask again.
    """

    state: State
    text: bytes = b""
    failures: int = 0
    fresh_s: float = KEEP_SECONDS

    @property
    def expires_s(self) -> float:
        """How long Redis keeps it: at most a day."""
        return self.fresh_s + (REMEMBER_SECONDS if self.state == "unreachable" else 0.0)

    def dump(self) -> bytes:
        """Returns JSON. How long it counts is left to the key's expiry, so that no node's clock matters."""
        text = base64.b64encode(zlib.compress(self.text, 1)).decode() if self.text else ""
        return orjson.dumps({"state": self.state, "text": text, "failures": self.failures})

    @classmethod
    def load(cls, raw: bytes, expires_s: float) -> RobotsFile | None:
        """Reads what `dump` wrote; None for anything else, which is then asked for again.

        Args:
            expires_s: What is left of the key's life.
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
        fresh_s = expires_s - (REMEMBER_SECONDS if state == "unreachable" else 0.0)
        return cls(state, text, failures, fresh_s)


def of_response(
    status: int, body: bytes, retry_after_s: float, earlier: RobotsFile | None, wait_s: float
) -> RobotsFile:
    """Returns what an answer means. A redirect counts as one that leads nowhere: others were followed.

    Args:
        retry_after_s: What the answer asks for; 0: nothing.
        earlier: What was known before.
        wait_s: The wait after a first failure.
    """
    if HTTPStatus.OK <= status < HTTPStatus.MULTIPLE_CHOICES:
        return RobotsFile("rules", clip(body))
    missing = HTTPStatus.MULTIPLE_CHOICES <= status < HTTPStatus.INTERNAL_SERVER_ERROR
    if missing and status != HTTPStatus.TOO_MANY_REQUESTS:
        return RobotsFile("none")
    return unreachable(earlier, wait_s, retry_after_s)


def unreachable(earlier: RobotsFile | None, wait_s: float, retry_after_s: float = 0.0) -> RobotsFile:
    """Returns what no answer means; arguments as for `of_response`."""
    failures = earlier.failures + 1 if earlier is not None else 1
    growth = WAIT_GROWTH ** min(failures - 1, 10)  # more makes no difference
    wait_s = max(min(wait_s * growth, MAX_WAIT_SECONDS), retry_after_s)
    return RobotsFile("unreachable", failures=failures, fresh_s=min(wait_s, KEEP_SECONDS - REMEMBER_SECONDS))


def _inflated(text: str) -> bytes:
    """Returns the bytes of a record's text, never more than a file may have."""
    if not text:
        return b""
    stream = zlib.decompressobj()
    plain = stream.decompress(base64.b64decode(text, validate=True), MAX_FILE_BYTES + MAX_LINE_BYTES)
    if not stream.eof:
        raise ValueError("longer than a file may be, or cut off")
    return plain
