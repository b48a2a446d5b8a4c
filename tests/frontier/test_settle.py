"""A claim ends once, by the word of who holds it, and the ledger counts how."""

from __future__ import annotations

from frontier.driver import content, ends, turns

HOUR_MS = 3_600_000


async def claimed(frontier, *seeds, **options):
    await frontier.offer(*seeds)
    return (await frontier.claim(frontier=seeds[0].frontier, **options)).seeds


async def test_finished_seeds_leave_only_their_fingerprint(frontier):
    seeds = await claimed(frontier, content(1), content(2))
    assert await frontier.finish("A", seeds) == (2, 0)
    account = await frontier.account()
    assert (account.finished, account.executing, account.ready, account.difference) == (2, 0, 0, 0)
    assert await frontier.problems() == []
    for name in ("seed", "claims", "execute", "held:A", "tries", "reasons", "crashes"):
        assert not await frontier.redis.exists(frontier.key(name))


async def test_a_retry_waits_and_counts_a_try(frontier):
    seeds = await claimed(frontier, content(1))
    await frontier.settle("A", ends(seeds, "retry", 30_000, "http-503"), turns(seeds))
    answer = await frontier.claim()
    assert answer.seeds == []
    assert 29_000 < answer.wait_ms <= 30_000
    await frontier.make_due(content(1))
    assert (await frontier.claim()).seeds[0].tries == 1
    assert (await frontier.account()).notes == {"retried": 1}


# -- Scheduled seeds --------------------------------------------------------------------------------------------------
