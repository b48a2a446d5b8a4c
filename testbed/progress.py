"""How far a demo is: the frontier's ledger, and the items in the files as they grow."""

from __future__ import annotations

import time
from collections import Counter, deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import orjson

from crawler import text
from crawler.frontier import ledger
from crawler.frontier.ledger import FRONTIERS, Account

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from redis.asyncio import Redis

    from crawler.frontier.keys import Keys
    from crawler.models import Frontier

RATE_SECONDS = 10.0  # over which the pages per minute are counted
SHORT_CHARACTERS = 70  # of an item's text, where it is shown in short


@dataclass(frozen=True, slots=True)
class Short:
    """An item in short; its texts are safe to show in a terminal."""

    site: str
    title: str
    author: str
    published: str
    language: str
    images: int
    videos: int
    text: str
    url: str

    @classmethod
    def of(cls, message: Mapping[str, Any]) -> Short:
        """Returns a message in short."""
        return cls(
            site=message["resource"],
            title=text.line(message["title"]),
            author=text.line(message["author"] or ""),
            published=(message["published"] or "")[:10],
            language=message["language"] or "",
            images=len(message["images"]),
            videos=len(message["videos"]),
            text=text.line(message["content"])[:SHORT_CHARACTERS],
            url=text.line(message["url"]),
        )


class Items:
    """Reads along the files of the files sink.

    Attributes:
        ids: Of the items read so far, by site.
        latest: The last one read.
        kinds: The first item of each site and language.
    """

    def __init__(self, folder: Path) -> None:
        self.ids: dict[str, set[str]] = {}
        self.latest: Short | None = None
        self.kinds: dict[tuple[str, str], Short] = {}
        self._folder = folder
        self._read_bytes: Counter[str] = Counter()

    @property
    def counts(self) -> dict[str, int]:
        """Different items by site."""
        return {site: len(ids) for site, ids in sorted(self.ids.items())}

    def read(self) -> None:
        """Reads the whole lines that have come since."""
        for file in sorted(self._folder.glob("*.jsonl")):
            with file.open("rb") as lines:
                lines.seek(self._read_bytes[file.name])
                for line in lines:
                    if line.endswith(b"\n"):
                        self._read_bytes[file.name] += len(line)
                        self._take(orjson.loads(line))

    def _take(self, message: Mapping[str, Any]) -> None:
        self.ids.setdefault(message["resource"], set()).add(message["id"])
        self.latest = Short.of(message)
        self.kinds.setdefault((self.latest.site, self.latest.language), self.latest)


@dataclass(frozen=True, slots=True)
class Snapshot:
    """One look at the crawl.

    Attributes:
        accounts: Seeds by frontier, over all sites.
        items: In the files, by site.
        sinks: Sink -> `up`, `starting`, `down` or `left out`.
    """

    accounts: Mapping[Frontier, Account]
    items: Mapping[str, int]
    latest: Short | None
    pages_per_minute: int
    sinks: Mapping[str, str] = field(default_factory=dict)

    @property
    def position(self) -> tuple[int, ...]:
        """Changes whenever the crawl gets on."""
        moving = (
            (account.offered, account.executing, account.finished, account.failed) for account in self.accounts.values()
        )
        return (sum(self.items.values()), *(number for numbers in moving for number in numbers))


class Progress:
    """Takes snapshots of one plan's crawl.

    Attributes:
        items: What the files hold.
    """

    def __init__(self, redis: Redis, keys: Keys, plan: str, items: Items) -> None:
        self.items = items
        self._redis = redis
        self._keys = keys
        self._plan = plan
        self._ended: deque[tuple[float, int]] = deque()

    async def look(self) -> Snapshot:
        """Returns how far the crawl is now, without its sinks.

        Raises:
            redis.exceptions.RedisError: Redis is away.
        """
        accounts = totals(await ledger.read(self._redis, self._keys, 1, self._plan))
        self.items.read()
        return Snapshot(accounts, self.items.counts, self.items.latest, self._rate(pages(accounts)))

    async def sinks_down(self) -> set[str]:
        """Returns the sinks that some worker can't reach now, by the figures that workers give.

        Raises:
            redis.exceptions.RedisError: Redis is away.
        """
        down: set[str] = set()
        nodes: list[Any] = await self._redis.zrange(self._keys.node_names, 0, -1)
        for node in nodes:
            workers: list[Any] = await self._redis.hvals(self._keys.node(node.decode()))
            down.update(sink for figures in workers for sink in orjson.loads(figures)["sinks_down"])
        return down

    def _rate(self, ended: int) -> int:
        now = time.monotonic()
        self._ended.append((now, ended))
        while self._ended[0][0] < now - RATE_SECONDS:
            self._ended.popleft()
        since, before = self._ended[0]
        return round((ended - before) * 60 / (now - since)) if now > since else 0


def totals(book: ledger.Ledger) -> dict[Frontier, Account]:
    """Returns a ledger's sums by frontier."""
    sums: dict[Frontier, Account] = {frontier: Account() for frontier in FRONTIERS}
    for accounts in book.values():
        for frontier, account in accounts.items():
            sums[frontier].add(account)
    return sums


def pages(accounts: Mapping[Frontier, Account]) -> int:
    """Returns the pages that were dealt with: read, or failed for good."""
    return sum(account.finished + account.failed for account in accounts.values())


def examples(shorts: Iterable[Short], most: int) -> list[Short]:
    """Returns up to `most` items, those with pictures first."""
    return sorted(shorts, key=lambda short: not (short.images or short.videos))[:most]
