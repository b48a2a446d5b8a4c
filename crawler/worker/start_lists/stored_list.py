"""One start list in Redis: its next entries, taking entries out, and the hash of those that were refused.

Anybody may push anything, and Redis stores values of 512 MB. So entries are read by a script, which sends of one that
is too long only the beginning. That is enough to refuse it, not to take it out, which is done by value. So a later
reading takes it out when it meets it again: in a list or a sorted set that is the next one, since it stands at the
head; in a set, of which entries are drawn, one that draws it.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any, NamedTuple

from crawler.frontier.keys import as_text
from crawler.worker.start_list import MAX_ENTRY_BYTES, StartEntryError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from redis.asyncio import Redis

    from crawler.worker.start_list import StartList

READ_ENTRIES = 100  # most entries of one reading, which are one offer and one removal; they stand at their list's head
READ_BYTES = 1 << 20  # after how many bytes a reading ends; entries that are URLs have some 10 kB together
# How far from the head an entry to be removed is searched: new ones come before it or behind all.
SEARCHED_ENTRIES = 10_000
MAX_REFUSED = 10_000  # most refused entries of a list that are kept with a reason; somebody must look at them by then
KEPT_BYTES = 8_192  # the most that is kept of each: as long as the longest URL, and 80 MB for all at most
# How much of a longer one's SHA-256 is kept behind its beginning; equal SHA-1s could be made on purpose.
DIGEST_DIGITS = 32
# Most cut entries of a set that are remembered until they are drawn again; others are kept once more.
MAX_MAY_GO = 1_000
TYPES = ("list", "set", "zset")
# KEYS: the list. ARGV: its type; READ_ENTRIES; READ_BYTES; MAX_ENTRY_BYTES; then the SHA-1 of the beginnings of entries
# that are too long and may be taken out. Returns those SHA-1 whose entry it took out, and the next entries in
# scrapy-redis's order; one that is too long is cut to a byte more than MAX_ENTRY_BYTES. Entries are looked at one by
# one, so that one of them at most is in memory whole. What this user couldn't take out later isn't read: it would be
# offered again and again.
READ = """#!lua flags=allow-oom
local list, type = KEYS[1], ARGV[1]
local entries_left, bytes_left, longest = tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])
local remove = ({ list = { 'LREM', list, '1', '' }, set = { 'SREM', list, '' }, zset = { 'ZREM', list, '' } })[type]
local find = { 'LPOS', list, '' } -- of REMOVE_FROM_LIST: here only the right to it is asked for
if not redis.acl_check_cmd(unpack(remove)) or type == 'list' and not redis.acl_check_cmd(unpack(find)) then
  return redis.error_reply('NOPERM its user may not take entries out')
end
local may_go = {}
for number = 5, #ARGV do may_go[ARGV[number]] = true end
local taken_out, next_entries, was_drawn, index = {}, {}, {}, 0
while entries_left > 0 and bytes_left > 0 do
  local entry
  if type == 'list' then entry = redis.call('LINDEX', list, index)
  elseif type == 'set' then entry = redis.call('SRANDMEMBER', list)
  else entry = redis.call('ZREVRANGE', list, index, index)[1] end
  if not entry then break end
  entries_left, bytes_left = entries_left - 1, bytes_left - #entry
  local cut = string.sub(entry, 1, longest + 1)
  local digest = #cut > longest and redis.sha1hex(cut)
  if may_go[digest] then
    remove[#remove] = entry
    redis.call(unpack(remove))
    taken_out[#taken_out + 1] = digest
  else
    index = index + 1
    if type ~= 'set' or not was_drawn[cut] then next_entries[#next_entries + 1] = cut end
    was_drawn[cut] = true
  end
end
return { taken_out, next_entries }
"""
# KEYS: a list. ARGV: SEARCHED_ENTRIES, then entries. Removes each once; one that stands deeper, or that somebody else
# has removed, is left alone: without a limit each of those would be searched through the whole list.
REMOVE_FROM_LIST = """#!lua flags=allow-oom
for number = 2, #ARGV do
  if redis.call('LPOS', KEYS[1], ARGV[number], 'MAXLEN', ARGV[1]) then redis.call('LREM', KEYS[1], 1, ARGV[number]) end
end
"""


class NextEntries(NamedTuple):
    """What a reading of a list found.

    Attributes:
        entries: The next ones; they stay in the list. Of one that is too long, a byte more than it may have.
        taken_out: How many left the list that are too long, and whose beginning was kept before.
    """

    entries: list[bytes]
    taken_out: int


class StoredList:
    """A start list in Redis."""

    def __init__(self, start_list: StartList, redis: Redis) -> None:
        self._key = start_list.key
        self._refused_key = start_list.refused_key
        self._redis: Any = redis  # redis-py's types allow text in answers; they are bytes
        self._may_go: dict[str, None] = {}  # SHA-1 of cut entries that were kept; the latest last

    async def read(self) -> NextEntries:
        """Returns the entries that are next.

        Raises:
            StartEntryError: The key holds something else than a list, a set or a sorted set.
        """
        redis_type = as_text(await self._redis.type(self._key))
        if redis_type == "none":
            return NextEntries([], 0)
        if redis_type not in TYPES:
            raise StartEntryError(f"expected a list, a set or a sorted set in Redis, which holds a {redis_type}")
        limits = (READ_ENTRIES, READ_BYTES, MAX_ENTRY_BYTES)
        taken_out, entries = await self._redis.eval(READ, 1, self._key, redis_type, *limits, *self._may_go)
        for digest in taken_out:
            self._may_go.pop(as_text(digest), None)  # should it be pushed again, it is kept again
        return NextEntries(entries, len(taken_out))

    async def remove(self, entries: Iterable[bytes]) -> None:
        """Takes entries out, by their values. One that was put there anew meanwhile is the same page."""
        whole = [entry for entry in entries if not is_cut(entry)]
        if not whole:
            return
        redis_type = as_text(await self._redis.type(self._key))
        if redis_type == "list":
            await self._redis.eval(REMOVE_FROM_LIST, 1, self._key, SEARCHED_ENTRIES, *whole)
        elif redis_type == "set":
            await self._redis.srem(self._key, *whole)
        elif redis_type == "zset":
            await self._redis.zrem(self._key, *whole)

    async def keep(self, refused: Mapping[bytes, str]) -> list[bytes]:
        """Writes refused entries down, each with the reason, as far as there is room; returns those.

        They may leave the list from now on: what is cut by later readings, the others by `remove`.
        """
        if not refused:
            return []
        room = max(0, MAX_REFUSED - await self._redis.hlen(self._refused_key))
        fitting = list(refused)[:room]
        if fitting:
            await self._redis.hset(self._refused_key, mapping={field_of(entry): refused[entry] for entry in fitting})
        self._may_go |= {hashlib.sha1(entry).hexdigest(): None for entry in fitting if is_cut(entry)}  # noqa: S324 -- Redis's scripts have no other digest
        for digest in list(self._may_go)[:-MAX_MAY_GO]:
            del self._may_go[digest]
        return fitting


def field_of(entry: bytes) -> bytes:
    """Returns a refused entry's field: all of it; or its beginning, with a digest that tells it from others."""
    if len(entry) <= KEPT_BYTES:
        return entry
    return b"%b... (SHA-256 %b)" % (entry[:KEPT_BYTES], hashlib.sha256(entry).hexdigest()[:DIGEST_DIGITS].encode())


def is_cut(entry: bytes) -> bool:
    """Returns whether a reading has cut an entry, since it is too long."""
    return len(entry) > MAX_ENTRY_BYTES
