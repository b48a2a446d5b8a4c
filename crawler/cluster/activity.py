"""What the crawl did of late, for all who show it: by period, per second now, and step by step."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from crawler.telemetry import history
from crawler.telemetry.history import DAY, HOUR

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Mapping

    from crawler.plans.operator import Operator
    from crawler.telemetry.history import Resolution

# Period -> its resolution in the history, and its seconds.
PERIODS = {
    "hour": (history.RESOLUTIONS[0], HOUR),
    "day": (history.RESOLUTIONS[1], DAY),
    "month": (history.RESOLUTIONS[2], 30 * DAY),
}
# The same of what is counted by site and by host: half a dozen hours more, where its steps are so long.
COARSE_PERIODS = {
    "hour": (history.COARSE[0], HOUR),
    "day": (history.COARSE[1], DAY),
    "month": (history.COARSE[1], 30 * DAY),
}
NOW_SECONDS = 180  # what "now" is an average of: workers tell every few seconds, and the last step has just begun
TOTALS = ("pages", "items", "bytes")
SETTLED = ("finished", "failed")  # how a seed ends
OF_SITES = (
    *SETTLED,
    "content",
    "items",
)  # what is counted by site; `content`: pages of data
Steps = list[tuple[int, dict[str, int]]]  # the beginning of each in s since the epoch, and its counts; the oldest first


def sum_of(steps: Iterable[tuple[int, Mapping[str, int]]]) -> Counter[str]:
    """Returns the counts of all steps together."""
    totals: Counter[str] = Counter()
    for _begin, counts in steps:
        totals.update(counts)
    return totals


def _per_second(steps: Steps, now_s: int, name: str) -> float:
    """Returns the mean of a count over steps, at least one, the last of which hasn't ended."""
    elapsed_s = max(1, now_s - steps[0][0])
    return round(sum(counts.get(name, 0) for _begin, counts in steps) / elapsed_s, 2)


def per_second_now(steps: Steps, now_s: int) -> dict[str, float]:
    """Returns the `TOTALS` per second now, of all who show them alike: over the late ones of some steps.

    Args:
        steps: Those of a minute each, at least of the last `NOW_SECONDS`; 0 where there are none.
    """
    late = [step for step in steps if step[0] > now_s - NOW_SECONDS]
    return {name: _per_second(late, now_s, name) if late else 0.0 for name in TOTALS}


def family(totals: Mapping[str, int], beginning: str) -> dict[str, int]:
    """Returns the counts whose names begin so, the largest first, by what follows in the name."""
    numbers = {name.removeprefix(beginning): number for name, number in totals.items() if name.startswith(beginning)}
    return dict(sorted(numbers.items(), key=lambda pair: (-pair[1], pair[0])))


def of_sites(totals: Mapping[str, int]) -> dict[str, dict[str, int]]:
    """Returns what is counted by site, by the names in OF_SITES, the busiest site first."""
    sites: dict[str, dict[str, int]] = {}
    for name, number in family(totals, history.BY_SITE).items():
        site, _, word = name.rpartition(":")
        if word in OF_SITES:
            sites.setdefault(site, dict.fromkeys(OF_SITES, 0))[word] = number
    return sites


class InVain(NamedTuple):
    """What was done for a site since it last brought something.

    Attributes:
        number: How much of it.
        since_s: When the first of that was, in s since the epoch, as exactly as steps are long.
    """

    number: int
    since_s: int


def tries_in_vain(steps: Steps) -> dict[str, InVain]:
    """Returns by site how many tries have failed since it last finished a seed, be they repeated or not."""
    return _in_vain(steps, {"failed", "retried"}, until="finished")


def pages_in_vain(steps: Steps) -> dict[str, InVain]:
    """Returns by site how many content pages have ended since one last brought an item."""
    return _in_vain(steps, {"content"}, until="items")


def _in_vain(steps: Steps, counted: Container[str], until: str) -> dict[str, InVain]:
    """Returns by site what was counted since it last had something else, as far as steps reach back."""
    in_vain: dict[str, InVain] = {}
    served: set[str] = set()
    for begin, counts in reversed(steps):
        by_site = family(counts, history.BY_SITE)
        served |= {name.removesuffix(f":{until}") for name in by_site if name.endswith(f":{until}")}
        for name, number in by_site.items():
            site, _, word = name.rpartition(":")
            if site not in served and word in counted:
                in_vain[site] = InVain(number + (in_vain[site].number if site in in_vain else 0), begin)
    return in_vain


class Activity:
    """The steps of all periods, for who looks again and again: a step that has ended is read once.

    Of the last hour all counts are kept, of longer periods the `TOTALS` alone: so it stays below some 15 MB.
    """

    def __init__(self) -> None:
        self.now_s = 0
        self._steps: dict[str, dict[int, dict[str, int]]] = {period: {} for period in PERIODS}

    async def refresh(self, operator: Operator, now_s: int) -> None:
        """Reads what may have changed.

        Args:
            now_s: By Redis's clock.

        Raises:
            redis.exceptions.RedisError: Redis is away; what was read before stays.
        """
        for period, (resolution, seconds) in PERIODS.items():
            read_before = self._steps[period]
            since_s = now_s - max(read_before) if read_before else seconds
            read = await _read(operator, resolution, now_s, min(seconds, max(0, since_s)))
            if period != "hour":
                read = [(begin, {name: counts[name] for name in TOTALS if name in counts}) for begin, counts in read]
            oldest = resolution.begins(now_s, seconds)[0]
            steps = {begin: counts for begin, counts in read_before.items() if begin >= oldest} | dict(read)
            self._steps[period] = dict(sorted(steps.items()))
        self.now_s = now_s

    def steps(self, period: str) -> Steps:
        """Returns the steps of a period that were read, the oldest first; empty before the first reading."""
        return [*self._steps[period].items()]

    def per_second(self) -> dict[str, float]:
        """Returns the `TOTALS` per second now; 0 before the first reading."""
        return per_second_now(self.steps("hour"), self.now_s)


async def _read(operator: Operator, resolution: Resolution, now_s: int, seconds: int) -> Steps:
    return await history.read(operator.redis, operator.keys, resolution, last_s=now_s, seconds=seconds)
