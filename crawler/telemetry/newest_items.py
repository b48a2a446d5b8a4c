"""The newest items of each site, kept in Redis for people to look at where no sink can be asked for items.

Each is packed by itself. Together they have a bound in bytes: where it is passed, the oldest items go of the site that
takes most. What downstream systems read are the sinks; here an item may be cut, or missing.
"""

from __future__ import annotations

import asyncio
import heapq
import zlib
from datetime import datetime
from typing import TYPE_CHECKING, Any

import orjson

from crawler.base.item import CUT_FIELDS
from crawler.frontier.keys import as_text
from crawler.frontier.scripts import run_text

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Iterable, Mapping

    from crawler.frontier.keys import Keys

MAX_ITEMS = 200  # most items of a site that are kept: some screens full
KEPT_SECONDS = 31 * 86_400  # how long items are kept after the last one of any site
MAX_WHOLE_BYTES = 32_768  # the longest item, as JSON, that is kept whole; a larger one is cut
MAX_TEXT_CHARACTERS = 4_000  # how much stays of each text of an item that is cut
# The most that an item may unpack to: what is read from Redis isn't trusted to be what was written.
MAX_UNPACKED_BYTES = 262_144
READ_AT_ONCE = 200  # most items that are unpacked at once, which takes some 5 ms
# Adds items of a site. KEYS: the hash of packed items, that of the sites' sizes, the site's order; ARGV: the beginning
# of all orders' keys, the site, the most items of a site, the most bytes of all, for how long they are kept, in s; then
# id, time in ms and the packed item, of each. When Redis is full, it is refused as other writes are: nothing is lost.
# All orders expire with the items or later: one that went before would leave items behind of which nobody knows.
ADD = """#!lua
local packed, sizes, orders, site = KEYS[1], KEYS[2], ARGV[1], ARGV[2]
local most, bytes_max, kept_s, day_s = tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[5]), 86400
local size_of, total = {}, 0 -- of each site's items, and of all
local flat = redis.call('HGETALL', sizes)
for i = 1, #flat, 2 do
  size_of[flat[i]] = tonumber(flat[i + 1]) or 0
  total = total + size_of[flat[i]]
end
local changed = {}
local function resize(of, by)
  size_of[of], total, changed[of] = (size_of[of] or 0) + by, total + by, true
end
local function drop_oldest(of)
  local id = redis.call('ZRANGE', orders .. of, 0, 0)[1]
  if id then
    redis.call('ZREM', orders .. of, id)
    resize(of, -#(redis.call('HGET', packed, id) or ''))
    redis.call('HDEL', packed, id)
  else
    total, size_of[of], changed[of] = total - size_of[of], nil, true
  end
end
for i = 6, #ARGV, 3 do
  local id, item = ARGV[i], ARGV[i + 2]
  resize(site, #item - #(redis.call('HGET', packed, id) or ''))
  redis.call('HSET', packed, id, item)
  redis.call('ZADD', KEYS[3], ARGV[i + 1], id)
end
while redis.call('ZCARD', KEYS[3]) > most do drop_oldest(site) end
while total > bytes_max do
  local largest, of = -1, nil
  for name, size in pairs(size_of) do
    if size > largest then largest, of = size, name end
  end
  if not of then break end
  drop_oldest(of)
end
for of in pairs(changed) do
  if size_of[of] then redis.call('HSET', sizes, of, string.format('%d', size_of[of]))
  else redis.call('HDEL', sizes, of) end
end
redis.call('EXPIRE', KEYS[3], kept_s)
if redis.call('PTTL', packed) < 1000 * (kept_s - day_s) then
  for of in pairs(size_of) do redis.call('EXPIRE', orders .. of, kept_s) end
  redis.call('EXPIRE', packed, kept_s)
end
redis.call('EXPIRE', sizes, kept_s)
"""


def pack(message: bytes) -> bytes:
    """Returns a message as it is kept: where it is large, its texts are cut, its lists and `extra` left out.

    The fields are those that `Item` marks with `MayBeCut`.

    Args:
        message: An item, as JSON.
    """
    if len(message) > MAX_WHOLE_BYTES:
        item = orjson.loads(message)
        whole = {name: item[name] for name in CUT_FIELDS if item[name]}
        cut = {
            name: value[:MAX_TEXT_CHARACTERS] if isinstance(value, str) else type(value)()
            for name, value in whole.items()
        }
        item |= cut
        item["truncated"] = sorted({*item["truncated"], *(name for name in whole if cut[name] != whole[name])})
        message = orjson.dumps(item)
    return zlib.compress(message, 1)


def add(client: Any, keys: Keys, site: str, messages: Iterable[bytes], *, bytes_max: int) -> None:
    """Adds items of a site. Takes a client or a pipeline.

    Args:
        messages: Items, as JSON.
        bytes_max: Of all sites' items together, packed.
    """
    words: list[Any] = []
    for message in messages:
        item = orjson.loads(message)
        time_ms = int(datetime.fromisoformat(item["time"]).timestamp() * 1000)
        words += [item["id"], time_ms, pack(message)]
    names = (keys.newest_items, keys.newest_item_sizes, keys.newest_item_order(site))
    bounds = (keys.newest_item_order(""), site, MAX_ITEMS, bytes_max, KEPT_SECONDS)
    run_text(client, ADD, names, *bounds, *words)


async def read(
    redis: Any, keys: Keys, *, site: str = "", until_ms: int | None = None
) -> AsyncGenerator[dict[str, Any], None]:
    """Yields items as JSON has them, the newest first; what isn't one is left out.

    Args:
        site: Of it alone; empty: of all sites.
        until_ms: None is newer, in ms since the epoch.
    """
    sites = [site] if site else sorted(as_text(name) for name in await redis.hkeys(keys.newest_item_sizes))
    async with redis.pipeline(transaction=False) as pipeline:
        for name in sites:
            pipeline.zrevrange(keys.newest_item_order(name), 0, MAX_ITEMS - 1, withscores=True)
        orders = await pipeline.execute()
    newest = heapq.merge(*orders, key=lambda pair: -pair[1])
    ids = [identity for identity, time_ms in newest if until_ms is None or time_ms <= until_ms]
    for begin in range(0, len(ids), READ_AT_ONCE):
        for packed in await redis.hmget(keys.newest_items, ids[begin : begin + READ_AT_ONCE]):
            if item := _unpacked(packed):
                yield item
        await asyncio.sleep(0)  # others go on meanwhile


async def read_one(redis: Any, keys: Keys, identity: str) -> dict[str, Any] | None:
    """Returns the item with an id; None where it isn't kept."""
    return _unpacked(await redis.hget(keys.newest_items, identity))


def _unpacked(packed: bytes | None) -> dict[str, Any] | None:
    """Returns an item; None for none, and for junk."""
    if packed is None:
        return None
    try:
        reader = zlib.decompressobj()
        item = orjson.loads(reader.decompress(packed, MAX_UNPACKED_BYTES))
    except (zlib.error, ValueError):
        return None
    return item if _is_item(item) else None


def _is_item(item: Any) -> bool:
    texts: Mapping[str, Any] = item if isinstance(item, dict) else {}
    return all(isinstance(texts.get(name), str) for name in ("id", "time", "resource", "url"))
