"""Headroom: a distributed topical crawler on Scrapy.

The flow, by file:

- `plans/`: a plan's YAML becomes combinations, and those become nav seeds.
- `frontier/queue.py`: seeds in Redis are offered, claimed and settled, each by one Lua script in `frontier/lua/`.
- `headroom.py`: how many more seeds this node can carry.
- `scheduler.py`: claims as many ahead and hands them to Scrapy as requests, paced by their turns (`visits.py`).
- `spiders/producer.py`: nav page -> links (`extract/`, `sites/`) -> content seeds offered.
- `spiders/consumer.py`: content page -> fields (`extract/`, `sites/`) -> item.
- `pipelines/`: item -> clean -> media -> files, MongoDB, Kafka.
- `delivery.py`: every sink acknowledged: the seed is finished; else it is retried or fails with a reason.
- `worker.py`: this process's share in the cluster: connection, session, claims, settles.
- `download/`: what stands between the wire and a page; `fast/`: Scrapy's engine and downloader, the same in less time.
- `commands/`: scrapy plan, seeds, ledger, nodes, site, items.
"""

__version__ = "0.1.0"
