"""A Redis is lost with its disk and restored from a backup, by the very commands of docs/backup.md."""

from __future__ import annotations

import os
import shutil
import signal
from collections import Counter

import pytest
from documents.reader import Reader
from documents.walk import ROOT
from faults.rig import Rig
from waiting import until

from testbed.forum.content import expected_results
from testbed.servers import Redis

pytestmark = pytest.mark.faults

PAGE = ROOT / "docs" / "backup.md"
PAGES = 3  # of results


@pytest.fixture
def reader(rig_of_its_own, tmp_path):
    """Whoever follows the page beside Redis: with the variables that it names, and Redis's programs."""
    server = rig_of_its_own.redis_server
    configuration, backup = tmp_path / "redis.conf", tmp_path / "backup"
    backup.mkdir()
    configuration.write_text(
        f"bind 127.0.0.1\nport {server.port}\ndir {server.folder}\n"
        "appendonly yes\nsave ''\nmaxmemory-policy noeviction\n"
    )
    variables = {"REDIS_DIR": server.folder, "REDIS_CONF": configuration, "BACKUP": backup}
    return Reader(PAGE, tmp_path, rig_of_its_own.environment | variables)


@pytest.fixture
def rig_of_its_own(fork_server, tmp_path, origin, mongo_server):
    """A cluster whose Redis may be lost."""
    with Redis(tmp_path / "own") as server:
        rig = Rig(fork_server, tmp_path, origin, server, mongo_server)
        yield rig
        rig.redis.shutdown(nosave=True)  # the one that the page starts
        rig.close()


def test_redis_is_lost_with_its_disk_and_restored_from_an_older_backup(rig_of_its_own, reader, forum, row):
    rig = rig_of_its_own
    begin = rig.origin.size()
    rig.submit([{"use": "demo_forum", "name": "demo_forum", "base": forum.url}], ["洪水"], name="flood", pages=PAGES)
    rig.offer(rig.origin.urls(600, "slow"), site="paced")
    workers = rig.joined(2)
    until(lambda: rig.ended() >= 50, "pages")
    reader.follow("Every hour")

    workers.append(rig.worker("producer"))  # all that it finds is newer than the backup
    until(lambda: rig.ended() >= 250 and rig.counts("nav")["finished"] >= 2, "more pages", 120)
    for worker in workers:  # what is offered now, nobody crawls before Redis is lost
        os.kill(worker.pid, signal.SIGSTOP)
    late = rig.origin.urls(100, "slow", first=600)
    rig.scrapy("seeds", "offer", "--site", "polite", "--plan", "late", "-", stdin="".join(f"{url}\n" for url in late))
    reader.follow("Every minute")
    saved = rig.json("ledger")
    rig.redis_server.kill()
    shutil.rmtree(rig.redis_server.folder)
    for worker in workers:
        os.kill(worker.pid, signal.SIGCONT)

    printed = reader.follow("When Redis is lost")
    assert "not there any more: 'late'" in printed
    rig.until_done(240)
    assert all(worker.running for worker in workers)
    assert rig.audit().wrong == {}
    asked = Counter((port, path) for _, port, _, path in rig.origin.requests(begin))
    again = sum(number > 1 for number in asked.values())
    delivered = {item["url"] for item in rig.items()}
    assert not delivered & set(late)
    assert {row["plan"] for row in rig.json("ledger")["rows"]} == {row["plan"] for row in saved["rows"]} - {"late"}
    results = [thread.path for thread in expected_results("洪水", "html")[: PAGES * 20]]
    assert {forum.url + path for path in results if path.startswith("/thread/")} <= delivered  # others aren't items
    assert again > 0

    rig.offer(late, site="polite")
    rig.until_done(120)
    row("Redis lost with its disk, restored from an older backup", rig.audit(), fetched_again=again)
