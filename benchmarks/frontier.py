"""What does the frontier cost Redis, in CPU and in bytes, and does the cost grow with the number of seeds?

    .venv/bin/python -m benchmarks.frontier                           # minutes
    .venv/bin/python -m benchmarks.frontier --only scale,bytes --full # with 10 million seeds, and 7 GB of memory

The real scripts run in a real Valkey, started for each section. Calls whose CPU is measured are made by the real Queue
for eight owners; the frontier is filled, and millions of seeds are finished, by the same script calls made beforehand.

CPU is that of Redis's main thread (INFO cpu), which says something on a busy machine too: a Redis that does nothing
else takes 1,000,000 / (us a seed) seeds a second. `redis.call` counts the commands inside scripts (and each claim's
SET of the lock), `scripts` the calls that workers send. Redis keeps an append-only file, except for `bytes` and
`scale`.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.frontier_rig import (
    BATCH,
    BURST,
    FILL_BATCH,
    OWNERS,
    PLAN,
    SITE,
    URL_CHARACTERS,
    Cost,
    Meter,
    Rig,
    seeds_of,
)
from crawler.base.urls import FINGERPRINT_BYTES
from crawler.frontier import scripts
from testbed.servers import Redis as Server

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator

    from crawler.base.models import Claimed, Seed

SCALES = (10_000, 1_000_000, 10_000_000)  # seeds; the last only with --full
SCALE_MARK = 1.4  # the most that a cost may grow with the frontier
SCALE_ROUNDS = 1_000  # of a batch offered, claimed and finished


class Table:
    """A table of costs, printed as Markdown."""

    def __init__(self) -> None:
        print("| work | mark | Redis CPU us/seed | seeds/s of one core | redis.call/seed | scripts/seed |")
        print("|---|---|---|---|---|---|")

    @staticmethod
    def row(work: str, mark: str, cost: Cost) -> None:
        """Prints a row."""
        figures = f"{cost.cpu_us:.1f} | {1e6 / cost.cpu_us:,.0f} | {cost.inner:.1f} | {cost.scripts:.3f}"
        print(f"| {work} | {mark} | {figures} |", flush=True)


async def life(server: Server, full: bool) -> None:  # noqa: ARG001, FBT001
    """All that a seed costs from its offer to its finish, with the append-only file on and off."""
    table = Table()
    for durable in (True, False):
        rig = Rig(server, durable=durable)
        await crawl(rig, seeds_of(1_000), 1_000)
        print(f"| append-only file {'on' if durable else 'off'} | | | | | |")
        for name in rig.meters:
            table.row(name, "", rig.cost(name))
        table.row("a seed's whole life", "<= 30", rig.cost(*rig.meters))
        await rig.redis.aclose()


async def crawl(rig: Rig, seeds: Iterator[Seed], rounds: int) -> None:
    """Offers, claims and finishes 100 seeds a round, ten rounds at a time."""
    for _ in range(rounds // 10):
        for _ in range(10):
            await rig.offer(seeds)
        await rig.finish(await rig.claim(10 * BATCH))


async def scale(server: Server, full: bool) -> None:  # noqa: FBT001
    """What a seed's calls cost with more and more seeds in the frontier, all due, by the cost with 10,000."""
    table = Table()
    sizes = [(number, 1) for number in SCALES[:2]]
    sizes += [(number, number // BURST) for number in SCALES[: 3 if full else 2]]
    least: dict[str, float] = {}
    for number, hosts in sizes:
        if number == SCALES[0]:
            least.clear()
        rig = Rig(server, durable=False)
        rig.polite(BATCH if hosts == 1 else BURST)
        rig.fill(seeds_of(hosts), number)
        await crawl(rig, seeds_of(hosts, number), SCALE_ROUNDS)
        print(f"| {number:,} seeds, {hosts:,} hosts | | | | | |")
        for name, parts in (*((one, [one]) for one in rig.meters), ("a seed's whole life", [*rig.meters])):
            cost = rig.cost(*parts)
            ratio = cost.cpu_us / least.setdefault(name, cost.cpu_us)
            table.row(name, f"<= {SCALE_MARK}x: {ratio:.2f}x", cost)
        await rig.redis.aclose()


async def preferring(server: Server, full: bool) -> None:  # noqa: ARG001, FBT001
    """What a claim costs whose owner prefers its share of the hosts, and one that takes any, in turn; 2,000 are due."""
    table = Table()
    for most in (1, 10, 100):
        rig = Rig(server, durable=False)
        rig.fill(seeds_of(2_000), 60_000)
        meters = {"its own hosts first": Meter(rig.client), "any host": Meter(rig.client)}
        for _ in range(60):
            for name, meter in meters.items():
                taken: dict[str, list[Claimed]] = {owner: [] for owner in OWNERS}
                meter.start()
                for owner in OWNERS * (1 if most == BATCH else 3):
                    taken[owner] += (await rig.claim_once(owner, most, prefers=name != "any host")).seeds
                meter.stop(sum(map(len, taken.values())))
                await rig.finish(taken, "release")
        any_host = meters["any host"].cost.cpu_us
        for name, meter in meters.items():
            table.row(f"claim {most}, {name}", f"<= 1.05x: {meter.cost.cpu_us / any_host:.2f}x", meter.cost)
        await rig.redis.aclose()


async def sizes(server: Server, full: bool) -> None:  # noqa: FBT001
    """Bytes of a ready seed, of a finished URL, of a host."""
    print("| what | mark, bytes | bytes |\n|---|---|---|")
    for number in (300_000, 600_000, 1_000_000, *((10_000_000,) if full else ())):
        rig = Rig(server, durable=False)
        rig.fill(seeds_of(1_000), number)
        each = (rig.used_bytes() - rig.empty_bytes) / number
        print(f"| ready seed, URL of {URL_CHARACTERS} characters, of {number:,} | 350 | {each:.0f} |", flush=True)
        await rig.redis.aclose()
    hosts = 100_000
    rig = Rig(server, durable=False)
    rig.fill(seeds_of(hosts, run=1), hosts)
    await rig.finish(await rig.claim(hosts), "release")
    each = (rig.used_bytes() - rig.empty_bytes) / hosts
    record = rig.client.memory_usage(rig.part.of("content", "seed"), samples=0) / hosts
    print(f"| a host in all its keys, without its seed's record | 450 | {each - record:.0f} |", flush=True)
    await rig.redis.aclose()
    rig = Rig(server, durable=False)
    done = 0
    for number in (100_000, 500_000, 1_000_000, 2_000_000, *((4_000_000, 10_000_000) if full else ())):
        finish_many(rig, number - done)
        done = number
        each = (rig.used_bytes() - rig.empty_bytes) / number
        print(f"| finished URL, of {number:,}, with all that a crawl leaves | 18 | {each:.1f} |", flush=True)
    await rig.redis.aclose()


def finish_many(rig: Rig, number: int) -> None:
    """Finishes seeds that are written as a claim would have left them, by script calls made beforehand."""
    owner, value = OWNERS[0], f"www.example.org {PLAN} {SITE} 0 {{}}"
    claim, digest = f"{owner}#1", rig.client.script_load(scripts.source("settle"))
    claims_key, seed_key = (rig.part.of("content", name) for name in ("claims", "seed"))
    pipeline = rig.client.pipeline(transaction=False)
    for start in range(0, number, FILL_BATCH):
        prints = [random.randbytes(FINGERPRINT_BYTES) for _ in range(FILL_BATCH)]
        pipeline.hset(claims_key, mapping=dict.fromkeys(prints, claim))
        pipeline.hset(seed_key, mapping=dict.fromkeys(prints, value))
        ends = [word for one in prints for word in ("finish", one, claim, 0, "", f"1 {PLAN}", "")]
        limits = (4, 30, 0, 1_000, 300_000, FILL_BATCH)
        pipeline.evalsha(digest, len(rig.script_keys), *rig.script_keys, "wake", "wake2", owner, *limits, *ends)
        if start // FILL_BATCH % 20 == 0:
            pipeline.execute()
    pipeline.execute()


SECTIONS: dict[str, Callable[[Server, bool], Awaitable[None]]] = {
    "life": life,
    "bytes": sizes,
    "scale": scale,
    "preferring": preferring,
}


async def run(names: list[str], full: bool) -> None:  # noqa: FBT001
    """Runs sections, each with a server of its own."""
    for name in names:
        with tempfile.TemporaryDirectory() as folder, Server(Path(folder)) as server:
            print(f"\n{SECTIONS[name].__doc__}\n")
            await SECTIONS[name](server, full)


def main() -> None:
    """Prints the sections' tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default=",".join(SECTIONS), help="sections, of " + ",".join(SECTIONS))
    parser.add_argument("--full", action="store_true", help="also with 10 million seeds")
    options = parser.parse_args()
    random.seed(1)
    asyncio.run(run(options.only.split(","), options.full))


if __name__ == "__main__":
    main()
