"""What hosts answered for pages that failed, kept in Redis for people to look at: a head, and a body's beginning.

The latest are kept of each site and reason, under a bound for all of them together, as the newest items are, whose
script puts them there. Nothing of it is ever taken for anything but text.
"""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING, Any, NamedTuple

import orjson

from crawler.frontier.scripts import run_text
from crawler.telemetry.newest_items import ADD

if TYPE_CHECKING:
    from collections.abc import Iterable

    from crawler.frontier.keys import Keys

MAX_ANSWERS = 20  # most answers of one site and reason that are kept: they resemble each other
KEPT_SECONDS = 31 * 86_400  # how long answers are kept after the last one of any site
# The most that an answer may unpack to: what is read from Redis isn't trusted to be what was written.
MAX_UNPACKED_BYTES = 65_536


class FailedAnswer(NamedTuple):
    """The last answer of a page's host, before the page failed.

    Attributes:
        url: That was asked for at last.
        status: Of HTTP.
        headers: A line for each.
        body: Its beginning, as text.
    """

    url: str
    status: int
    headers: str
    body: str


def add(
    client: Any,
    keys: Keys,
    site: str,
    reason: str,
    answers: Iterable[tuple[str, FailedAnswer]],
    *,
    now_s: int,
    bytes_max: int,
) -> None:
    """Adds answers of pages of a site that failed for one reason. Takes a client or a pipeline.

    Args:
        answers: Each with its seed's fingerprint in hex.
        now_s: By the partitions' clocks.
        bytes_max: Of all that are kept, packed.
    """
    words = [
        word
        for fingerprint, answer in answers
        for word in (fingerprint, now_s * 1000, zlib.compress(orjson.dumps([*answer]), 1))
    ]
    of = f"{site} {reason}"
    names = (keys.failed_answers, keys.failed_answer_sizes, keys.failed_answer_order(of))
    bounds = (keys.failed_answer_order(""), of, MAX_ANSWERS, bytes_max, KEPT_SECONDS)
    run_text(client, ADD, names, *bounds, *words)


async def read(redis: Any, keys: Keys, fingerprint: str) -> FailedAnswer | None:
    """Returns what was answered for a page; None where nothing is kept of it, or junk."""
    packed = await redis.hget(keys.failed_answers, fingerprint)
    try:
        values = orjson.loads(zlib.decompressobj().decompress(packed or b"", MAX_UNPACKED_BYTES))
    except (zlib.error, ValueError):
        return None
    if not (isinstance(values, list) and [type(value) for value in values] == [str, int, str, str]):
        return None
    return FailedAnswer(*values)
