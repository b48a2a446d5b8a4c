"""What came out of a soak, held against what the forum has and what it was asked."""

from __future__ import annotations

import json
import re
import time
from collections import Counter, defaultdict
from contextlib import closing
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from kafka import KafkaConsumer, TopicPartition
from pymongo import MongoClient

from benchmarks.soak_forum import CRAWL_DELAY_SECONDS, fate, read_requests, truth
from crawler.pipelines.mongo import COLLECTION

if TYPE_CHECKING:
    import argparse

    from benchmarks.soak import Soak
    from benchmarks.soak_faults import Faults

TOLERANCE_SECONDS = 0.05  # between a worker's clock at the send and the forum's at the receipt
SHOWN = 10  # examples of each finding
NUMBER = re.compile(r"/(?:thread|moved)/(\d+)$")
TOPIC_SECONDS = 60.0


@dataclass(frozen=True)
class Rules:
    """How politely each host is to be asked, but for one with a Crawl-delay."""

    delay_s: float
    concurrency: int


@dataclass
class Findings:
    """What came of a soak.

    Attributes:
        rows: For the table.
        broken: What must not be: each with examples.
    """

    rows: list[tuple[str, Any]] = field(default_factory=list)
    broken: dict[str, list[Any]] = field(default_factory=dict)

    def row(self, what: str, figure: Any) -> None:
        """Adds a line to the table."""
        self.rows.append((what, figure))

    def must_be_none(self, what: str, found: list[Any]) -> None:
        """Adds a line to the table; whatever was found breaks a rule."""
        self.row(what, len(found))
        if found:
            self.broken[what] = found


def audit(soak: Soak, faults: Faults, rules: Rules, *, is_done: bool) -> Findings:
    """Looks at everything that can be seen from outside."""
    found = Findings()
    good, items = soak.good(), _items(soak)
    seeds = soak.json("seeds", "list", "--limit", "10000000")["seeds"]
    by_url = {seed["url"]: f"{seed['state']} {seed['reason']}".strip() for seed in seeds}
    found.row("plans submitted", len(soak.plans))
    found.row("pages expected", len(good))
    delivered = {"files": Counter(items_number for items_number, _ in items)}
    if "mongo" in soak.servers:
        in_mongo = _in_mongo(soak)
        delivered["mongo"] = Counter(number for number, _ in in_mongo)
        wanted = soak.threads()
        untold = [number for number, plans in in_mongo if number in good and not wanted[number] <= set(plans)]
        found.must_be_none("pages that name not all of their plans", untold)
    if "kafka" in soak.servers:
        delivered["kafka"] = _in_kafka(soak)
    for sink, numbers in delivered.items():
        found.row(f"pages delivered to {sink}", len(numbers.keys() & good.keys()))
        if sink != "mongo":  # at least once
            found.row(f"duplicates in {sink}", sum(numbers.values()) - len(numbers))
        lost = [(number, by_url.get(url, "unknown")) for number, url in good.items() if number not in numbers]
        found.must_be_none(f"pages lost for {sink}", lost)
    if "mongo" in delivered:
        found.must_be_none("duplicates in mongo", [one for one, times in delivered["mongo"].items() if times > 1])
    found.must_be_none("items worse than their page", _worse(items))
    images = [(number, item.get("images")) for number, item in items]
    found.must_be_none("items without their image", [one for one in images if not (one[1] and one[1][0].get("sha256"))])
    found.must_be_none("pages of no worth delivered", [n for n, _ in items if fate(n) not in ("good", "moved")])
    states = Counter(seed["state"] + " " + seed["reason"] for seed in seeds)
    found.row("seeds that didn't finish", dict(states))
    found.must_be_none("seeds left over", [] if is_done else [seed for seed in seeds if seed["state"] != "failed"])
    total = soak.json("ledger", "--verify")
    found.must_be_none("ledger difference", [total["total"]["difference"]] if total["total"]["difference"] else [])
    found.must_be_none("recount disagrees", total.get("problems", []))
    _judge_requests(soak, faults, rules, found)
    found.must_be_none("workers that ended by themselves", soak.deaths)
    found.must_be_none("workers slow to end", faults.slow_ends)
    found.row("tracebacks in logs", _tracebacks(soak))
    found.row("longest time without progress", f"{soak.longest_gap_s:.0f} s")
    return found


def _items(soak: Soak) -> list[tuple[int, dict[str, Any]]]:
    """Returns the files' items, each with its thread's number; not what tells further plans of them."""
    items = []
    for file in sorted((soak.folder / "items").glob("*.jsonl")):
        lines = [] if ".also." in file.name else file.read_bytes().split(b"\n")[:-1]
        for line in lines:
            item = json.loads(line)
            if match := NUMBER.search(item.get("url", "")):
                items.append((int(match[1]), item))
    return items


def _in_mongo(soak: Soak) -> list[tuple[int, list[str]]]:
    """Returns the thread's number and the plans of each document."""
    with MongoClient(soak.environment["MONGO_URL"]) as client:
        documents = list(client["soak"][COLLECTION].find({}, {"url": 1, "plans": 1}))
    numbers = [(NUMBER.search(one["url"]), one.get("plans", [])) for one in documents]
    return [(int(match[1]), plans) for match, plans in numbers if match]


def _in_kafka(soak: Soak) -> Counter[int]:
    numbers: Counter[int] = Counter()
    with closing(KafkaConsumer(bootstrap_servers=soak.environment["KAFKA_BOOTSTRAP_SERVERS"])) as consumer:
        topics = [topic for topic in consumer.topics() if topic.startswith("soak.") and not topic.endswith(".also")]
        partitions = [TopicPartition(topic, one) for topic in topics for one in consumer.partitions_for_topic(topic)]
        consumer.assign(partitions)
        consumer.seek_to_beginning(*partitions)
        ends, deadline = consumer.end_offsets(partitions), time.monotonic() + TOPIC_SECONDS
        while any(consumer.position(one) < ends[one] for one in partitions) and time.monotonic() < deadline:
            for records in consumer.poll(timeout_ms=500).values():
                for record in records:
                    if match := NUMBER.search(json.loads(record.value).get("url", "")):
                        numbers[int(match[1])] += 1
    return numbers


def _worse(items: list[tuple[int, dict[str, Any]]]) -> list[tuple[int, str]]:
    """Returns the items that lack text that their page has."""
    worse = []
    for number, item in items:
        wanted = truth(number)
        worse += [
            (number, f"{name}: {item.get(name)!r:.60}")
            for name in ("title", "author", "content")
            if (item.get(name) or "").strip() != wanted[name].strip()
        ]
        if (item.get("published") or "")[:19] != wanted["published"][:19]:
            worse.append((number, f"published: {item.get('published')!r}"))
    return worse


def _judge_requests(soak: Soak, faults: Faults, rules: Rules, found: Findings) -> None:
    """Holds the forum's log against the rules of politeness and robots.txt.

    What a frozen worker may do is a limit that docs/guarantees.md names: such requests are counted, but break no rule.
    """
    requests = read_requests(soak.forum.log_file)
    found.row("requests", len(requests))
    found.row("faults of pages", dict(Counter(one["fault"] for one in requests if one["fault"])))
    private = [one for one in requests if one["path"].startswith("/private/")]
    found.must_be_none("requests that robots.txt disallows", private)
    by_host = defaultdict(list)
    for one in requests:
        by_host[one["host"]].append(one)
    early, crowded, frozen = [], [], 0
    for host, asked in by_host.items():
        has_crawl_delay = host == soak.forum.ports[-1]
        delay_s = CRAWL_DELAY_SECONDS if has_crawl_delay else rules.delay_s
        concurrency = 1 if has_crawl_delay else rules.concurrency
        first = next((place for place, one in enumerate(asked) if one["path"] != "/robots.txt"), 0)
        own = asked[first:]  # until its robots.txt is known, a host has no Crawl-delay
        for one, later in zip(own, own[concurrency:], strict=False):
            gap = later["start"] - one["start"]
            if gap < delay_s - TOLERANCE_SECONDS:
                if _was_frozen(faults, one) or _was_frozen(faults, later):
                    frozen += 1
                else:
                    early.append((host, round(gap, 3), one["worker"], one["path"], later["worker"], later["path"]))
        for place, one in enumerate(own):
            others = [other for other in own[max(0, place - 20) : place] if other["end"] > one["start"]]
            if len(others) >= concurrency:
                if any(_was_frozen(faults, other) for other in [one, *others]):
                    frozen += 1
                else:
                    crowded.append((host, one["worker"], one["path"], [other["path"] for other in others]))
    found.must_be_none("requests earlier than the delay", early)
    found.must_be_none("requests beyond the concurrency", crowded)
    found.row("such requests around a freeze", frozen)


def _was_frozen(faults: Faults, request: dict[str, Any]) -> bool:
    """Returns whether the worker was frozen while the request was under way, or had just been."""
    spans = faults.freezes.get(request["worker"].split("/")[0].split(" ")[0], [])
    return any(begin - 1 <= request["end"] and request["start"] <= end + 1 for begin, end in spans)


def _tracebacks(soak: Soak) -> int:
    logs = (soak.folder / "logs").glob("*.log")
    return sum(log.read_text(errors="replace").count("Traceback (most recent call last)") for log in logs)


def report(soak: Soak, faults: Faults, found: Findings, options: argparse.Namespace) -> None:
    """Prints the table, the memory of workers over time, and examples of what must not be."""
    print(f"\nsoak of {options.minutes:g} minutes, seed {options.seed}\n")
    for what, figure in [*((f"faults: {kind}", number) for kind, number in faults.injected.items()), *found.rows]:
        print(f"  {what:<44} {figure}")
    print("\n  memory of workers, MiB: most of one, all together")
    begin = soak.memory[0][0] if soak.memory else 0.0
    by_slice: dict[int, dict[str, int]] = defaultdict(dict)
    length_s = max(60.0, options.minutes * 60 / 12)
    for at, worker, size in soak.memory:
        of_slice = by_slice[int((at - begin) / length_s)]
        of_slice[worker] = max(of_slice.get(worker, 0), size)
    for number, sizes in sorted(by_slice.items()):
        biggest = sorted(sizes.values(), reverse=True)
        print(
            f"    from minute {number * length_s / 60:4.0f}: {biggest[0] / 2**20:6.0f} {sum(biggest[:3]) / 2**20:6.0f}"
        )
    for what, examples in found.broken.items():
        print(f"\n  NOT RIGHT: {what}: {len(examples)}")
        for example in examples[:SHOWN]:
            print(f"    {example}")
    print(
        "\n" + ("something was lost, or a rule was broken" if found.broken else "nothing was lost, no rule was broken")
    )
