"""How a host stands: how politely it is asked and why, its turns, its robots.txt, its answers, and why it waits."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from crawler import config
from crawler.base.events import Events
from crawler.base.text import one_line
from crawler.cli.output import quantity, shown_count
from crawler.cli.text_tables import print_pairs
from crawler.cluster.activity import COARSE_PERIODS
from crawler.frontier import scripts
from crawler.frontier.host_orders import parse as parse_order
from crawler.frontier.keys import TurnField, as_count, as_text, partition_of
from crawler.frontier.owners import owner_node
from crawler.robots.rules import group_for, robot_name
from crawler.robots.shared import SharedRobots
from crawler.telemetry import host_history

if TYPE_CHECKING:
    from collections.abc import Mapping

    from crawler.plans.operator import Operator

MAX_RULES = 200  # most rules of a robots.txt that are shown
ANSWERS_PERIODS = ("hour", "day")  # the steps of a month are half a megabyte, of hosts that are mostly others
MAX_SITES = 50  # most sites of a host that are shown
# Kind -> the sentence that says why a host isn't asked just now. What is in braces are the values.
WHY = {
    "paused": "An operator has paused it.",
    "none": "No seed of it is ready.",
    "unknown": "Nothing is known of it: no seed of it is ready, and it wasn't asked for anything of late.",
    "due": "Its first seed is due in {seconds} s.",
    "backoff": "It is asked nothing for {seconds} s, as it asked for or since it fails.",
    "robots": "Its robots.txt is unreachable, so its pages wait; that is asked for again in {seconds} s.",
    "taken": "All of its turns are taken: {taken} of {turns}, by {names}.",
    "delay": "Its next request may start in {seconds} s, a delay after the last one.",
    "free": "It can be claimed from now: {seeds} seeds wait for a worker that has room.",
}


@dataclass(frozen=True, slots=True)
class Why:
    """One reason why a host isn't asked just now.

    Attributes:
        kind: A key of `WHY`.
        values: What its sentence names.
    """

    kind: str
    values: Mapping[str, str | int]

    def __str__(self) -> str:
        return WHY[self.kind].format(**self.values)


@dataclass(frozen=True, slots=True)
class RobotsStatus:
    """What is known of one robots.txt.

    Attributes:
        authority: Scheme and host.
        state: `rules`, `none` (there is no file, so all is allowed) or `unreachable` (nothing may be fetched for now).
        failures: How often in a row it was unreachable.
        fresh_s: Seconds until it is asked for again.
        rules: Its lines for this crawler, at most MAX_RULES of them.
        rules_number: How many there are.
        crawl_delay_s: The delay in force that it asks for; 0: none.
    """

    authority: str
    state: str
    failures: int
    fresh_s: float
    rules: tuple[str, ...]
    rules_number: int
    crawl_delay_s: float


@dataclass(frozen=True, slots=True)
class HostStatus:
    """How a host stands.

    Attributes:
        at_ms: When, by its partition's clock, in ms since the epoch.
        delay_s: Seconds between two starts of a turn, the longest of what is asked for.
        delays: Who asks for which delay: `operator`, `robots.txt`, or `site NAME`.
        turns: How many it has.
        taken: Number of a turn -> the node that holds it.
        next_start_s: In how many seconds another turn can be acquired; 0: now.
        paused: An operator has paused it.
        backoff_s: For how many more seconds it is asked nothing; 0: it may be asked.
        error_level: How many failures it is behind; each doubles the backoff.
        ready: Frontier -> its ready seeds.
        due_s: Frontier -> in how many seconds the first of these is due, 0: now; missing where there is none.
        robots: Of each of its authorities that was asked.
        answers: Period -> what it answered at least; missing where it isn't among the busiest hosts.
    """

    host: str
    at_ms: int
    delay_s: float
    delays: dict[str, float]
    turns: int
    taken: dict[int, str]
    next_start_s: float
    paused: bool
    backoff_s: float
    error_level: int
    ready: dict[str, int]
    due_s: dict[str, float]
    robots: tuple[RobotsStatus, ...]
    answers: dict[str, dict[str, int]]

    @property
    def why(self) -> list[Why]:
        """Why it isn't asked just now, or that it could be."""
        reasons = []
        unreachable = [file for file in self.robots if file.state == "unreachable"]
        seeds, due_s = sum(self.ready.values()), min(self.due_s.values(), default=0.0)
        if self.paused:
            reasons.append(Why("paused", {}))
        if self.backoff_s:
            reasons.append(Why("backoff", {"seconds": _round(self.backoff_s)}))
        if unreachable:
            reasons.append(Why("robots", {"seconds": _round(min(file.fresh_s for file in unreachable))}))
        if not seeds:
            reasons.append(Why("none" if self._is_known else "unknown", {}))
        elif due_s:
            reasons.append(Why("due", {"seconds": _round(due_s)}))
        if len(self.taken) >= self.turns:
            names = ", ".join(sorted(set(self.taken.values())))
            reasons.append(Why("taken", {"taken": len(self.taken), "turns": self.turns, "names": names}))
        elif self.next_start_s and not self.paused and not self.backoff_s:
            reasons.append(Why("delay", {"seconds": _round(self.next_start_s)}))
        return reasons or [Why("free", {"seeds": seeds})]

    @property
    def _is_known(self) -> bool:
        """Whether there is more of it than a name, which may be misspelt."""
        return bool(self.robots or self.answers or self.delays or self.taken or self.paused or self.error_level)

    def as_json(self) -> dict[str, Any]:
        """Returns it as JSON values, the reasons as sentences."""
        taken = {str(number): node for number, node in self.taken.items()}
        return asdict(self) | {"taken": taken, "why": [str(reason) for reason in self.why]}


async def host_status(operator: Operator, settings: Mapping[str, Any], host: str) -> HostStatus:
    """Returns how a host stands; of one that nobody has heard of, that it has no seeds.

    Args:
        settings: Name this crawler in robots.txt.
        host: As `crawler.base.urls.host` returns it.
    """
    keys = operator.keys.partition(partition_of(host, operator.partitions))
    answer = await scripts.run(operator.redis, "look_at_host", keys.script_keys("nav"), [host])
    now_ms, delay_ms, turns, _free, next_ms, flat, raw_order, *seeds = answer
    fields = {as_text(name): as_text(value) for name, value in zip(flat[::2], flat[1::2], strict=True)}
    order = parse_order(raw_order)
    robots = await _robots(operator, settings, host)
    ready = {"nav": int(seeds[0]), "content": int(seeds[2])}
    due_ms = {"nav": int(seeds[1]), "content": int(seeds[3])}
    taken = {
        int(name.removeprefix(TurnField.HOLDER)): owner_node(value.split(" ")[0])
        for name, value in fields.items()
        if name.startswith(TurnField.HOLDER)
    }
    return HostStatus(
        host=host,
        at_ms=now_ms,
        delay_s=delay_ms / 1000,
        delays=await _delays(operator, keys.politeness, fields, order.delay_s),
        turns=turns,
        taken=dict(sorted(taken.items())),
        next_start_s=_seconds(next_ms - now_ms),
        paused=order.paused,
        backoff_s=_seconds(_whole(fields.get(TurnField.BACKOFF_ENDS)) - now_ms),
        error_level=_whole(fields.get(TurnField.ERROR_LEVEL)),
        ready=ready,
        due_s={name: _seconds(due_ms[name] - now_ms) for name, number in ready.items() if number},
        robots=robots,
        answers=await _answers(operator, host, now_ms // 1000),
    )


async def _delays(operator: Operator, politeness: str, fields: Mapping[str, str], ordered_s: float) -> dict[str, float]:
    """Returns the delays that are asked for, by who asks, the longest first."""
    redis: Any = operator.redis
    delays = {"operator": ordered_s, "robots.txt": _whole(fields.get(TurnField.ROBOTS_DELAY)) / 1000}
    for site in fields.get(TurnField.SITES, "").split(",")[:MAX_SITES]:
        stored = await redis.hget(politeness, site) if site else None
        if stored:
            delays[f"site {site}"] = (as_count(stored.split(b" ")[0]) or 0) / 1000
    asked = ((who, delay_s) for who, delay_s in delays.items() if delay_s or who.startswith("site "))
    return dict(sorted(asked, key=lambda pair: -pair[1]))


async def _robots(operator: Operator, settings: Mapping[str, Any], host: str) -> tuple[RobotsStatus, ...]:
    """Returns what is known of the host's robots.txt files; no time limit of theirs is this machine's."""
    agent = robot_name(settings)
    max_delay_s = config.ROBOTS_MAX_CRAWL_DELAY_SECONDS.of(settings)
    shared = SharedRobots(operator.redis, operator.keys, operator.partitions, Events())
    files = []
    for authority in (f"https://{host}", f"http://{host}"):
        file = await shared.read(authority)
        if file is not None:
            group = group_for(file.text, agent)
            lines = group.lines()
            files.append(
                RobotsStatus(
                    authority=authority,
                    state=file.state,
                    failures=file.failures,
                    fresh_s=max(0.0, round(file.fresh_s, 1)),
                    rules=tuple(lines[:MAX_RULES]),
                    rules_number=len(lines),
                    crawl_delay_s=min(group.crawl_delay_s, max_delay_s),
                )
            )
    return tuple(files)


async def _answers(operator: Operator, host: str, now_s: int) -> dict[str, dict[str, int]]:
    by_period = {}
    for period in ANSWERS_PERIODS:
        resolution, seconds = COARSE_PERIODS[period]
        counts = await host_history.read_one(
            operator.redis, operator.keys, host, resolution, last_s=now_s, seconds=seconds
        )
        if counts:
            by_period[period] = dict(counts._asdict())
    return by_period


def _seconds(milliseconds: float) -> float:
    return max(0.0, round(milliseconds / 1000, 1))


def _round(seconds: float) -> int:
    """Returns whole seconds, at least one: who reads 0 looks for another reason."""
    return max(1, round(seconds))


def _whole(text: str | None) -> int:
    """Returns a number that Redis holds; 0 for junk and for none."""
    try:
        return int(float(text or 0))
    except (ValueError, OverflowError):
        return 0


def print_host(status: HostStatus) -> None:
    """Prints how a host stands."""
    print(one_line(status.host))
    asked = ", ".join(f"{who} {delay_s:g} s" for who, delay_s in status.delays.items())
    nodes = ", ".join(sorted(set(status.taken.values())))
    pairs = [
        ("why", "\n".join(map(str, status.why))),
        ("delay", f"{status.delay_s:g} s" + (f": {asked}" if asked else "")),
        ("turns", f"{len(status.taken)} of {status.turns} taken" + (f", by {nodes}" if nodes else "")),
        ("ready seeds", ", ".join(f"{number:,} {name}" for name, number in status.ready.items())),
    ]
    pairs += [(robots.authority, "\n".join((_robots_words(robots), *robots.rules))) for robots in status.robots]
    for period, counts in status.answers.items():
        size = shown_count("bytes", counts["bytes"])
        pairs.append(
            (f"last {period}", f"{quantity(counts['pages'], 'answer')}, {counts['errors']:,} of them errors, {size}")
        )
    print_pairs(pairs)


def _robots_words(robots: RobotsStatus) -> str:
    if robots.state == "unreachable":
        return f"robots.txt unreachable {robots.failures} times in a row; asked for again in {robots.fresh_s:,.0f} s"
    if robots.state == "none":
        return "no robots.txt: all is allowed"
    more = f", the first {MAX_RULES}" if robots.rules_number > MAX_RULES else ""
    return f"robots.txt has {quantity(robots.rules_number, 'line')} for this crawler{more}"
