"""Scripts and styles that rendered pages share, in memory: sixty of them would cost each page sixty delays of a host.

Freshness is RFC 9111's, but for a floor: an answer counts as fresh for FLOOR_SECONDS whatever it says, unless it says
`no-store`. What a site names anew with each release (`app.3f9c.js`) needs no more, and what it doesn't is seldom of
another day than the page. `Age` isn't looked at. Each page has its own cookies, as each browser of people who share a
cache: what is `private`, or may `Vary` by `Cookie`, isn't kept, and the cookies that an answer sets aren't either. Of
what else it may vary by, the crawl sends the same to all, except `Origin` and a site's own headers, which the key has.
"""

from __future__ import annotations

import asyncio
import re
from collections import OrderedDict
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from scrapy.http import Headers, Response

MAX_CACHE_BYTES = 64 * 1024 * 1024  # the most that all bodies take; a heavy application has 5 MB of scripts
# How long any script is fresh: a crawl goes on for longer, and scripts change a few times a day at most.
FLOOR_SECONDS = 600.0
MAX_SECONDS = 86_400.0  # the longest freshness; more gains nothing, since a script is then fetched once a day
# Statuses of answers that are kept: the script, and that there is none, which each page would ask for again.
KEPT_STATUSES = frozenset({200, 404, 410})
_MAX_AGE = re.compile(r"(?:^|[\s,])max-age\s*=\s*\"?(\d{1,9})", re.IGNORECASE)
_OF_ONE_PAGE = re.compile(r"(?:^|[\s,])(?:no-store|private)(?:$|[\s,=])", re.IGNORECASE)
_VARIES = re.compile(r"(?:^|[\s,])(?:\*|cookie)(?:$|[\s,])", re.IGNORECASE)


class ScriptKey(NamedTuple):
    """What an answer is kept under.

    Attributes:
        site: Name of the site whose own headers were sent; empty: none were, and pages of any site share the answer.
        origin: The request's `Origin` header, which the answer may echo; empty: it had none.
    """

    url: str
    site: str
    origin: str


@dataclass(frozen=True, slots=True)
class _Kept:
    response: Response
    until_s: float  # when it ends to be fresh, by the event loop's clock


class ScriptCache:
    """Keeps answers as long as they are fresh; of a script that several pages want at once, one of them asks."""

    def __init__(self, max_bytes: int = MAX_CACHE_BYTES) -> None:
        self._max_bytes = max_bytes
        self._bytes = 0
        self._kept: OrderedDict[ScriptKey, _Kept] = OrderedDict()  # the one that was used last stands last
        self._asking: dict[ScriptKey, asyncio.Future[None]] = {}

    async def get(self, key: ScriptKey, download: Callable[[], Awaitable[Response]]) -> Response:
        """Returns the answer that is kept under a key, or else downloads it.

        Raises:
            Exception: What the download raised; others that wait for the same answer then download it themselves.
        """
        while True:
            if (response := self._fresh(key)) is not None:
                return response
            if (asking := self._asking.get(key)) is None:
                break
            await asyncio.wait([asking])
        asking = self._asking[key] = asyncio.get_running_loop().create_future()
        try:
            response = await download()
            self._keep(key, response)
            return response
        finally:
            del self._asking[key]
            asking.set_result(None)

    def _fresh(self, key: ScriptKey) -> Response | None:
        entry = self._kept.get(key)
        if entry is None:
            return None
        if entry.until_s <= _now():
            self._drop(key)
            return None
        self._kept.move_to_end(key)
        return entry.response

    def _keep(self, key: ScriptKey, response: Response) -> None:
        seconds = fresh_seconds(response.headers)
        if response.status not in KEPT_STATUSES or not seconds or len(response.body) > self._max_bytes:
            return
        headers = {name: values for name, values in response.headers.items() if name.lower() != b"set-cookie"}
        self._kept[key] = _Kept(response.replace(headers=headers), _now() + seconds)
        self._bytes += len(response.body)
        while self._bytes > self._max_bytes:
            self._drop(next(iter(self._kept)))

    def _drop(self, key: ScriptKey) -> None:
        self._bytes -= len(self._kept.pop(key).response.body)


def fresh_seconds(headers: Headers) -> float:
    """Returns for how long an answer counts as fresh; 0: it must not be kept."""
    control = _text(headers, "Cache-Control")
    if _OF_ONE_PAGE.search(control) or _VARIES.search(_text(headers, "Vary")):
        return 0.0
    age = _MAX_AGE.search(control)
    seconds = float(age[1]) if age else _until_expiry(headers)
    return min(max(seconds, FLOOR_SECONDS), MAX_SECONDS)


def _until_expiry(headers: Headers) -> float:
    try:
        expires, date = (parsedate_to_datetime(_text(headers, name)) for name in ("Expires", "Date"))
        return (expires - date).total_seconds()
    except (ValueError, TypeError, OverflowError):  # there are none, or they are no dates, or of two kinds
        return 0.0


def _text(headers: Headers, name: str) -> str:
    return b",".join(headers.getlist(name)).decode("latin-1")


def _now() -> float:
    return asyncio.get_running_loop().time()
