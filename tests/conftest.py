"""Real servers for the tests: each is started when the first test asks for it, and never one that others use."""

from __future__ import annotations

import contextlib
import signal
import subprocess
import sys
import uuid

import command_line
import pytest
import redis
from command_line import ROOT
from needs import started
from pymongo import MongoClient

from testbed.servers import Forum, Kafka, Mongo, Process, Redis
from testbed.servers.mediawiki import MediaWiki
from testbed.servers.redis_cluster import RedisCluster
from testbed.servers.wiki_pages import wiki_pages

# Who is started in the background ignores interrupts, and so would all that the tests start and interrupt.
signal.signal(signal.SIGINT, signal.default_int_handler)
# What a test didn't ask for can't be reached, least of all a real server that the environment names.
NOWHERE = {
    "REDIS_URL": "redis://127.0.0.1:1/0",
    "REDIS_CLUSTER": "0",
    "KAFKA_BOOTSTRAP_SERVERS": "127.0.0.1:1",
    "MONGO_URL": "mongodb://127.0.0.1:1",
    "MONGO_DATABASE": "nowhere",
}


@pytest.fixture(scope="session")
def server_folder(tmp_path_factory):
    return tmp_path_factory.mktemp("servers")


@pytest.fixture(scope="session")
def redis_server(server_folder):
    with started(Redis, server_folder) as server:
        yield server


@pytest.fixture(scope="session")
def redis_cluster(server_folder):
    with started(RedisCluster, server_folder) as cluster:
        yield cluster


@pytest.fixture(scope="session")
def mongo_server(server_folder):
    with started(Mongo, server_folder) as server:
        yield server


@pytest.fixture(scope="session")
def kafka_server(server_folder):
    with started(Kafka, server_folder) as server:
        yield server


@pytest.fixture(scope="session")
def mediawiki(server_folder):
    with started(MediaWiki, server_folder, wiki_pages()) as server:
        yield server


@pytest.fixture(scope="session")
def forum(server_folder):
    """The demo's forum; `forum.url` is its origin, `forum.access_log` its requests as JSON lines."""
    with started(Forum, server_folder, "--delay-ms", "200") as server:
        yield server


@pytest.fixture
def redis_url(redis_server):
    """URL of an empty database of our own server."""
    with contextlib.closing(redis.Redis(port=redis_server.port)) as client:
        client.flushall()
    return redis_server.url


@pytest.fixture
def mongo_database(mongo_server):
    """Name of a database of our own server, dropped afterwards."""
    name = f"test_{uuid.uuid4().hex}"
    yield name
    with MongoClient(mongo_server.url) as client:
        client.drop_database(name)


@pytest.fixture
def topic_prefix():
    """Begins topics that no other test uses."""
    return f"test-{uuid.uuid4().hex}."


@pytest.fixture
def scrapy_command(redis_url, tmp_path):
    """Returns a function that gives the words of a `scrapy` command and its environment.

    Redis is `redis_url`, files go below `tmp_path`; Kafka and Mongo are where `environment` says, or nowhere.
    """

    def build(name, *arguments, settings=None, environment=None):
        settings = {"ITEMS_DIR": tmp_path / "items", "FILES_STORE": tmp_path / "media"} | (settings or {})
        options = [word for key, value in settings.items() for word in ("-s", f"{key}={value}")]
        words = [sys.executable, "-m", "scrapy", name, *options, *map(str, arguments)]
        return words, {**NOWHERE, "REDIS_URL": redis_url, **(environment or {})}

    return build


@pytest.fixture
def scrapy(scrapy_command):
    """Returns `run(NAME, *ARGUMENTS, settings={}, environment={}, stdin="", timeout=60)`: a command, run to its end.

    `scrapy crawl` runs in a process of its own, the others in this one. The result has `returncode`, `stdout` and
    `stderr`.
    """

    def run(*arguments, stdin="", timeout=command_line.COMMAND_SECONDS, **options):
        words, environment = scrapy_command(*arguments, **options)
        done = command_line.run(words, environment, stdin=stdin.encode(), timeout_s=timeout)
        return subprocess.CompletedProcess(words, done.returncode, done.stdout.decode(), done.stderr.decode())

    return run


@pytest.fixture
def spawn(scrapy_command, tmp_path):
    """Returns `start(NAME, *ARGUMENTS, settings={}, environment={})`: a `scrapy` command in the background.

    It gives a `Process` (wait, stop, kill, log). Whatever still runs when the test ends is killed.
    """
    with contextlib.ExitStack() as running:

        def start(name, *arguments, **options):
            words, environment = scrapy_command(name, *arguments, **options)
            label = f"{name}-{len(list(tmp_path.glob('*.log'))) + 1}"
            process = Process(label, words, tmp_path, environment=environment, directory=ROOT)
            running.callback(process.kill)
            process.start()
            return process

        yield start
