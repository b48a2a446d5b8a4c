"""The items: the newest, by site, plan, combination and time; one as it was delivered; all of them as a file."""

from __future__ import annotations

import asyncio
import csv
import io
from contextlib import aclosing
from dataclasses import fields
from functools import partial
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

import orjson
from starlette.responses import StreamingResponse

from crawler.base.item import Item, Media
from crawler.cli.csv_text import BYTE_ORDER_MARK, cell
from crawler.cli.output import to_json
from crawler.monitor import parquet
from crawler.monitor.guard import RefusedRequestError
from crawler.monitor.item_store import WantedItems, moment
from crawler.monitor.pages.stored_images import is_shown
from crawler.monitor.tables import ShownTable

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping

    from starlette.responses import Response
    from starlette.types import Receive, Scope, Send

    from crawler.monitor.web import WebRequest

    Written = Callable[[AsyncIterator[dict[str, Any]]], AsyncGenerator[bytes, None]]

SHOWN = 50  # most items on a page
MAX_SKIPPED = 10_000  # most items of one moment that are passed over: more than a crawl fetches in a millisecond
WORDS_BETWEEN = " + "  # stands between the words of a combination, as plans show it
ASKED_FOR = ("site", "plan", "words", "since", "until")  # the parameters of the address
COLUMNS = ("time", "site", "title", "plan", "words", "language", "images", "url", "id")
FIELDS = tuple(field.name for field in fields(Item))
MEDIA_FIELDS = tuple(field.name for field in fields(Media))
# The fields that have a place of their own on an item's page; the rest is shown as JSON.
PLACED = {
    "id", "title", "content", "resource", "url", "time", "author", "published", "images", "plan", "keywords", "node",
    "fingerprint", "sha256", "language", "status", "combinations",
}  # fmt: skip
DOWNLOAD_SECONDS = 3_600  # when a download is cut off: whoever takes longer asks for less of it
DOWNLOAD_LINES = 100  # most lines of CSV or JSON that are sent at once


async def show(web: WebRequest) -> Response:
    """Shows the newest items of those that are asked for."""
    wanted, skipped = _wanted(web)
    items = await _some(web, wanted, skipped, SHOWN + 1)
    older = _older(web, items[:SHOWN], skipped) if len(items) > SHOWN else ""
    asked_for = {name: web.parameter(name) for name in ASKED_FOR}
    return web.html(
        "items",
        rows=[_row(item) for item in items[:SHOWN]],
        asked_for=asked_for,
        query=urlencode({name: value for name, value in asked_for.items() if value}),
        older=older,
        has_parquet=parquet.is_installed(),
    )


async def table(web: WebRequest) -> ShownTable:
    """Returns as many items as the page shows, as a table."""
    wanted, skipped = _wanted(web)
    return ShownTable("items", COLUMNS, [_row(item) for item in await _some(web, wanted, skipped, SHOWN)])


async def show_one(web: WebRequest) -> Response:
    """Shows one item."""
    item = await _one(web)
    others = {name: value for name, value in item.items() if name not in PLACED and value not in (None, "", [], {})}
    media = [dict.fromkeys(MEDIA_FIELDS) | image for image in _list(item, "images") if isinstance(image, dict)]
    return web.html(
        "item",
        # An older version's may lack some fields.
        item=dict.fromkeys(FIELDS, "") | item | {name: _text(item, name) for name in ("plan", "node")},
        words=_words(_list(item, "combinations") or [_list(item, "keywords")]),
        media=[(image, is_shown(web.monitor.settings, image["path"])) for image in media],
        others=to_json(others, orjson.OPT_INDENT_2).decode() if others else "",
    )


async def table_of_one(web: WebRequest) -> ShownTable:
    """Returns an item as a table of one row, with every field."""
    item = await _one(web)
    return ShownTable("item", FIELDS, [{name: item.get(name) for name in FIELDS}])


async def download_lines(web: WebRequest) -> Response:
    """Sends all items that are asked for as JSON lines, just as they were delivered."""

    async def lines(items: AsyncIterator[dict[str, Any]]) -> AsyncGenerator[bytes, None]:
        async for item in items:
            yield to_json(item) + b"\n"

    return await _download(web, "jsonl", "application/jsonl", partial(_together, lines))


async def download_csv(web: WebRequest) -> Response:
    """Sends all items that are asked for as CSV, a column for each field."""

    async def lines(items: AsyncIterator[dict[str, Any]]) -> AsyncGenerator[bytes, None]:
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\r\n")  # RFC 4180 has these line ends
        text.write(BYTE_ORDER_MARK)
        writer.writerow(FIELDS)
        async for item in items:
            writer.writerow([cell(item.get(name)) for name in FIELDS])
            yield text.getvalue().encode()
            text.seek(0)
            text.truncate()
        yield text.getvalue().encode()  # the head, where there is no item

    return await _download(web, "csv", "text/csv; charset=utf-8", partial(_together, lines))


async def download_parquet(web: WebRequest) -> Response:
    """Sends all items that are asked for as a Parquet file, its columns of the types of the items' schema."""
    if not parquet.is_installed():
        raise RefusedRequestError(404, "error.no-parquet")
    return await _download(web, "parquet", "application/vnd.apache.parquet", parquet.parquet)


async def _together(lines: Written, items: AsyncIterator[dict[str, Any]]) -> AsyncGenerator[bytes, None]:
    """Yields many lines at once."""
    waiting: list[bytes] = []
    async with aclosing(lines(items)) as written:
        async for line in written:
            waiting.append(line)
            if len(waiting) == DOWNLOAD_LINES:
                yield b"".join(waiting)
                waiting.clear()
    yield b"".join(waiting)


async def _download(web: WebRequest, ending: str, media_type: str, written_as: Written) -> Response:
    """Returns an answer that reads items as it is taken.

    Args:
        written_as: Writes items as a file has them.
    """
    wanted, _skipped = _wanted(web)
    downloads, user = web.monitor.downloads, web.sign_in.user.name
    if not downloads.are_free(user):
        raise RefusedRequestError(503, "error.downloads")

    async def chunks() -> AsyncGenerator[bytes, None]:
        items = web.monitor.items.read(wanted)
        async with aclosing(items), aclosing(written_as(items)) as written:
            with downloads.held(user):
                async for chunk in written:
                    yield chunk

    written = chunks()
    first = await anext(written)  # a server that is away is said by a page, which is too late once a file has begun

    async def whole() -> AsyncIterator[bytes]:
        async with aclosing(written):
            yield first
            async for chunk in written:
                yield chunk

    headers = {"content-disposition": f'attachment; filename="items.{ending}"', "x-accel-buffering": "no"}
    return _Download(whole(), media_type=media_type, headers=headers)


class _Download(StreamingResponse):
    """A download that ends in its time, however slowly it is taken; what is cut off lacks its end."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Sends it."""
        async with asyncio.timeout(DOWNLOAD_SECONDS):
            await super().__call__(scope, receive, send)


async def _one(web: WebRequest) -> dict[str, Any]:
    item = await web.monitor.items.read_one(web.parameter("id"))
    if item is None:
        raise RefusedRequestError(404, "error.no-item")
    return item


async def _some(web: WebRequest, wanted: WantedItems, skipped: int, number: int) -> list[dict[str, Any]]:
    """Returns some items, the newest first, without so many of the first ones."""
    read_items: list[dict[str, Any]] = []
    async with aclosing(web.monitor.items.read(wanted)) as items:
        async for item in items:
            read_items.append(item)
            if len(read_items) == skipped + number:
                break
    return read_items[skipped:]


def _wanted(web: WebRequest) -> tuple[WantedItems, int]:
    """Returns what is asked for, and how many of its first items were on pages before."""
    combination = tuple(filter(None, (word.strip() for word in web.parameter("words").split(WORDS_BETWEEN.strip()))))
    try:
        since, until, before = (_moment(web.parameter(name)) for name in ("since", "until", "before"))
        skipped = int(web.parameter("skip", "0"))
    except (ValueError, OverflowError):
        raise RefusedRequestError(400, "error.items") from None
    if not 0 <= skipped <= MAX_SKIPPED:
        raise RefusedRequestError(400, "error.items")
    until = min(filter(None, (until, before)), default="")
    return WantedItems(web.parameter("site"), web.parameter("plan"), combination, since, until), skipped


def _moment(text: str) -> str:
    return moment(text) if text else ""


def _older(web: WebRequest, shown: list[dict[str, Any]], skipped: int) -> str:
    """Returns the query of the next page: what was asked for, from the last item's moment on, without those seen."""
    last = shown[-1]["time"]
    seen = sum(item["time"] == last for item in shown)
    if seen == len(shown) and web.parameter("before") == last:
        seen += skipped
    same = {name: value for name in ASKED_FOR if (value := web.parameter(name))}
    return urlencode(same | {"before": last, "skip": seen})


def _row(item: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "site": item["resource"],
        "words": WORDS_BETWEEN.join(map(str, _list(item, "keywords"))),
        "images": len(_list(item, "images")),
        **{name: _text(item, name) for name in ("time", "title", "plan", "language", "url", "id")},
    }


def _text(item: Mapping[str, Any], name: str) -> str:
    """Returns a text of an item; empty for what isn't one, likewise."""
    value = item.get(name)
    return value if isinstance(value, str) else ""


def _list(item: Mapping[str, Any], name: str) -> list[Any]:
    """Returns a list of an item; empty for what isn't one, since the servers aren't trusted."""
    value = item.get(name)
    return value if isinstance(value, list) else []


def _words(combinations: list[Any]) -> list[str]:
    return [WORDS_BETWEEN.join(map(str, words)) for words in combinations if isinstance(words, list) and words]
