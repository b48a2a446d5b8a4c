"""What does a finished page take of Redis, exactly and in filters, and how often do filters err as they grow?

    .venv/bin/python -m benchmarks.dedup                        # minutes
    .venv/bin/python -m benchmarks.dedup --pages 5000000        # an hour

The real `settle` finishes random fingerprints in a real Valkey, in one partition. Errors are those of pages that aren't
finished: the bits are read back, and as many random fingerprints are held against them as say something of the rate.
That all finished pages are among the bits shows that they are read as the scripts wrote them. CPU is that of the calls,
as Redis measures it, in batches of 20, the least of twenty rounds. Bytes are those of MEMORY USAGE.
"""

from __future__ import annotations

import argparse
import random
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.frontier_rig import OFFER_HEAD, OWNERS, PLAN, SITE, Rig
from crawler.base.urls import FINGERPRINT_BYTES
from crawler.frontier import scripts
from testbed.servers import Redis as Server

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

RATES = (0.0, 1e-3, 1e-5, 1e-7)  # 0: exact
OTHERS = {1e-3: 1_000_000, 1e-5: 10_000_000, 1e-7: 100_000_000}  # pages that are held against the bits
AT_ONCE = 1_000_000
FILL_BATCH, CALL_BATCH, ROUND = 100, 20, 1_000  # seeds in one call of the fill, of a measured one, and of a round
VALUE = f"www.example.org {PLAN} {SITE} 0 {{}}"
LIMITS = (4, 30, 0, 1_000, 300_000)
STEP = 2**24  # of the halves of a number of 48 bits


def settle(rig: Rig, prints: Sequence[bytes], rate: float, batch: int) -> float:
    """Finishes pages; returns what that took of Redis's CPU, in us."""
    script, claim = scripts.with_filters("settle", rate), f"{OWNERS[0]}#1"
    digest = rig.client.script_load(scripts.source(script))
    for start in range(0, len(prints), 10_000):
        rig.client.hset(rig.part.of("content", "claims"), mapping=dict.fromkeys(prints[start : start + 10_000], claim))
        rig.client.hset(rig.part.of("content", "seed"), mapping=dict.fromkeys(prints[start : start + 10_000], VALUE))
    before_us, left = calls_us(rig), list(prints)
    while left:
        pipeline, sent = rig.client.pipeline(transaction=False), []
        for start in range(0, min(len(left), 10_000), batch):
            some = left[start : start + batch]
            words = [word for one in some for word in ("finish", one, claim, 0, "", f"1 {PLAN}", "")]
            head = ("wake", "wake2", OWNERS[0], *LIMITS, len(some))
            pipeline.evalsha(digest, len(rig.script_keys), *rig.script_keys, *head, *words)
            sent.append(some)
        answers: Any = pipeline.execute()
        left = [one for some, (_, done, _) in zip(sent, answers, strict=True) for one in some[done:]] + left[10_000:]
    return calls_us(rig) - before_us


def offer(rig: Rig, prints: Sequence[bytes], rate: float) -> float:
    """Offers pages; returns what that took of Redis's CPU, in us."""
    digest = rig.client.script_load(scripts.source(scripts.with_filters("offer", rate)))
    pipeline = rig.client.pipeline(transaction=False)
    for start in range(0, len(prints), CALL_BATCH):
        words = [word for one in prints[start : start + CALL_BATCH] for word in (one, VALUE, 0)]
        pipeline.evalsha(digest, len(rig.script_keys), *rig.script_keys, *OFFER_HEAD, *words)
    before_us = calls_us(rig)
    pipeline.execute()
    return calls_us(rig) - before_us


def calls_us(rig: Rig) -> float:
    """Returns how long all calls of scripts have taken."""
    stats: Any = rig.client.info("commandstats")
    return float(stats.get("cmdstat_evalsha", {}).get("usec", 0))


def taken_for_finished(rig: Rig, prints: NDArray[np.uint64]) -> int:
    """Returns how many fingerprints filters take for finished for the first plan, as lua/lib/filter.lua has it.

    Args:
        prints: Four columns: their first 12 bytes, as numbers of 3 bytes each.
    """
    key, left, erred = rig.part.of("content", "finish") + ":filter", prints, 0
    fields: Any = rig.client.hgetall(key)
    for number in range(1, len(fields) // 2 + 1):
        bits, hashes, _room = map(int, fields[b"%d" % number].split())
        raw: Any = rig.client.get(f"{key}:{number}")
        is_set = np.unpackbits(np.frombuffer(raw.ljust(bits // 8 + 1, b"\0"), dtype=np.uint8))
        of_plan = 1  # the number of the plan that was the first to finish a page
        places = (left[:, 0] * STEP + (left[:, 1] + of_plan * 40503) % STEP) % bits
        steps = (left[:, 2] * STEP + (left[:, 3] + of_plan * 30011) % STEP) % bits
        rows = np.arange(len(left))
        for place in range(1, hashes + 1):
            is_in = is_set[places] == 1
            rows, places, steps = rows[is_in], places[is_in], steps[is_in]
            places, steps = (places + steps) % bits, (steps + place) % bits
        erred += len(rows)
        left = np.delete(left, rows, axis=0)
    return erred


def numbers_of(prints: Sequence[bytes]) -> NDArray[np.uint64]:
    """Returns the columns that `taken_for_finished` takes."""
    table = np.frombuffer(b"".join(prints), dtype=np.uint8).reshape(-1, FINGERPRINT_BYTES).astype(np.uint64)
    return np.stack([table[:, at] * 65536 + table[:, at + 1] * 256 + table[:, at + 2] for at in (0, 3, 6, 9)], axis=1)


def measure(server: Server, rate: float, pages: int) -> None:
    """Prints a row for each tenfold and half of the pages."""
    rig, done = Rig(server, durable=False), 0
    generator = np.random.default_rng(1)
    for number in sorted({pages // 10, pages // 2, pages}):
        prints = [random.randbytes(FINGERPRINT_BYTES) for _ in range(number - done)]
        settle(rig, prints, rate, FILL_BATCH)
        done = number
        stem = rig.part.of("content", "finish")
        each = sum(rig.client.memory_usage(key, samples=0) or 0 for key in rig.client.scan_iter(f"{stem}*")) / done
        counts: Any = rig.client.hgetall(rig.part.of("content", "counts"))
        expected, errors = int(counts.get(b"filter_expected", 0)) / 1e12, ""
        if rate:
            assert taken_for_finished(rig, numbers_of(prints)) == len(prints)
            erred = sum(
                taken_for_finished(rig, generator.integers(0, STEP, (AT_ONCE, 4), dtype=np.uint64))
                for _ in range(OTHERS[rate] // AT_ONCE)
            )
            errors = f"{expected:.2e} | {erred / OTHERS[rate]:.2e} ({erred:,})"
        else:
            errors = "0 | 0"
        costs: list[tuple[float, float, float]] = []
        for _ in range(20):
            new = [random.randbytes(FINGERPRINT_BYTES) for _ in range(ROUND)]
            spent = settle(rig, new, rate, CALL_BATCH), offer(rig, new, rate)
            others = [random.randbytes(FINGERPRINT_BYTES) for _ in range(ROUND)]
            costs.append((*spent, offer(rig, others, rate)))
            done += ROUND
            rig.client.delete(
                *(rig.part.of("content", name) for name in ("seed", "ready:www.example.org", f"wanted:{PLAN}"))
            )
        cpu = " | ".join(f"{min(of_one) / ROUND:.1f}" for of_one in zip(*costs, strict=True))
        print(f"| {rate or 'exact'} | {number:,} | {each:.1f} | {errors} | {cpu} |", flush=True)
    rig.client.close()


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pages", type=int, default=600_000, help="how many are finished at the end")
    parser.add_argument("--rates", default=",".join(map(str, RATES)), help="error rates, 0: exact")
    options = parser.parse_args()
    random.seed(1)
    print("| DEDUP_ERROR_RATE | pages | bytes each | expected | measured | settle us | known offer us | new offer us |")
    print("|--:|--:|--:|--:|--:|--:|--:|--:|")
    for rate in map(float, options.rates.split(",")):
        with tempfile.TemporaryDirectory() as folder, Server(Path(folder)) as server:
            measure(server, rate, options.pages)


if __name__ == "__main__":
    main()
