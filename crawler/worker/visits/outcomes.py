"""The outcome of a fetch that brought no page: whether its seed is tried again, and the reason that the ledger counts.

Exceptions of Scrapy and Twisted are recognized by the names of their classes, so that this module imports neither.
"""

from __future__ import annotations

import asyncio
import errno
import random
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, NamedTuple

from crawler.base import crawl_time, reasons
from crawler.base.errors import (
    AnswerError,
    ExtractError,
    NodeError,
    ScriptRouteError,
    SinkRejectedError,
    UnavailableError,
)

if TYPE_CHECKING:
    from scrapy.http import Headers

    from crawler.base.errors import UrlError
    from crawler.base.reasons import Reason
    from crawler.frontier.settlement import Operation

MAX_RETRY_AFTER_SECONDS = 3_600.0  # longer pauses, such as a year, are most likely mistakes
# Plain numbers: with members of `http.HTTPStatus`, what each page asks here takes 2.7 us on Python 3.11 instead of 0.5.
PAGE_STATUSES = range(200, 300)
PARTIAL_CONTENT = 206  # the answer is a part of the page, which nobody asked for; next time the whole may come
EMPTY_STATUSES = frozenset({204, 205})  # answers with these statuses have no body
REDIRECT_STATUSES = frozenset({301, 302, 303, 307, 308})
MOVED_FOR_GOOD = frozenset({301, 308})
TOO_MANY_REQUESTS = 429
# Next to server errors, what may pass by itself; 408: timeout, 425: too early.
TEMPORARY_STATUSES = frozenset({408, 425, TOO_MANY_REQUESTS})
FIRST_SERVER_ERROR = 500
# Reasons that are the host's fault. Not `dns`: a node with a broken resolver would slow down every host for all nodes.
HOST_FAULTS = frozenset({reasons.CONNECTION_REFUSED, reasons.TIMEOUT, reasons.CONNECTION})
# Reasons for which no answer came, which may also be the fault of this node's way out (egress.py).
NO_ANSWER = HOST_FAULTS | {reasons.DNS, reasons.TLS}
# Reasons for which what came is no answer: a proxy or a network that answers in the hosts' place may have sent it.
BAD_ANSWERS = frozenset({reasons.BAD_RESPONSE, reasons.BAD_HEADERS, reasons.TRUNCATED})
# A proxy sends the first, a captive portal the second; no host sends it (RFC 6585, 6)
PROXY_LOGIN, NETWORK_LOGIN = 407, 511
# Reasons of answers that would be the same next time.
PERMANENT_ERRORS = frozenset({reasons.TOO_LARGE, reasons.BAD_HEADERS, reasons.BAD_ENCODING})
# What a node has none left of when the system says so; whoever was to be asked has no part in it.
_LACKS = {
    errno.EMFILE: "file descriptors",
    errno.ENFILE: "file descriptors",
    errno.ENOMEM: "memory",
    errno.ENOBUFS: "memory",
    errno.ENOSPC: "space on a disk",
    errno.EDQUOT: "space on a disk",
}


class Outcome(NamedTuple):
    """How a visit ends that brings no page.

    Attributes:
        operation: `retry`, `fail`, or `release` or `postpone` where the seed isn't at fault: no try is counted. Or
            `finish` where there is nothing to fetch.
        reason: What the ledger counts; of what is given back untried: statistics alone.
    """

    operation: Operation
    reason: Reason

    @property
    def leaves_gap(self) -> bool:
        """Whether an item that lacks what was fetched has a gap: another visit may have it."""
        return self.operation in ("retry", "postpone")


UNKNOWN_ERROR = Outcome("retry", reasons.DOWNLOAD_ERROR)
NODE_LACKS = Outcome("release", reasons.NODE_LACKS)  # see `node_lacks`
# A followed link redirects to what its site doesn't follow. It counts for the plans that came by such a link alone:
# `IS_OF_PLANS` in `crawler/frontier/lua/lib/states.lua` lists such reasons.
OUT_OF_SCOPE = Outcome("fail", reasons.OUT_OF_SCOPE)
OUT_OF_MEMORY = Outcome("postpone", reasons.OUT_OF_MEMORY)  # most often the node is at fault; see hand_backs.py
PAGE_TIMEOUT = Outcome("retry", reasons.PAGE_TIMEOUT)
# A browser's end isn't its pages' try: see crawler/middlewares/rendering.py.
BROWSER_DIED = Outcome("postpone", reasons.BROWSER_DIED)
NO_BROWSER = Outcome("postpone", reasons.NO_BROWSER)
NO_BROWSER_SECONDS = 60.0  # how long such a page waits to be claimed again, perhaps by a worker with a browser
_BY_EXCEPTION = {
    "CannotResolveHostError": Outcome("retry", reasons.DNS),
    "DownloadConnectionRefusedError": Outcome("retry", reasons.CONNECTION_REFUSED),
    "DownloadTimeoutError": Outcome("retry", reasons.TIMEOUT),
    "DownloadCancelledError": Outcome("fail", reasons.TOO_LARGE),  # DOWNLOAD_MAXSIZE was exceeded
    "ResponseDataLossError": Outcome("retry", reasons.TRUNCATED),
    "DownloadFailedError": Outcome("retry", reasons.CONNECTION),
    "ConnectError": Outcome("retry", reasons.CONNECTION),  # Twisted raises it, such as for a missing route
    "UnsupportedURLSchemeError": Outcome("fail", reasons.UNSUPPORTED_SCHEME),
    "PrivateAddressError": Outcome("fail", reasons.PRIVATE_ADDRESS),
    "HostBackoffError": Outcome("retry", reasons.LEFT_ALONE),  # see crawler/middlewares/turns.py
    "PageTimeoutError": PAGE_TIMEOUT,
    "NodeError": NODE_LACKS,
    "MemoryError": OUT_OF_MEMORY,
    "UnavailableError": Outcome("release", reasons.UNAVAILABLE),
    "FrontierError": Outcome("release", reasons.NO_SESSION),
    "BrowserMissingError": NO_BROWSER,
    "BrowserDiedError": BROWSER_DIED,
    "PageCrashedError": Outcome("retry", reasons.PAGE_CRASHED),
    "RenderTimeoutError": Outcome("retry", reasons.RENDER_TIMEOUT),
    "NoDocumentError": Outcome("fail", reasons.NO_DOCUMENT),
    "StepFailedError": Outcome("retry", reasons.STEP_FAILED),
    "RenderError": Outcome("retry", reasons.RENDER_ERROR),
}


def outcome_of_error(error: BaseException) -> Outcome:
    """Returns the outcome of a fetch that raised: the error's own `outcome` if it has one, else the table's."""
    own = getattr(error, "outcome", None)
    if isinstance(own, Outcome):
        return own
    if isinstance(error, AnswerError):
        return Outcome("fail" if error.reason in PERMANENT_ERRORS else "retry", error.reason)
    for error_class in type(error).__mro__:
        if error_class.__name__ in _BY_EXCEPTION:
            return _BY_EXCEPTION[error_class.__name__]
        if error_class.__name__ == "IgnoreRequest":
            return Outcome("fail", reasons.IGNORED)
    return NODE_LACKS if node_lacks(error) else UNKNOWN_ERROR


def node_lacks(error: BaseException | None) -> str:
    """Returns what this node lacks by an error's word, such as `memory`; empty: the error is of another kind."""
    if isinstance(error, NodeError):
        return error.lack
    if isinstance(error, OSError):
        return _LACKS.get(error.errno or 0, "")
    return "memory" if isinstance(error, MemoryError) else ""


def outcome_of_redirect_error(error: UrlError) -> Outcome:
    """Returns the outcome of a page that redirects to what isn't fetched."""
    return Outcome("fail", reasons.SCRIPT_ROUTE if isinstance(error, ScriptRouteError) else reasons.BAD_REDIRECT)


def outcome_of_callback_error(error: BaseException | None) -> Outcome:
    """Returns the outcome of a page whose callback raised: trying again would raise again.

    Unless it was cancelled, or this node lacks something.
    """
    if isinstance(error, asyncio.CancelledError):
        return UNKNOWN_ERROR
    if isinstance(error, MemoryError):
        return OUT_OF_MEMORY
    if node_lacks(error):
        return NODE_LACKS
    if isinstance(error, ExtractError):
        return Outcome("fail", _extract_reason(error))
    return Outcome("fail", reasons.CALLBACK_ERROR)


def outcome_of_extract_error(error: ExtractError, status: int) -> Outcome:
    """Returns the outcome of a page that yields nothing: trying again would bring the same page, unless it was empty.

    Args:
        status: The HTTP status of the answer. A server that is in trouble may send an empty body with any of them but
            the two that mean it.
    """
    reason = _extract_reason(error)
    return Outcome("retry" if reason == reasons.EMPTY_BODY and status not in EMPTY_STATUSES else "fail", reason)


def outcome_of_delivery_error(error: BaseException | None) -> Outcome:
    """Returns the outcome of a page whose item, or the word of it, some sink doesn't have."""
    if isinstance(error, UnavailableError):
        return Outcome("release", reasons.SINK_UNAVAILABLE)
    if isinstance(error, SinkRejectedError):
        return Outcome("fail", reasons.own_reason(error.reason, reasons.REJECTED))
    if isinstance(error, MemoryError):
        return OUT_OF_MEMORY
    if node_lacks(error):
        return NODE_LACKS
    return Outcome("retry" if isinstance(error, asyncio.CancelledError) else "fail", reasons.PIPELINE_ERROR)


def outcome_of_status(status: int) -> Outcome | None:
    """Returns the outcome of an HTTP status; None for one that comes with a page."""
    if status in PAGE_STATUSES and status != PARTIAL_CONTENT:
        return None
    is_temporary = status >= FIRST_SERVER_ERROR or status == PARTIAL_CONTENT or status in TEMPORARY_STATUSES
    return Outcome("retry" if is_temporary else "fail", reasons.status_reason(status))


def _extract_reason(error: ExtractError) -> Reason:
    return reasons.own_reason(error.reason, reasons.NO_PAGE)


def is_overload(status: int) -> bool:
    """Returns whether an HTTP status says that the host is overloaded or broken."""
    return status >= FIRST_SERVER_ERROR or status == TOO_MANY_REQUESTS


def may_be_the_networks(status: int, *, by_proxy: bool) -> bool:
    """Returns whether an HTTP status may come from this node's proxy or network instead of the host."""
    return status == NETWORK_LOGIN or (by_proxy and (status >= FIRST_SERVER_ERROR or status == PROXY_LOGIN))


def retry_after_s(headers: Headers) -> float:
    """Returns the seconds that an answer asks to wait for; 0 without a valid Retry-After.

    A date counts from the answer's own Date, which is by the same clock, be it right or wrong; without one from the
    crawl's time.

    Source: RFC 9110, 10.2.3, which allows a number of seconds or a date.
    """
    text = (headers.get("Retry-After") or b"").strip()
    if text.isdigit():
        return min(float(text), MAX_RETRY_AFTER_SECONDS)
    if (until := _http_date(text)) is None:
        return 0.0
    answered = _http_date(headers.get("Date") or b"") or crawl_time.now()
    return min(max((until - answered).total_seconds(), 0.0), MAX_RETRY_AFTER_SECONDS)


def _http_date(header: bytes) -> datetime | None:
    """Returns the moment that a header names; None for what isn't a date."""
    try:
        moment = parsedate_to_datetime(header.decode("ascii", "replace").strip())
    except (ValueError, TypeError, IndexError, OverflowError):  # all that the parser raises for what isn't a date
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def retry_delay_ms(tries: int, base_s: float, max_s: float) -> int:
    """Returns the delay before the next try: doubled with each try, and jittered, so that a host's seeds spread out.

    Args:
        tries: How often the seed was tried before, from 0.
        base_s: The delay after the first try.
        max_s: The longest delay, before jitter.
    """
    return int(1000 * min(base_s * 2**tries, max_s) * random.uniform(0.75, 1.25))
