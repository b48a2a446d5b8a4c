"""What a fetch that brought no page means for its seed: try again or give up, and the word that the ledger counts.

Framework exceptions are told by their class name, so that this table needs no framework.
"""

from __future__ import annotations

import random
import re
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from http import HTTPStatus
from typing import TYPE_CHECKING, NamedTuple

from crawler.errors import AnswerError

if TYPE_CHECKING:
    from crawler.frontier.settlement import Operation

MAX_LEAVE_SECONDS = 3_600.0  # a Retry-After of a year is a mistake
REASON_CHARACTERS = 40  # a reason is a ledger field: few and short
REDIRECTS = frozenset({301, 302, 303, 307, 308})
# The host's fault. Not dns: a node whose own resolver is broken would slow down every host for the whole cluster.
FAULTS = frozenset({"connection-refused", "timeout", "connection"})


_NOT_A_WORD = re.compile(r"[^a-z0-9-]+")


class Outcome(NamedTuple):
    """How a seed fares.

    Attributes:
        operation: `retry`, `fail` or `release` (not its fault: no attempt is counted).
        reason: The ledger's word.
    """

    operation: Operation
    reason: str


UNHEARD_OF = Outcome("retry", "download-error")
PAGE_TIMEOUT = Outcome("retry", "page-timeout")  # PAGE_SECONDS
FINAL = frozenset({"too-large", "bad-headers", "bad-encoding"})  # answers that are the same next time
_BY_EXCEPTION = {
    "CannotResolveHostError": Outcome("retry", "dns"),
    "DownloadConnectionRefusedError": Outcome("retry", "connection-refused"),
    "DownloadTimeoutError": Outcome("retry", "timeout"),
    "DownloadCancelledError": Outcome("fail", "too-large"),  # DOWNLOAD_MAXSIZE
    "ResponseDataLossError": Outcome("retry", "truncated"),
    "DownloadFailedError": Outcome("retry", "connection"),
    "ConnectError": Outcome("retry", "connection"),  # Twisted's: no route, and the like
    "UnsupportedURLSchemeError": Outcome("fail", "unsupported-scheme"),
    "PrivateAddressError": Outcome("fail", "private-address"),
    "HostBackoffError": Outcome("retry", "left-alone"),
    "PageTimeoutError": PAGE_TIMEOUT,
    "UnavailableError": Outcome("release", "unavailable"),
    "FrontierError": Outcome("release", "no-session"),
}


def of_exception(error: BaseException) -> Outcome:
    """Returns the outcome of a fetch that raised. Errors that carry an `outcome` know best."""
    own = getattr(error, "outcome", None)
    if isinstance(own, Outcome):
        return own
    if isinstance(error, AnswerError):
        return Outcome("fail" if error.reason in FINAL else "retry", error.reason)
    for kind in type(error).__mro__:
        if kind.__name__ in _BY_EXCEPTION:
            return _BY_EXCEPTION[kind.__name__]
        if kind.__name__ == "IgnoreRequest":
            return Outcome("fail", "ignored")
    return UNHEARD_OF


def of_status(status: int) -> Outcome | None:
    """Returns the outcome of an HTTP status; None for one that comes with a page."""
    if HTTPStatus.OK <= status < HTTPStatus.MULTIPLE_CHOICES:
        return None
    again = status >= HTTPStatus.INTERNAL_SERVER_ERROR or status in (
        HTTPStatus.REQUEST_TIMEOUT,
        HTTPStatus.TOO_EARLY,
        HTTPStatus.TOO_MANY_REQUESTS,
    )
    return Outcome("retry" if again else "fail", f"http-{status}")


def strains(status: int) -> bool:
    """Returns whether an HTTP status says that the host has too much to do, or is ill."""
    return status >= HTTPStatus.INTERNAL_SERVER_ERROR or status == HTTPStatus.TOO_MANY_REQUESTS


def reason_of(text: str, default: str) -> str:
    """Returns a short hyphenated word for the ledger, whatever a user's parser or pipeline calls a reason."""
    return _NOT_A_WORD.sub("-", text.lower()).strip("-")[:REASON_CHARACTERS].strip("-") or default


def retry_after_s(header: bytes | None) -> float:
    """Returns the seconds of a Retry-After header, in either of its forms (RFC 9110, 10.2.3); 0 when missing or odd."""
    text = (header or b"").decode("ascii", "replace").strip()
    if text.isdigit():
        return min(float(text), MAX_LEAVE_SECONDS)
    try:
        when = parsedate_to_datetime(text)
    except (ValueError, TypeError, IndexError, OverflowError):  # the parser's ways to say no
        return 0.0
    if when.tzinfo is None:
        when = when.replace(tzinfo=UTC)
    return min(max((when - datetime.now(UTC)).total_seconds(), 0.0), MAX_LEAVE_SECONDS)


def backoff_ms(tries: int, base_s: float, longest_s: float) -> int:
    """Returns the wait before the next try: doubling, with jitter: a site's failures mustn't all come back at once."""
    return int(1000 * min(base_s * 2**tries, longest_s) * random.uniform(0.75, 1.25))
