"""A frontier that code of an older format began is migrated and crawled to its end; who comes late is refused."""

from __future__ import annotations

import os
import signal
import time
from contextlib import closing

import pytest
from faults.rig import SESSION_SECONDS
from faults.wire import Wire
from releases import lay_out
from waiting import until

from crawler.frontier.keys import SCHEMA_VERSION

pytestmark = pytest.mark.faults

PLAN = """
name: {name}
sites: [{{use: demo_forum, name: demo_forum, base: "{base}"}}]
keywords: {{event: {{required: [{word}]}}}}
pages: 2
"""


def test_a_frontier_of_format_2_is_migrated_though_that_is_killed_midway(files_rig, forum, row, tmp_path):
    """Begun by the last code of that format, whose worker is killed with pages under way."""
    rig, tree = files_rig, lay_out("SCHEMA_VERSION = 2 ", "crawler/frontier/keys.py", tmp_path)

    def old(*words):
        assert rig.start(*words, tree=tree).wait(60) == 0

    for name, word in (("flood", "洪水"), ("later", "flood")):
        (tmp_path / f"{name}.yaml").write_text(PLAN.format(name=name, word=word, base=forum.url), "utf-8")
        old("plan", "submit", tmp_path / f"{name}.yaml")
    old("plan", "pause", "later")
    rig.account.update(rig.origin.urls(600, "slow"))
    old("seeds", "offer", "--site", "paced", *sorted(rig.account))
    producer, consumer = (rig.worker(spider, tree=tree) for spider in ("producer", "consumer"))
    until(lambda: rig.ended() >= 100, "pages")
    assert "2 workers are alive" in rig.run("frontier", "migrate").stderr
    consumer.kill()
    producer.stop()
    refuses_to_start(rig.worker(), "format 2, older than this version's")
    sessions = rig.keys.partition(0).sessions
    until(lambda: not rig.redis.zcount(sessions, 1000 * rig.redis.time()[0], "+inf"), "its session to lapse")
    with closing(Wire(rig.redis_server.port)) as wire:
        killed = rig.start("frontier", "migrate", environment={"REDIS_URL": wire.url})
        moved = 0

        def kill_at_the_third(data, _number):
            nonlocal moved
            moved += data.count(b"HSETNX")
            if moved < 3:
                return data
            os.kill(killed.pid, signal.SIGKILL)
            return None

        wire.on_call = kill_at_the_third
        assert killed.wait(60) == -signal.SIGKILL
    assert rig.redis.hget(rig.keys.schema, "version") == b"2-to-3 1"
    refuses_to_start(rig.worker(), "on its way from format 2 to 3")
    refuses_to_start(rig.worker(tree=tree), "format '2-to-3 1'")
    began = time.monotonic()
    rig.scrapy("frontier", "migrate")
    seconds = time.monotonic() - began
    refuses_to_start(rig.worker(tree=tree), f"format '{SCHEMA_VERSION}'")

    assert rig.json("plan", "list")["plans"][1]["state"] == "paused"
    rig.scrapy("plan", "resume", "later")
    rig.finish(consumers=2, producers=1)
    row("migrated from format 2, killed midway", rig.audit(), second_try_s=f"{seconds:.1f}")
    assert {item["plan"] for item in rig.items()} >= {"flood", "later"}


def test_a_worker_that_was_frozen_while_the_frontier_was_migrated_ends_and_loses_nothing(files_rig, row):
    rig = files_rig
    rig.offer(rig.origin.urls(200, "slow"), site="paced")
    frozen = rig.worker()
    until(lambda: rig.ended() >= 20, "pages")
    os.kill(frozen.pid, signal.SIGSTOP)
    until(lambda: rig.workers()[0]["state"] == "lapsed", "its session to lapse", 3 * SESSION_SECONDS + 10)
    rig.redis.hset(rig.keys.schema, "version", SCHEMA_VERSION + 1)  # as a migration would, when it has ended
    os.kill(frozen.pid, signal.SIGCONT)
    refuses_to_start(frozen, "this worker ends: Redis holds a frontier of format")
    rig.redis.hset(rig.keys.schema, "version", SCHEMA_VERSION)  # so that today's workers stand for tomorrow's
    rig.finish()
    row("frozen while the frontier was migrated", rig.audit())


def refuses_to_start(worker, why):
    """Waits until a worker has ended with status 1, and its log says why."""
    assert worker.wait(60) == 1
    assert why in worker.log.read_text()
