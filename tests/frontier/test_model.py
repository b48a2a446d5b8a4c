"""The Lua scripts do what the model says, whatever happens in whatever order."""

from __future__ import annotations

import asyncio
import functools
import os
import random
from collections import Counter
from types import SimpleNamespace

import pytest
from frontier.interleavings import Interleaving, Transport, program, with_own_time, without_needless
from frontier.model import WrongError

from crawler.frontier import scripts
from crawler.servers.redis import redis_async
from crawler.worker.offers import known_pages

SHORT, SHORT_FAULTS = 2_000, 20_000  # these begin with seed 1; the full form with one drawn each time
LONG = 200_000 if os.environ.get("FAULTS") == "full" else SHORT_FAULTS
STEPS_OF_A_PROGRAM = 250
REACHED = {  # what programs must make the frontier do, for what they don't come to isn't tested
    *(f"offered: {what}" for what in ("new", "known", "remembered", "over-budget", "deleted", "replaced")),
    *(f"claim answered: {what}" for what in ("ok", "laden", "quarantined", "lapsed")),
    *(f"claimed: to be {what}" for what in ("fetched", "told")),
    "claimed: beside the order",
    *(f"settled: {what}" for what in ("finish", "retry", "fail", "release", "postpone", "fetch", "refused")),
    *(
        f"counted: {what}"
        for what in (
            "script-route",
            "redirected",
            "moved",
            "changed-target",
            "reclaimed",
            "retried",
            "missed",
            "visits",
        )
    ),
    *(f"counted: failed:{what}" for what in ("timeout", "out-of-scope", "cancelled", "replaced", "crashed-worker")),
    *(f"counted: deleted:{what}" for what in ("offered", "known", "failed", "finished")),
    *(f"recalled: {what}" for what in ("never answered", "ended, says the worker")),
    *(f"turns acquired: of {what}" for what in ("a host", "an address")),
    *(f"told of plans: {what}" for what in ("active", "paused", "cancelled", "deleted", "late")),
    *(
        "sessions spared",
        "finished seeds reopened",
        "smaller depth taken",
        "failed seeds forgotten",
        "failed for others only",
        "failed for some of its plans",
    ),
    *("Crawl-delay: kept", "Crawl-delay: dropped", "held for robots.txt"),
    *("set_aside", "resume", "retry", "drop", "forget"),
}


@pytest.fixture
def transport(monkeypatch):
    """Carries the calls of all scripts, which read the time from a key."""
    transport = Transport()
    monkeypatch.setattr(scripts, "source", with_own_time(scripts.source))
    monkeypatch.setattr(scripts, "digest", functools.cache(scripts.digest.__wrapped__))
    monkeypatch.setattr(known_pages, "time", SimpleNamespace(monotonic=lambda: transport.now_ms / 1_000))
    for call in ("run", "run_after"):
        monkeypatch.setattr(scripts, call, transport.through(getattr(scripts, call)))
    return transport


@pytest.mark.parametrize("steps", [SHORT, pytest.param(LONG, marks=pytest.mark.faults)])
def test_the_scripts_do_what_the_model_says(redis_url, transport, record_property, steps):
    """MODEL_SEED in the environment chooses the programs; a failure says which seed begins with the one that failed."""
    first = int(os.environ.get("MODEL_SEED", random.randrange(2**32) if steps > SHORT_FAULTS else 1))
    record_property("summary", f"{steps:,} steps of the frontier's model from MODEL_SEED={first}")
    reached = Counter()
    with asyncio.Runner() as runner:
        redis = redis_async({"REDIS_URL": redis_url})

        def fault_of(steps_of_it):
            runner.run(redis.flushdb())
            transport.fate = "heard"
            try:
                runner.run(Interleaving(redis, transport, reached).run(steps_of_it))
            except WrongError as error:
                return str(error)
            return ""

        try:
            for seed in range(first, first + steps // STEPS_OF_A_PROGRAM):
                failing = program(random.Random(seed), STEPS_OF_A_PROGRAM)
                if fault_of(failing):
                    failing = without_needless(failing, fault_of)
                    lines = [
                        f"MODEL_SEED={seed}: {fault_of(failing)}",
                        *(f"    {name}({how})" for name, how in failing),
                    ]
                    raise WrongError("\n".join(lines))
        finally:
            runner.run(redis.aclose())
    if steps > SHORT:
        counts = {what: number for what, number in sorted(reached.items()) if number}
        record_property("summary", "\n".join(f"{number:9,}  {what}" for what, number in counts.items()))
        assert steps == SHORT_FAULTS or not REACHED - counts.keys()  # a tenth of the steps may miss what is rare
