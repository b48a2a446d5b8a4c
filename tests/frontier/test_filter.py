"""DEDUP_MODE `bloom`: which pages are finished lies in filters, whose error stays within DEDUP_ERROR_RATE."""

from __future__ import annotations

import pytest
from frontier.driver import content, turns
from frontier.test_finished import BATCH, buckets_of, fingerprints, number_of_buckets

from crawler.base.errors import FrontierError
from crawler.frontier import finished, scripts
from crawler.frontier.frontier_config import FrontierConfig
from crawler.frontier.keys import Keys
from crawler.frontier.preflight import prepare
from crawler.frontier.queue import Queue
from crawler.frontier.seed_info import seed_info
from crawler.frontier.settlement import Settlement

PAGES = 150_000  # through three slices, of 65,536 pages, 131,072 and so on
OTHERS = 100_000
SMALL = {"local FIRST_ROOM = 65536": "local FIRST_ROOM = 1000"}


@pytest.fixture
def small_slices(monkeypatch):
    """Slices that grow with a thousand pages."""
    change_part(monkeypatch, SMALL)


def change_part(monkeypatch, changes):
    """Changes numbers of lua/lib/filter.lua, wherever scripts hold it."""
    real = scripts.source.__wrapped__

    def source(name):
        text = real(name)
        for before, after in changes.items():
            text = text.replace(before, after)
        return text

    monkeypatch.setattr(scripts, "source", source)
    monkeypatch.setattr(scripts, "digest", scripts.digest.__wrapped__)


async def finish(frontier, prints, rate, tellable=1):
    script, keys = scripts.with_filters("settle", rate), frontier.keys.partition(0).script_keys("content")
    for start in range(0, len(prints), BATCH):
        batch = prints[start : start + BATCH]
        async with frontier.redis.pipeline(transaction=False) as pipeline:
            pipeline.hset(frontier.key("claims"), mapping=dict.fromkeys(batch, "A#1"))
            pipeline.hset(frontier.key("seed"), mapping=dict.fromkeys(batch, b"a.test p s 0 {}"))
            pipeline.hincrby(frontier.key("counts"), "finished", 0)
            await pipeline.execute()
        entries = [part for one in batch for part in ("finish", one, "A#1", 0, "", f"{tellable} p", "")]
        head = ["wake", "other", "A", 4, 30, 0, 1_000, 300_000, len(batch)]
        done = 0
        while done < len(batch):
            _ended, came_to, _turns = await scripts.run(
                frontier.redis, script, keys, [*head[:-1], len(batch) - done, *entries[done * 7 :]]
            )
            done += came_to


async def offer(frontier, prints, rate, again="", reason="late"):
    """Returns the answers; what is new fails at once, so that nothing waits."""
    script, keys = scripts.with_filters("offer", rate), frontier.keys.partition(0).script_keys("content")
    answers = b""
    while len(answers) < len(prints):
        batch = prints[len(answers) : len(answers) + BATCH]
        entries = [part for one in batch for part in (one, b"a.test p s 0 {}", 0)]
        answers += await scripts.run(
            frontier.redis, script, keys, ["wake", 0, "", "", "", "", again, reason, 0, *entries]
        )
    return answers


async def figures(frontier):
    return {
        name.decode(): int(number) for name, number in (await frontier.redis.hgetall(frontier.key("counts"))).items()
    }


@pytest.mark.parametrize("rate", [1e-3, 1e-5, 1e-7])
async def test_no_finished_page_is_forgotten_and_errors_stay_within_the_budget_as_filters_grow(
    frontier, rate, small_slices
):
    prints, others = fingerprints(12_000, 1), fingerprints(20_000, 2)
    await finish(frontier, prints, rate)
    assert len([key async for key in frontier.redis.scan_iter("*:finished:filter:*")]) == 4
    counted = await figures(frontier)
    exact = sum(map(finished.number_of_records, (await buckets_of(frontier)).values()))
    assert exact == sum(int.from_bytes(one[12:]) % 1000 == 0 for one in prints)
    assert counted["filtered"] == len(prints) - exact
    assert await offer(frontier, prints, rate) == b"0" * len(prints)
    erred = (await offer(frontier, others, rate)).count(b"0")
    assert erred <= {1e-3: 30, 1e-5: 2, 1e-7: 0}[rate]
    assert 0 < counted["filter_expected"] / 10**12 <= rate
    counted = await figures(frontier)
    assert counted["filter_asked"] == sum(int.from_bytes(one[12:]) % 1000 == 0 for one in others)
    assert counted.get("filter_erred", 0) <= 1
    assert counted["finished"] == len(prints)


async def test_pages_without_an_item_stay_exact_and_come_again_where_that_is_asked_for(frontier):
    prints = fingerprints(200, 3)
    await finish(frontier, prints, 1e-5, tellable=0)
    assert sum(map(finished.number_of_records, (await buckets_of(frontier)).values())) == 200
    assert not await frontier.redis.exists(frontier.key("finish") + ":filter")
    assert await offer(frontier, prints, 1e-5, again="again", reason="") == b"1" * 200


async def test_errors_beyond_the_budget_are_refused_by_name_until_it_is_raised(frontier):
    prints, others = fingerprints(5_000, 4), fingerprints(500, 5)
    await finish(frontier, prints, 1e-3)
    await frontier.redis.hset(frontier.key("finish") + ":filter", "in 1", 65_536)  # it is full
    refused = [one for one in prints + others if int.from_bytes(one[12:]) % 1000]
    assert await offer(frontier, refused, 1e-5) == b"2" * len(refused)
    account = await frontier.account()
    assert account.notes == {"over-error-budget": len(refused)}
    assert int((await figures(frontier))["filter_beyond_s"]) > 0
    assert await offer(frontier, refused, 1e-3) == b"0" * (len(refused) - 500) + b"5" * 500


async def test_when_no_further_slice_is_made_what_filters_could_tell_is_refused(frontier, monkeypatch):
    change_part(monkeypatch, {**SMALL, "local MAX_SLICES = 32": "local MAX_SLICES = 1"})
    await finish(frontier, fingerprints(1_000, 6), 1e-3)
    (other, *_) = [one for one in fingerprints(10, 7) if int.from_bytes(one[12:]) % 1000]
    assert await offer(frontier, [other], 1e-3) == b"5"
    await finish(frontier, fingerprints(9_000, 8), 1e-3)
    (other, *_) = [one for one in fingerprints(10, 9) if int.from_bytes(one[12:]) % 1000]
    assert await offer(frontier, [other], 1e-3) == b"2"


@pytest.fixture
async def filtered(frontier):
    """The driver of a frontier whose queues have filters."""
    config = FrontierConfig(frontier.keys, dedup_error_rate=1e-5)
    frontier.queues = {name: Queue(frontier.redis, config, name) for name in frontier.queues}
    return frontier


async def test_a_crawl_reconciles_and_says_of_a_page_that_filters_have_it(filtered):
    seeds = [content(number) for number in range(60)]
    await filtered.offer(*seeds)
    while claimed := (await filtered.claim()).seeds:
        await filtered.settle("A", [Settlement("finish", one, tellable=True) for one in claimed], turns(claimed))
    assert await filtered.problems() == []
    assert not any(await filtered.offer(*seeds))
    account = await filtered.account()
    assert (account.finished, account.known, account.difference) == (60, 60, 0)
    (seed, *_) = [one for one in seeds if int.from_bytes(one.fingerprint[12:]) % 1000]
    info = await seed_info(filtered.queues["content"], seed)
    assert (info.state, info.details) == ("finished", {"plans": ["p"]})
    assert "as filters have it" in info.why
    assert (await seed_info(filtered.queues["content"], content(99))).state == "unknown"
    assert await filtered.problems() == []


async def test_another_plan_fetches_a_page_for_itself(filtered):
    (seed, *_) = [content(number) for number in range(9) if int.from_bytes(content(number).fingerprint[12:]) % 1000]
    await filtered.offer(seed)
    await filtered.settle("A", [Settlement("finish", one, tellable=True) for one in (await filtered.claim()).seeds])
    assert await filtered.offer(content(int(seed.url.rsplit("/", 1)[-1]), plan="other")) == [True]
    assert await filtered.problems() == []


def test_scripts_have_no_part_of_filters_where_all_is_exact():
    assert scripts.with_filters("offer", 0.0) == "offer"
    for name in ("offer", "settle"):
        assert "BITFIELD" not in scripts.source(name)
        assert "local DEDUP_ERROR_RATE = 1e-05\n" in scripts.source(scripts.with_filters(name, 1e-5))


async def test_a_frontier_with_filters_refuses_processes_without(redis):
    keys = Keys("t")
    await prepare(redis, keys, 1)
    await prepare(redis, keys, 1, has_filters=True)
    with pytest.raises(FrontierError, match="setting DEDUP_MODE: got exact, expected bloom"):
        await prepare(redis, keys, 1)
    await prepare(redis, keys, 1, any_format=True)


async def test_junk_in_place_of_filters_stops_no_script(frontier):
    prints = fingerprints(50, 10)
    await frontier.redis.hset(frontier.key("finish") + ":filter", mapping={"1": "junk", "in 1": "rm -rf", "x": "y"})
    await finish(frontier, prints, 1e-5)
    assert await offer(frontier, prints, 1e-5) == b"0" * 50
    assert await number_of_buckets_or_none(frontier) in (None, 1)


async def number_of_buckets_or_none(frontier):
    if not await frontier.redis.hexists(frontier.key("counts"), "finished_buckets"):
        return None
    return await number_of_buckets(frontier)
