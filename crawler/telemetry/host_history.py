"""What the busiest hosts answered over time, in the history's coarse steps, each of which keeps some.

A step keeps the `MAX_HOSTS` hosts with the most answers, as they are when somebody adds to it. A host that drops out
takes its count with it, so counts are at least that much, and sure for hosts that are busy all the time. In Redis a
step is a text of some 4 kB, since a hash would cost it ten times the time, and there are some 250 of them: 2 MB at
most, however many hosts there are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from crawler.frontier.keys import as_count, as_text
from crawler.frontier.scripts import run_text
from crawler.telemetry.history import COARSE

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from crawler.frontier.keys import Keys
    from crawler.telemetry.history import Resolution

MAX_HOSTS = 100  # most hosts in one step: more than a screen shows
# Adds answers, bytes and errors of hosts to each step. ARGV: for how long each is kept, in s; the most hosts of one;
# then host, answers, bytes and errors of each.
ADD = """#!lua flags=allow-oom
local hosts_max, first = tonumber(ARGV[#KEYS + 1]), #KEYS + 2
for step, key in ipairs(KEYS) do
  local counts, hosts = {}, {}
  local function add(host, answers, bytes, errors)
    local count = counts[host]
    if not count then
      count = { 0, 0, 0 }
      counts[host], hosts[#hosts + 1] = count, host
    end
    count[1], count[2], count[3] = count[1] + answers, count[2] + bytes, count[3] + errors
  end
  for host, answers, bytes, errors in string.gmatch(redis.call('GET', key) or '', '([^ \\n]+) (%d+) (%d+) (%d+)\\n') do
    add(host, tonumber(answers), tonumber(bytes), tonumber(errors))
  end
  for i = first, #ARGV, 4 do add(ARGV[i], tonumber(ARGV[i + 1]), tonumber(ARGV[i + 2]), tonumber(ARGV[i + 3])) end
  table.sort(hosts, function(one, other)
    local more, fewer = counts[one][1], counts[other][1]
    return more > fewer or more == fewer and one < other
  end)
  local lines = {}
  for place = 1, math.min(#hosts, hosts_max) do
    local count = counts[hosts[place]]
    lines[place] = string.format('%s %.0f %.0f %.0f\\n', hosts[place], count[1], count[2], count[3])
  end
  redis.call('SET', key, table.concat(lines), 'EX', ARGV[step])
end
"""


class HostCounts(NamedTuple):
    """What a host answered.

    Attributes:
        pages: Answers, of whatever status.
        bytes: Of these answers, as they came.
        errors: Answers of status 400 and above.
    """

    pages: int
    bytes: int
    errors: int

    def __add__(self, other: object) -> HostCounts:
        """Returns the sums."""
        if not isinstance(other, HostCounts):
            return NotImplemented
        return HostCounts(self.pages + other.pages, self.bytes + other.bytes, self.errors + other.errors)


NOTHING = HostCounts(0, 0, 0)


def busiest(hosts: Mapping[str, HostCounts], number: int = MAX_HOSTS) -> dict[str, HostCounts]:
    """Returns the hosts with the most answers, the busiest first."""
    return dict(sorted(hosts.items(), key=lambda pair: (-pair[1].pages, pair[0]))[:number])


def add(client: Any, keys: Keys, now_s: int, hosts: Mapping[str, HostCounts]) -> None:
    """Adds counts to the steps of this moment, also when Redis is full. Takes a client or a pipeline.

    Args:
        now_s: By the partitions' clocks.
        hosts: Some hundred at most, for the time that Redis takes: `busiest`.
    """
    names = [keys.host_history(step.seconds, step.begin(now_s)) for step in COARSE]
    lifetimes_s = [step.kept_seconds + step.seconds for step in COARSE]
    words = [word for host, counts in hosts.items() for word in (host, *counts)]
    run_text(client, ADD, names, *lifetimes_s, MAX_HOSTS, *words)


async def read(redis: Any, keys: Keys, resolution: Resolution, *, last_s: int, seconds: int) -> dict[str, HostCounts]:
    """Returns the busiest hosts of a period, the busiest first, and what they answered at least.

    Args:
        last_s: A moment within the last step, by Redis's clock.
        seconds: How long the period is; the first step may have begun a little before it.
    """
    sums: dict[str, HostCounts] = {}
    for step in await _steps(redis, keys, resolution, last_s, seconds):
        for line in step.splitlines():
            name, _, words = line.partition(b" ")
            if counts := _counts(words):
                host = as_text(name)
                sums[host] = sums.get(host, NOTHING) + counts
    return busiest(sums)


async def read_one(
    redis: Any, keys: Keys, host: str, resolution: Resolution, *, last_s: int, seconds: int
) -> HostCounts | None:
    """Returns what one host answered in a period at least; None where it is in none of its steps.

    It costs a tenth of what `read` does; arguments are as there.
    """
    counts_here: HostCounts | None = None
    beginning = b"\n%b " % host.encode()
    for step in await _steps(redis, keys, resolution, last_s, seconds):
        _before, mark, rest = (b"\n" + step).partition(beginning)
        if mark and (counts := _counts(rest.partition(b"\n")[0])):
            counts_here = (counts_here or NOTHING) + counts
    return counts_here


async def _steps(redis: Any, keys: Keys, resolution: Resolution, last_s: int, seconds: int) -> list[bytes]:
    """Returns the texts of a period's steps, without those that aren't there."""
    async with redis.pipeline(transaction=False) as pipeline:
        for begin in resolution.begins(last_s, seconds):
            pipeline.get(keys.host_history(resolution.seconds, begin))
        steps: Sequence[bytes | None] = await pipeline.execute()
    return [step for step in steps if step]


def _counts(words: bytes) -> HostCounts | None:
    """Returns the counts of a line; None for junk."""
    numbers = [as_count(word) for word in words.split(b" ")]
    if len(numbers) != len(NOTHING) or None in numbers:
        return None
    return HostCounts(*(number or 0 for number in numbers))
