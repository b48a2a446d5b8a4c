import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import time
import uuid
from collections import Counter
from pathlib import Path

import psutil
import pytest
import redis
from kafka import KafkaAdminClient
from pymongo import MongoClient

from crawler import plans
from crawler.errors import HeadroomError
from testbed.folder import MARK, OutputFolder
from testbed.forum.content import expected_results
from testbed.forum.kinds import AWAY

ROOT = Path(__file__).parents[2]
BOARDS = {"demo_forum": "html", "demo_forum_ajax": "ajax"}
SERVERS = ("REDIS_URL", "MONGO_URL", "KAFKA_BOOTSTRAP_SERVERS", "MONGO_DATABASE")
DEMO_SECONDS = 120.0  # twice what a demo may take at all, on a loaded machine


class Run:
    """A `scrapy demo` in the background, in a folder of its own; knows all processes that descend from it."""

    def __init__(self, folder, *arguments, environment=None):
        self.folder = folder
        self._mark = uuid.uuid4().hex
        inherited = {key: value for key, value in os.environ.items() if key not in SERVERS}
        settings = {"SCRAPY_SETTINGS_MODULE": "crawler.settings", "PYTHONPATH": str(ROOT), "PYTHONUNBUFFERED": "1"}
        self._environment = {**inherited, **settings, "DEMO_RUN": self._mark, **(environment or {})}
        self.process = subprocess.Popen(
            [sys.executable, "-m", "scrapy", "demo", *arguments],
            cwd=folder,
            env=self._environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
        )
        self.output = ""

    def until(self, text):
        """Reads on until a line has `text`; returns that line."""
        for line in self.process.stdout:
            self.output += line
            if text in line:
                return line
        raise AssertionError(f"{text!r} never came: {self.output}{self.process.stderr.read()}")

    def end(self):
        """Waits for the end; returns the exit status and what stderr got."""
        rest, errors = self.process.communicate(timeout=DEMO_SECONDS)
        self.output += rest
        return self.process.returncode, errors

    def shell(self, command):
        """Runs a command line as a user would paste it, in the same place and environment."""
        return subprocess.run(
            ["sh", "-c", command],
            cwd=self.folder,
            env=self._environment,
            capture_output=True,
            encoding="utf-8",
            timeout=DEMO_SECONDS,
            check=False,
        )

    def living(self):
        """Returns the command lines of all its processes that live now, its own among them."""
        found = []
        for process in psutil.process_iter():
            with contextlib.suppress(psutil.NoSuchProcess, psutil.AccessDenied):
                if process.environ().get("DEMO_RUN") == self._mark and process.status() != psutil.STATUS_ZOMBIE:
                    found.append(process.cmdline())
        return found

    def nothing_lives(self):
        """Waits, bounded, until all have ended: the watchers of killed processes take some ms to follow."""
        deadline = time.monotonic() + 10
        while (left := self.living()) and time.monotonic() < deadline:
            time.sleep(0.01)
        return left == []


@pytest.fixture
def demo(tmp_path):
    """Returns `start(*ARGUMENTS, environment={})`; what still runs when the test ends is ended."""
    runs = []

    def start(*arguments, environment=None):
        runs.append(Run(tmp_path, *arguments, environment=environment))
        return runs[-1]

    yield start
    for run in runs:
        run.process.kill()
        run.process.communicate()


@pytest.fixture
def no_java(tmp_path):
    """A PATH with a `java` that can't do anything: the demo finds it, and Kafka doesn't start."""
    folder = tmp_path / "bin"
    folder.mkdir()
    (folder / "java").write_text("#!/bin/sh\nsleep 2\necho no memory\nexit 1\n")
    (folder / "java").chmod(0o755)
    (folder / "mvn").write_text("#!/bin/sh\nsleep 2\necho no route\nexit 1\n")
    (folder / "mvn").chmod(0o755)
    return {"PATH": f"{folder}:{os.environ['PATH']}"}


def messages(folder):
    files = (folder / "demo-output" / "items").glob("*.jsonl")
    return [json.loads(line) for file in files for line in file.read_text("utf-8").splitlines()]


def truth():
    """How many items the forum has for the plan, by site."""
    plan = plans.load(str(ROOT / "plans/demo.yaml"), max_seeds=10_000)
    most = plan.pages * plan.per_page
    counts = {}
    for site, board in BOARDS.items():
        found = {thread.id: thread for words in plan.combinations() for thread in expected_results(words, board)[:most]}
        counts[site] = sum(thread.kind.item != "none" or thread.kind is AWAY for thread in found.values())
    return counts


def fact(output, name):
    """Returns what the summary says under a name."""
    return re.search(rf"^{name} +(.*)$", output, re.MULTILINE)[1]


def commands(output, title):
    """Returns the commands under a title, without their comments."""
    block = output.partition(title)[2].partition("\n")[2]
    return [
        line.partition("  #")[0].strip()
        for line in block.splitlines()
        if line.startswith("  ") and "The forum" not in line
    ]


def test_the_whole_demo(demo, tmp_path):
    run = demo()
    status, errors = run.end()
    assert (status, errors) == (0, ""), run.output
    assert run.nothing_lives()

    expected = truth()
    items = messages(tmp_path)
    total = sum(expected.values())
    assert Counter(item["resource"] for item in items) == expected
    assert len({item["id"] for item in items}) == total
    assert all((tmp_path / "demo-output/media" / image["path"]).exists() for item in items for image in item["images"])

    assert fact(run.output, "plan").endswith("plans/demo.yaml: 11 combinations")
    assert fact(run.output, "seeds").startswith("66 search pages, ")
    assert fact(run.output, "items") == f"{total}: " + ", ".join(f"{site} {expected[site]}" for site in BOARDS)
    sinks = ["files", "mongo", *(["kafka"] if "no kafka" not in run.output else [])]
    assert fact(run.output, "sinks") == ", ".join(f"{sink} {total}" for sink in sinks) + ", the same by id"
    if os.environ.get("CI") == "true":
        assert "kafka" in sinks
    assert fact(run.output, "ledger") == "difference 0, and a recount agrees"
    assert int(fact(run.output, "speed").partition(" ")[0].replace(",", "")) > 60
    assert float(fact(run.output, "time").partition(" ")[0]) < 60
    assert "3 items in short" in run.output
    assert "first item: " in run.output
    assert not (tmp_path / "demo-output/servers").exists()

    tries = commands(run.output, "Try next")
    assert len(tries) == 3
    for command in tries[:2]:
        assert run.shell(command).returncode == 0, command
    assert tries[2].endswith("scrapy demo --keep")


def test_named_servers_are_used_and_kept_on_request(demo, tmp_path, redis_url, mongo_server, no_java):
    named = {"REDIS_URL": redis_url, "MONGO_URL": mongo_server.url}
    run = demo("--keep", environment=named | no_java)
    run.until("The forum is at ")
    total = sum(truth().values())
    assert fact(run.output, "sinks") == f"files {total}, mongo {total}, the same by id"
    assert "kafka: left out. " in run.output
    assert fact(run.output, "no kafka").endswith(("no memory", "no route"))
    with redis.Redis.from_url(redis_url) as client:
        prefixes = {key.partition(b":")[0].decode() for key in client.scan_iter()}
    assert len(prefixes) == 1
    (room,) = prefixes
    with MongoClient(mongo_server.url) as client:
        assert client[room].items.count_documents({}) == total
    looks = commands(run.output, "The servers stay up")
    assert [command.split()[1] for command in looks] == ["ledger", "plan"]
    for command in looks:
        assert run.shell(command).returncode == 0, command
    run.process.send_signal(signal.SIGINT)
    status, errors = run.end()
    assert (status, errors) == (0, "")
    assert run.nothing_lives()
    with redis.Redis.from_url(redis_url) as client:
        assert list(client.scan_iter()) == []
    with MongoClient(mongo_server.url) as client:
        assert room not in client.list_database_names()


def test_nothing_is_left_in_named_servers(demo, redis_url, mongo_server, no_java):
    named = {"REDIS_URL": redis_url, "MONGO_URL": mongo_server.url}
    with MongoClient(mongo_server.url) as client:
        before = client.list_database_names()
    run = demo(environment=named | no_java)
    run.until("first item: ")
    run.process.send_signal(signal.SIGTERM)
    status, errors = run.end()
    assert (status, errors) == (128 + signal.SIGTERM, "stopped: nothing of it is left running\n")
    assert run.nothing_lives()
    with redis.Redis.from_url(redis_url) as client:
        assert list(client.scan_iter()) == []
    with MongoClient(mongo_server.url) as client:
        assert client.list_database_names() == before


def test_all_servers_can_be_named(demo, redis_url, mongo_server, kafka_server):
    named = {
        "REDIS_URL": redis_url,
        "MONGO_URL": mongo_server.url,
        "KAFKA_BOOTSTRAP_SERVERS": kafka_server.bootstrap,
    }
    run = demo("--json", environment=named)
    status, errors = run.end()
    assert status == 0, errors
    result = json.loads(run.output)
    total = sum(truth().values())
    assert result["items"] == truth()
    assert result["sinks"] == {"files": total, "mongo": total, "kafka": total}
    assert (result["problems"], result["difference"], result["left_out"]) == ([], 0, {})
    with contextlib.closing(KafkaAdminClient(bootstrap_servers=kafka_server.bootstrap)) as admin:
        assert not [topic for topic in admin.list_topics() if topic.startswith("demo-")]


@pytest.mark.parametrize("moment", ["redis: ", "Fetching Apache Kafka"])
def test_ctrl_c_leaves_nothing_running(moment, demo, tmp_path, no_java):
    (tmp_path / "bin" / "mvn").write_text("#!/bin/sh\nsleep 600 & sleep 600\n")
    run = demo(environment=no_java | {"XDG_CACHE_HOME": str(tmp_path / "cache")})
    run.until(moment)
    assert len(run.living()) > 1
    run.process.send_signal(signal.SIGINT)
    status, errors = run.end()
    assert (status, errors) == (128 + signal.SIGINT, "stopped: nothing of it is left running\n")
    assert run.nothing_lives()
    assert [path for path in (tmp_path / "cache/headroom").iterdir() if path.is_dir()] == []


def test_a_dead_worker_is_one_clear_line(demo, tmp_path, no_java):
    run = demo(environment=no_java)
    run.until("first item: ")
    workers = [process for process in psutil.Process(run.process.pid).children() if "consumer" in process.cmdline()]
    workers[0].kill()
    status, errors = run.end()
    assert status == 1
    assert re.fullmatch(
        r"error: consumer-\d ended with status -9; last of demo-output/logs/consumer-\d.log: .*\n", errors
    )
    assert run.nothing_lives()


def test_a_named_server_that_is_away_is_one_clear_line(demo):
    run = demo(environment={"REDIS_URL": "redis://:secret@127.0.0.1:1/0"})
    status, errors = run.end()
    assert status == 1
    assert errors == "error: REDIS_URL: redis://127.0.0.1:1/0 doesn't answer (ConnectionError)\n"
    assert run.nothing_lives()


def test_a_folder_with_other_files_is_left_alone(tmp_path):
    (tmp_path / "letter").write_text("dear")
    with pytest.raises(HeadroomError, match="holds files that are not the demo's"), OutputFolder(tmp_path):
        pass
    assert [path.name for path in tmp_path.iterdir()] == ["letter"]


def test_a_second_demo_finds_the_folder_taken(tmp_path):
    with (
        OutputFolder(tmp_path / "out"),
        pytest.raises(HeadroomError, match="another demo is running in"),
        OutputFolder(tmp_path / "out"),
    ):
        pass


def test_only_the_demos_own_parts_are_emptied(tmp_path):
    with OutputFolder(tmp_path) as folder:
        folder.items.mkdir()
        (folder.items / "old.jsonl").touch()
        (tmp_path / "notes").touch()
    with OutputFolder(tmp_path):
        assert {path.name for path in tmp_path.iterdir()} == {MARK, "notes"}


def test_a_link_is_not_followed(tmp_path):
    (tmp_path / "precious").mkdir()
    (tmp_path / "precious" / "letter").touch()
    with OutputFolder(tmp_path / "out"):
        pass
    (tmp_path / "out" / "items").symlink_to(tmp_path / "precious")
    with pytest.raises(HeadroomError), OutputFolder(tmp_path / "out"):
        pass
    assert (tmp_path / "precious" / "letter").exists()
