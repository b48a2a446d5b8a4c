"""deploy/small without an engine: its services by their own words in a clean root, over a restart of the machine."""

from __future__ import annotations

import contextlib
import json
import shlex
from collections import Counter
from contextlib import closing

import pytest
import redis
import yaml
from deploy.clean_root import WORKER_UID
from deploy.clone import PLAN, slow_down
from deploy.dockerfile import ENVIRONMENT, PROGRAMS
from waiting import until

from crawler.frontier.keys import Keys
from testbed.servers.process import ROOT, Process, free_port
from testbed.servers.redis import server_program

pytestmark = pytest.mark.deploy
COMPOSE = yaml.safe_load((ROOT / "deploy/small/compose.yaml").read_text("utf-8"))
SERVICES = COMPOSE["services"]
SECONDS = 120  # some ten times what it takes on an idle machine
LOCAL = {"ALLOW_PRIVATE_ADDRESSES": "1", "NODE_CPU_LIMIT_PERCENT": "100", "SESSION_SECONDS": "2"}
RESTARTED = [("valkey", 1), ("producer", 1), ("consumer", SERVICES["consumer"]["deploy"]["replicas"])]


class Small:
    """What `docker compose up` starts, and what comes back with the machine: services of `restart: unless-stopped`."""

    def __init__(self, root, folder):
        self.root = root
        self.folder = folder
        self.port = free_port()
        self.url = f"redis://127.0.0.1:{self.port}/0"
        self.running = []

    def up(self):
        for name, replicas in RESTARTED:
            assert SERVICES[name]["restart"] == "unless-stopped"
            for number in range(replicas):
                words = self._valkey() if name == "valkey" else self._words(SERVICES[name]["command"])
                process = Process(f"{name}-{number}", words, self.folder)
                process.start()
                self.running.append(process)
            if name == "valkey":  # the others depend on its health
                until(self._valkey_answers, "Valkey")

    def shell(self, *command):
        """Returns what a command of the service `shell` prints."""
        assert SERVICES["shell"]["environment"] == SERVICES["consumer"]["environment"]
        environment = self._environment()
        return self.root.run(shlex.join(["scrapy", *command]), uid=WORKER_UID, environment=environment)

    def lose_power(self):
        for process in self.running:
            process.kill()
        self.running.clear()

    def counts(self, frontier="content"):
        """Returns the seeds by state, as Crawl.counts does."""
        with closing(redis.Redis.from_url(self.url, decode_responses=True)) as client:
            counts = client.hgetall(Keys("hr").partition(0).of(frontier, "counts"))
        return Counter({name: int(seeds) for name, seeds in counts.items()})

    def is_done(self):
        both = [self.counts(frontier) for frontier in ("nav", "content")]
        return not any(counts["ready"] or counts["executing"] for counts in both)

    def items(self):
        files = self.root.place("/var/lib/headroom/items").glob("*.jsonl")
        return [json.loads(line) for file in files for line in file.read_text("utf-8").splitlines()]

    def _valkey_answers(self):
        with closing(redis.Redis.from_url(self.url)) as client, contextlib.suppress(redis.ConnectionError):
            return client.ping()
        return False

    def _environment(self):
        given = {name: str(value) for name, value in SERVICES["consumer"]["environment"].items()}
        here = {"REDIS_URL": given["REDIS_URL"].replace("valkey:6379", f"127.0.0.1:{self.port}"), "CONTACT": ""}
        return ENVIRONMENT | given | here | LOCAL | {"PATH": PROGRAMS}

    def _words(self, command):
        return self.root.words(
            shlex.join(["exec", "scrapy", *command]), uid=WORKER_UID, environment=self._environment()
        )

    def _valkey(self):
        program, *options = SERVICES["valkey"]["command"].split()
        assert program == "valkey-server"
        data = self.folder / "valkey"
        data.mkdir(exist_ok=True)
        return [server_program(), *options, "--port", str(self.port), "--bind", "127.0.0.1", "--dir", str(data)]


@pytest.fixture
def small(image, tmp_path):
    small = Small(image, tmp_path)
    small.up()
    yield small
    small.lose_power()


def test_nothing_is_lost_when_the_machine_goes_down_in_mid_crawl_and_all_comes_back_by_itself(small, forum):
    (site,) = small.root.place("/opt/headroom").glob("lib/python*/site-packages/crawler/sites/demo_forum.yaml")
    slow_down(site)
    small.root.place("/source/slow.yaml").write_text(PLAN.format(base=forum.url), "utf-8")
    small.shell("plan", "submit", "/source/slow.yaml")
    until(lambda: small.counts()["executing"] and small.items(), "pages to be crawled", SECONDS)
    small.lose_power()
    small.up()
    until(small.is_done, "the crawl to end", SECONDS)
    assert json.loads(small.shell("ledger", "--verify", "--json"))["total"]["difference"] == 0
    counts = small.counts()  # a page that leads to another one has the other's item
    assert len({item["id"] for item in small.items()}) == counts["finished"] - counts["redirected"] > 20
