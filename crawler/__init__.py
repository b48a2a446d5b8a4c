"""Headroom: a distributed topical crawler on Scrapy.

The packages, in the order in which a plan becomes items; `docs/architecture.md` follows one seed through them.

- `plans/`: a plan's YAML becomes combinations, and those become nav seeds: search pages to visit.
- `frontier/`: all seeds in Redis are offered, claimed and settled, each by one Lua script.
- `worker/`: one process's share in the cluster: how much it claims, on which turns, and what became of each seed.
- `scheduler.py`: hands claimed seeds to Scrapy as requests, paced by the turns of their hosts.
- `middlewares/`, `robots/`, `download/`: what a request passes on its way to the wire, and the wire.
- `render/`: pages that need a browser, in one that has no network: what they ask for is asked for by `download/`.
- `spiders/`: `producer` reads search pages and offers content seeds, `consumer` reads items from content pages.
- `sites/`, `extract/`: how a source is searched and read, as its YAML says; bytes become fields and links.
- `pipelines/`: an item is cleaned, its media are fetched, and every sink acknowledges it; then its seed is finished.
- `servers/`: how Redis, Kafka and MongoDB are connected. `fast/`: Scrapy's engine in less time. `config/`: settings.
- `telemetry/`: figures over time, in Redis. `cluster/`: the whole crawl as figures. `monitor/`: shows them in browsers.
- `discovery/`: proposed site files. `doctor/`: what `scrapy doctor` examines.
- `commands/`, `cli/`: `scrapy plan`, `seeds`, `ledger`, `nodes`, `hosts`, `site`, `items`, `crawl`, `runspider`,
  `settings`, `frontier`, `stats`, `top`, `monitor`, `doctor`, and what they share.
- `base/`: what all others use: errors, events, items, models, texts, URLs, tasks.
"""

from typing import Any

from crawler.base.version import __version__

__all__ = ["Headroom", "__version__"]


def __getattr__(name: str) -> Any:
    """Returns the add-on for `crawler.Headroom`: read when it is asked for, since it is built on all of the settings.

    Raises:
        AttributeError: It is any other name.
    """
    if name == "Headroom":
        from crawler.addon import Headroom

        return Headroom
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
