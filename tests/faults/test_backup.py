"""A Redis is lost with its disk and restored from a backup, by the very commands of docs/backup.md."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from documents.walk import ROOT, blocks
from faults.rig import Rig
from waiting import until

from testbed.forum.content import expected_results
from testbed.servers import Redis
from testbed.servers.redis import server_program

pytestmark = pytest.mark.faults

PAGE = ROOT / "docs" / "backup.md"
PAGES = 3  # of results
PLAN = """
name: flood
sites: [{{use: demo_forum, name: demo_forum, base: "{base}"}}]
keywords: {{event: {{required: [洪水]}}}}
pages: {pages}
"""
# What redis-cli does of what the page asks of it, for machines where only the tests' own server is installed.
REDIS_CLI = """#!{python}
import sys, redis
option, url, *words = sys.argv[1:]
assert option == "-u"
client = redis.Redis.from_url(url)
client.response_callbacks.clear()
try:
    answer = client.execute_command(*words)
except redis.RedisError as error:
    sys.exit(f"{{error}}")
print(answer.decode() if isinstance(answer, bytes) else answer)
"""


class Operator:
    """Whoever follows the page, beside Redis: with the variables that it names, and Redis's programs."""

    def __init__(self, rig, server, folder):
        self._folder = folder
        programs, data, configuration = folder / "bin", folder / "own" / "redis", folder / "redis.conf"
        for one in (programs, folder / "backup"):
            one.mkdir()
        (programs / "redis-server").symlink_to(server_program())
        if not shutil.which("redis-cli"):
            (programs / "redis-cli").write_text(REDIS_CLI.format(python=sys.executable))
            (programs / "redis-cli").chmod(0o755)
        configuration.write_text(
            f"bind 127.0.0.1\nport {server.port}\ndir {data}\nappendonly yes\nsave ''\nmaxmemory-policy noeviction\n"
        )
        variables = {"REDIS_DIR": data, "REDIS_CONF": configuration, "BACKUP": folder / "backup"}
        path = f"{programs}:{Path(sys.executable).parent}:{os.environ['PATH']}"
        self._environment = os.environ | rig.environment | {name: str(one) for name, one in variables.items()}
        self._environment["PATH"] = path

    def follow(self, word):
        """Runs the block of the page that has a word; returns what it printed."""
        (script,) = (text for language, text in blocks(PAGE) if language == "sh" and word in text)
        log = self._folder / "shell.log"  # no pipe: a daemon would keep it open
        with log.open("wb") as output:
            options = {"cwd": ROOT, "env": self._environment, "stdout": output, "stderr": output}
            status = subprocess.run(["sh", "-e", "-c", script], check=False, timeout=120, **options).returncode
        assert status == 0, log.read_text()
        return log.read_text()


def test_redis_is_lost_with_its_disk_and_restored_from_an_older_backup(
    fork_server, tmp_path, origin, mongo_server, forum, row
):
    with Redis(tmp_path / "own") as server:
        rig = Rig(fork_server, tmp_path, origin, server, mongo_server)
        operator = Operator(rig, server, tmp_path)
        try:
            row("Redis lost with its disk, restored from an older backup", **lose_and_restore(rig, operator, forum))
        finally:
            rig.redis.shutdown(nosave=True)  # the one that the page starts
            rig.close()


def lose_and_restore(rig, operator, forum):
    """Returns the figures of the fault."""
    (rig.folder / "plan.yaml").write_text(PLAN.format(base=forum.url, pages=PAGES), "utf-8")
    rig.scrapy("plan", "submit", rig.folder / "plan.yaml")
    rig.offer(rig.origin.urls(600, "slow"), site="paced")
    workers = [rig.worker() for _ in range(2)]
    until(lambda: rig.ended() >= 50, "pages")
    operator.follow("bgsave")

    workers.append(rig.worker("producer"))  # all that it finds is newer than the backup
    late = rig.origin.urls(100, "slow", first=600)
    rig.scrapy("seeds", "offer", "--site", "paced", "--plan", "late", "-", stdin="".join(f"{url}\n" for url in late))
    until(lambda: rig.ended() >= 250 and rig.counts("nav")["finished"] >= 2, "more pages", 120)
    operator.follow("scrapy ledger --json")
    saved = rig.json("ledger")
    rig.redis_server.kill()
    shutil.rmtree(rig.redis_server.folder)

    printed = operator.follow("appendonly no")
    assert "not there any more: 'late'" in printed
    rig.until_done(240)
    assert all(worker.running for worker in workers)
    audit = rig.audit()
    assert (audit.lost, audit.stuck, audit.mongo_duplicates, audit.difference) == (0, 0, 0, 0)
    asked = Counter((port, path) for _, port, _, path in rig.origin.requests())
    again = sum(number > 1 for number in asked.values())
    delivered = {item["url"] for item in rig.items()}
    lost = set(late) - delivered
    assert {row["plan"] for row in rig.json("ledger")["rows"]} == {row["plan"] for row in saved["rows"]} - {"late"}
    assert {forum.url + thread.path for thread in expected_results("洪水", "html")[: PAGES * 20]} <= delivered
    assert again > 0
    assert lost

    rig.offer(late, site="paced")
    rig.until_done(120)
    audit = rig.audit()
    assert (audit.lost, audit.stuck, audit.mongo_duplicates, audit.difference) == (0, 0, 0, 0)
    return {"fetched_again": again, "lost_until_offered_again": len(lost), "mongo_duplicates": 0, "lost_then": 0}
