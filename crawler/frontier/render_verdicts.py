"""What workers have found out of sites that leave it to them whether a browser renders their pages, in Redis.

A verdict says on which page it was found, what that page lacked as it came, and what rendering it brought.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Self

import orjson
from pydantic import TypeAdapter

from crawler.frontier.keys import as_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from crawler.base.models import Frontier
    from crawler.frontier.keys import Keys

MAX_NAMES = 20  # most fields that are told as lacking on a page; a site has some ten
MAX_URL_CHARACTERS = 500


@dataclass(frozen=True, slots=True)
class RenderVerdict:
    """Whether pages of one site and type need a browser, with the evidence.

    Attributes:
        definition: Digest of the site's definition; another definition is judged anew.
        needs_browser: Whether they are rendered.
        url: The page that decided it.
        lacked: What that page lacked as it came: names of fields, `results`, or the ledger's word for why it failed.
        brought: What of that rendering brought; empty: nothing, or nothing was lacking.
        time: When it was decided, in UTC, as items have it.
    """

    definition: str
    needs_browser: bool
    url: str
    lacked: tuple[str, ...]
    brought: tuple[str, ...]
    time: str

    @classmethod
    def of_page(cls, definition: str, url: str, lacked: Sequence[str], brought: Sequence[str], time: str) -> Self:
        """Returns the verdict that a page leads to: a browser is needed if it brought something."""
        evidence = tuple(lacked[:MAX_NAMES]), tuple(brought[:MAX_NAMES])
        return cls(definition, bool(brought), url[:MAX_URL_CHARACTERS], *evidence, time)


_VERDICT = TypeAdapter(RenderVerdict)


class RenderVerdicts:
    """The verdicts of all sites: at most one for each type of their pages."""

    def __init__(self, redis: Any, keys: Keys) -> None:
        self._redis, self._keys = redis, keys

    async def all(self) -> dict[tuple[str, str], RenderVerdict]:
        """Returns the verdicts by site and frontier; a damaged one is left out."""
        verdicts = {}
        for field, raw in sorted((await self._redis.hgetall(self._keys.render_verdicts)).items()):
            site, _, frontier = as_text(field).partition(" ")
            try:
                verdicts[site, frontier] = _VERDICT.validate_json(raw)
            except ValueError:
                continue
        return verdicts

    async def put(self, site: str, frontier: Frontier, verdict: RenderVerdict) -> None:
        """Writes a verdict in the place of the one before.

        Raises:
            redis.exceptions.RedisError: Redis is away, or full.
        """
        await self._redis.hset(self._keys.render_verdicts, f"{site} {frontier}", orjson.dumps(asdict(verdict)))
