"""No call holds Redis up for long: one that has no more time says how far it came, and its caller sends the rest."""

from __future__ import annotations

import pytest
from frontier.driver import content, ends, turns
from redis.exceptions import ConnectionError as RedisConnectionError

from crawler.frontier import scripts
from crawler.frontier.seed_admin import SeedAdmin

SEEDS = 100
LOOK_EVERY = 8  # entries between two looks at the clock, as lua/lib/budget.lua has it
PAGES = [content(number, f"h{number % 20}.test") for number in range(SEEDS)]
pytestmark = pytest.mark.usefixtures("hurried")


@pytest.fixture
def calls(monkeypatch):
    """The names of the scripts that were run, for the test to look at."""
    names = []

    def counted(real):
        def run(redis, name, *rest, **options):
            names.append(name)
            return real(redis, name, *rest, **options)

        return run

    for call in ("run", "run_after"):
        monkeypatch.setattr(scripts, call, counted(getattr(scripts, call)))
    return names


@pytest.fixture
def admin(frontier):
    return SeedAdmin(frontier.queues["content"])


async def claim_all(frontier, owner="A"):
    """Claims until there is nothing more."""
    held = []
    while seeds := (await frontier.claim(owner)).seeds:
        held += seeds
    return held


async def test_a_seed_s_life_goes_on_in_more_calls(frontier, calls):
    assert await frontier.offer(*PAGES) == [True] * SEEDS
    assert await frontier.offer(*PAGES) == [False] * SEEDS
    held = await claim_all(frontier)
    assert len(held) == SEEDS
    assert await frontier.finish("A", held) == (SEEDS, 0)
    assert min(calls.count(name) for name in ("offer", "settle")) > SEEDS // LOOK_EVERY
    assert calls.count("claim") > 1
    assert (await frontier.totals()).finished == SEEDS
    assert await frontier.redis.exists(frontier.key("held:A"), "t:{0}:turns:A") == 0
    assert await frontier.problems() == []


async def test_what_an_operator_does_to_many_seeds_goes_on_in_more_calls(frontier, admin, calls):
    await frontier.offer(*PAGES)
    await frontier.mark("pause p")
    assert await admin.set_aside("p") == SEEDS
    await frontier.mark()
    assert await admin.resume("p") == SEEDS
    await frontier.mark("cancel p")
    assert await admin.set_aside("p") == SEEDS
    await frontier.mark()
    assert await admin.retry(lambda _one: True, "p") == SEEDS
    assert await admin.drop("p", lambda _one: True, "replaced") == SEEDS
    assert min(calls.count(name) for name in ("set_aside", "resume", "retry", "drop")) > SEEDS // LOOK_EVERY
    assert await frontier.problems() == []


async def test_what_a_lost_answer_gave_is_taken_back_in_more_calls(frontier, losing, calls):
    """Each call takes some of it, and reads no more of what its owner holds than it takes."""
    await frontier.offer(*PAGES)
    known = (await frontier.claim("A")).seeds
    losing.add("claim")
    with pytest.raises(RedisConnectionError):
        await frontier.claim("A")
    losing.clear()
    assert await frontier.settle("A", []) == (0, 0)
    assert calls.count("recall") > 1
    assert await frontier.redis.scard(frontier.key("held:A")) == len(known)
    frontier.queues["content"].forget(0, "A")
    assert await frontier.queues["content"].recall(0, "A") == len(known)
    assert await frontier.redis.exists(frontier.key("held:A"), "t:{0}:turns:A") == 0
    assert await frontier.settle("A", ends(known), turns(known)) == (0, len(known))
    assert len(await claim_all(frontier, "B")) == SEEDS
    assert await frontier.problems() == []
