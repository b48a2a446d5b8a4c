"""What all workers together did over time: counts in steps of a minute for hours, of two hours for a month, and in all.

What is counted by site has hundreds of names, where sites are many: beyond the last hours it stands in steps of six
hours alone, which take some 3 MB of Redis with 200 sites. In steps as short as those of the rest it took 18.

Workers add to them as often as they renew their sessions. The counts are for people to look at and lag behind by some
seconds: a worker that is killed takes what it hadn't told yet with it, and an answer that is lost on its way may have
it tell once more. What must add up is the ledger's.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from crawler.frontier.keys import as_count, as_text
from crawler.frontier.scripts import run_text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from crawler.frontier.keys import Keys

MAX_NAMES = 2_000  # most names in one step, in some 150 kB: reasons and statuses are few, sites may be many
BY_SITE = "site:"  # the beginning of the names of what is counted by site
# Adds counts to each step, and to the sums of all time. ARGV: for how long each is kept, in s, 0 for ever; the most
# names that each holds; then the counts, by name and number.
ADD = """#!lua flags=allow-oom
for step, key in ipairs(KEYS) do
  local is_full = redis.call('HLEN', key) >= tonumber(ARGV[#KEYS + 1])
  for at = #KEYS + 2, #ARGV, 2 do
    if not is_full or redis.call('HGET', key, ARGV[at]) then
      redis.call('HINCRBY', key, ARGV[at], ARGV[at + 1])
    end
  end
  if ARGV[step] ~= '0' then redis.call('EXPIRE', key, ARGV[step]) end
end
"""


class Resolution(NamedTuple):
    """How long a step is.

    Attributes:
        seconds: The length of one step.
        kept_seconds: After which its counts are dropped.
    """

    seconds: int
    kept_seconds: int

    def begin(self, at_s: int) -> int:
        """Returns when the step of a moment begins."""
        return at_s // self.seconds * self.seconds

    def begins(self, last_s: int, seconds: int) -> range:
        """Returns when the steps of a period begin, as `read` is asked for it."""
        first = self.begin(last_s - min(seconds, self.kept_seconds))
        return range(first, self.begin(last_s) + 1, self.seconds)


HOUR, DAY = 3_600, 86_400
# Each has some 100 to 400 steps: as many as a line on a screen has room for.
RESOLUTIONS = (Resolution(60, 2 * HOUR), Resolution(600, 2 * DAY), Resolution(2 * HOUR, 31 * DAY))
# The steps of what has many names, such as sites and hosts: people look at its shares in a period, not at how they rise
# and fall.
COARSE = (RESOLUTIONS[0], Resolution(6 * HOUR, 31 * DAY))


def add(client: Any, keys: Keys, now_s: int, counts: Mapping[str, int]) -> None:
    """Adds counts to the steps of this moment and to the totals, also when Redis is full. Takes a client or a pipeline.

    Args:
        now_s: By the partitions' clocks.
        counts: By name, such as `pages`, `status:200` or `site:city_news:finished`.
    """
    by_site = {name: number for name, number in counts.items() if name.startswith(BY_SITE)}
    all_else = {name: number for name, number in counts.items() if name not in by_site}
    for resolutions, added in ((RESOLUTIONS, all_else), (COARSE, by_site)):
        if added:
            names = [keys.history(step.seconds, step.begin(now_s)) for step in resolutions]
            lifetimes_s = [step.kept_seconds + step.seconds for step in resolutions]
            words = [word for pair in added.items() for word in pair]
            run_text(client, ADD, [*names, keys.totals], *lifetimes_s, 0, MAX_NAMES, *words)


async def totals(redis: Any, keys: Keys) -> dict[str, int]:
    """Returns what all workers ever did, by the names of the counts. None ever falls, but in a Redis that lost data."""
    return _counts(await redis.hgetall(keys.totals))


async def read(
    redis: Any, keys: Keys, resolution: Resolution, *, last_s: int, seconds: int
) -> list[tuple[int, dict[str, int]]]:
    """Returns the steps of a period, the oldest first: each with its beginning, in s since the epoch, and its counts.

    What is counted by site is in those of `COARSE`, all else in those of `RESOLUTIONS`.

    Args:
        last_s: A moment within the last step, by Redis's clock.
        seconds: How long the period is; the first step may have begun a little before it.
    """
    begins = resolution.begins(last_s, seconds)
    async with redis.pipeline(transaction=False) as pipeline:
        for begin in begins:
            pipeline.hgetall(keys.history(resolution.seconds, begin))
        answers = await pipeline.execute()
    return [(begin, _counts(answer)) for begin, answer in zip(begins, answers, strict=True)]


def _counts(raw: Mapping[bytes, bytes]) -> dict[str, int]:
    """Returns counts by name; junk is left out."""
    read_counts = ((as_text(name), as_count(number)) for name, number in raw.items())
    return {name: number for name, number in read_counts if number is not None}
