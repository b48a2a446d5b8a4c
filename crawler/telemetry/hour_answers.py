"""What came back in each hour: requests and how they were answered, by status, host, plan and node.

An hour has a text for each of these, with a line for each name: some 25 kB where all four are full, 4 MB for a week.
It keeps the `MAX_NAMES` names with the most requests, as they are when somebody adds to it, and sums the rest as
`OTHERS`: so every text of an hour adds up to the same, while the line of a host that comes and goes says at least so
much. A hash, in which one name is changed at a time, took Redis three times the memory.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, NamedTuple, get_args

from crawler.frontier.keys import as_count, as_text
from crawler.frontier.scripts import run_text
from crawler.telemetry.history import HOUR

if TYPE_CHECKING:
    from collections.abc import Mapping

    from crawler.frontier.keys import Keys

By = Literal["status", "host", "plan", "node"]
BY: tuple[By, ...] = get_args(By)
MAX_NAMES = 200  # most names of each kind in one hour: more than anybody reads
OTHERS = "(others)"  # no host, plan or node is called so
# Adds counts to the texts of an hour. ARGV: for how long they are kept, in s; the most names of one text; the name of
# the rest; then for each text: how many names follow, and each of them with its numbers, parted by blanks.
ADD = """#!lua flags=allow-oom
local names_max, others, at = tonumber(ARGV[2]), ARGV[3], 4
local PATTERN = '^(%d+)' .. string.rep(' (%d+)', 11) .. '$'
local FORMAT = '%.0f' .. string.rep(' %.0f', 11)
for _, key in ipairs(KEYS) do
  -- By name: what is stored; and the numbers of those that this call changes.
  local texts, names, changed = {}, {}, {}
  local function add(name, text)
    local added, numbers = { string.match(text, PATTERN) }, changed[name]
    if not numbers then
      if not texts[name] and name ~= others then names[#names + 1] = name end
      numbers = { string.match(texts[name] or '', PATTERN) }
      texts[name], changed[name] = text, numbers
    end
    for place = 1, 12 do numbers[place] = (numbers[place] or 0) + (added[place] or 0) end -- junk counts nothing
  end
  for name, text in string.gmatch(redis.call('GET', key) or '', '([^ \\n]+) ([%d ]+)\\n') do
    if not texts[name] and name ~= others then names[#names + 1] = name end
    texts[name] = text
  end
  for _ = 1, tonumber(ARGV[at]) do
    add(ARGV[at + 1], ARGV[at + 2])
    at = at + 2
  end
  at = at + 1
  for name, numbers in pairs(changed) do texts[name] = string.format(FORMAT, unpack(numbers)) end
  if #names > names_max then
    local requests = {}
    for _, name in ipairs(names) do requests[name] = tonumber(string.match(texts[name], '%d+')) or 0 end
    table.sort(names, function(one, other)
      local more, fewer = requests[one], requests[other]
      return more > fewer or more == fewer and one < other
    end)
    for place = names_max + 1, #names do
      add(others, texts[names[place]])
      names[place] = nil
    end
    texts[others] = string.format(FORMAT, unpack(changed[others]))
  end
  if texts[others] then names[#names + 1] = others end
  local lines = {}
  for place, name in ipairs(names) do lines[place] = name .. ' ' .. texts[name] .. '\\n' end
  redis.call('SET', key, table.concat(lines), 'EX', ARGV[1])
end
"""


class AnswerCounts(NamedTuple):
    """What came back.

    Attributes:
        requests: That were sent, also for robots.txt, media and further pages.
        ok: Answers of status 200 to 299.
        redirects: Answers of status 300 to 399.
        refused: Answers of status 400 to 499.
        errors: Answers of status 500 and above.
        timeouts: Requests without an answer in their time.
        lost: Requests without a whole answer for another reason, such as a name that isn't known, or a broken one.
        too_many_redirects: Pages that failed since they redirect further and further.
        bytes_in: Of answers, with their heads, as they came.
        bytes_out: Of requests, likewise.
        answer_ms: How long answers took to begin, all together.
        delay_ms: The pauses that hosts were given between two requests, all together.
    """

    requests: int = 0
    ok: int = 0
    redirects: int = 0
    refused: int = 0
    errors: int = 0
    timeouts: int = 0
    lost: int = 0
    too_many_redirects: int = 0
    bytes_in: int = 0
    bytes_out: int = 0
    answer_ms: int = 0
    delay_ms: int = 0

    def __add__(self, other: object) -> AnswerCounts:
        """Returns the sums."""
        if not isinstance(other, AnswerCounts):
            return NotImplemented
        return AnswerCounts(*map(sum, zip(self, other, strict=True)))

    @property
    def answers(self) -> int:
        """Answers, of whatever status."""
        return self.ok + self.redirects + self.refused + self.errors


NOTHING = AnswerCounts()


def busiest(counts: Mapping[str, AnswerCounts], names_max: int = MAX_NAMES) -> dict[str, AnswerCounts]:
    """Returns the names with the most requests, the busiest first, then `OTHERS` with the sum of the rest, if any."""
    own = [(name, number) for name, number in counts.items() if name != OTHERS]
    own.sort(key=lambda pair: (-pair[1].requests, pair[0]))
    rest = sum((number for _name, number in own[names_max:]), counts.get(OTHERS, NOTHING))
    return dict(own[:names_max]) | ({OTHERS: rest} if any(rest) else {})


def add(client: Any, keys: Keys, now_s: int, counts: Mapping[By, Mapping[str, AnswerCounts]], kept_s: int) -> None:
    """Adds counts to this hour, also when Redis is full. Takes a client or a pipeline.

    Args:
        now_s: By the partitions' clocks.
        counts: Some dozens of each kind at most, for the time that Redis takes: `busiest`.
        kept_s: How long the hour is kept.
    """
    words: list[Any] = []
    for names in counts.values():
        words.append(len(names))
        words += (word for name, numbers in names.items() for word in (name, " ".join(map(str, numbers))))
    places = [keys.hour_answers(by, now_s // HOUR * HOUR) for by in counts]
    run_text(client, ADD, places, kept_s + HOUR, MAX_NAMES, OTHERS, *words)


async def read(redis: Any, keys: Keys, by: By, hour_s: int) -> dict[str, AnswerCounts]:
    """Returns what came back in an hour, the busiest first; empty where nothing did, or it isn't kept any more.

    Args:
        hour_s: When the hour begins, in s since the epoch.
    """
    counts: dict[str, AnswerCounts] = {}
    for line in (await redis.get(keys.hour_answers(by, hour_s)) or b"").splitlines():
        name, _, words = line.partition(b" ")
        numbers = [as_count(word) for word in words.split(b" ")]
        if len(numbers) == len(NOTHING) and None not in numbers:
            read_counts = AnswerCounts(*(number or 0 for number in numbers))
            counts[as_text(name)] = counts.get(as_text(name), NOTHING) + read_counts
    return busiest(counts)
