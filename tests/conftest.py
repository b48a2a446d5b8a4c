"""Real servers for the tests: each is started when the first test asks for it, and never one that others use."""

from __future__ import annotations

import atexit
import gc
import logging
import os
import signal
import sys
import tempfile
import uuid
import warnings
from pathlib import Path

import pytest
from crawl import Crawl
from forkserver import ForkServer
from hostile.hostile_wire_server import Host
from needs import need, started
from pymongo import MongoClient
from redis import Redis as SyncRedis
from redis.asyncio import Redis as AsyncRedis
from releases import ROOT, write_entry_points

from crawler.render import chromium
from crawler.render.errors import BrowserMissingError
from testbed.servers import ForumServer, Kafka, Mongo, Redis
from testbed.servers.redis_cluster import RedisCluster

# The commands are this checkout's, whichever was installed last, for this process and for those that it starts.
_commands = tempfile.TemporaryDirectory(prefix="commands-")
atexit.register(_commands.cleanup)
write_entry_points(ROOT, Path(_commands.name))
sys.path.insert(0, _commands.name)
os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, (_commands.name, os.environ.get("PYTHONPATH"))))

# Who is started in the background ignores interrupts, and so would all that the tests start and interrupt.
signal.signal(signal.SIGINT, signal.default_int_handler)
pytest_plugins = ["parts"]
# Where nearly every test starts some.
PROCESS_FOLDERS = ("documents", "end_to_end", "testbed", "hostile", "own_spiders", "commands", "faults", "frontier")
WAITING_PROCESSES = 4  # beyond the processors; each has servers of its own, up to a gigabyte with Kafka


def pytest_xdist_auto_num_workers():
    """Returns how many processes run the tests: more than there are processors, since most tests wait for others."""
    processors = len(os.sched_getaffinity(0))
    return processors + min(processors, WAITING_PROCESSES)


def pytest_collection_modifyitems(items):
    """Marks the tests that start processes."""
    for item in items:
        if "server_folder" in item.fixturenames or item.path.parent.name in PROCESS_FOLDERS:
            item.add_marker("process")


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    """Spares the garbage collector what is imported and collected, which stays to the end."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()


def pytest_collection_finish():
    """Keeps it from visiting thousands of tests again and again."""
    gc.freeze()


@pytest.fixture(autouse=True, scope="module")
def _spared():
    """Keeps it from visiting what a file's tests leave for good: modules, caches, servers. What they leak was told."""
    yield
    gc.collect()
    gc.freeze()


@pytest.fixture(autouse=True)
def _collect(request):
    """Has what a test left open collected before the next one, which would be blamed for it. It takes 2 ms.

    A test of faults isn't blamed: a client whose server is killed while it connects may leave a socket that it doesn't
    close.
    """
    yield
    with warnings.catch_warnings():
        if request.node.get_closest_marker("faults"):
            warnings.simplefilter("ignore", ResourceWarning)
        gc.collect()


@pytest.fixture(autouse=True)
def _logging_as_it_was():
    """Takes back what a test has done to the root logger, which the next one would be blamed for."""
    level, handlers = logging.root.level, [*logging.root.handlers]
    yield
    logging.root.setLevel(level)
    for handler in [*logging.root.handlers]:
        if handler not in handlers and not type(handler).__module__.startswith("_pytest"):
            logging.root.removeHandler(handler)
            handler.close()


@pytest.fixture(scope="session")
def server_folder(tmp_path_factory):
    return tmp_path_factory.mktemp("servers")


def shared(kind, *arguments):
    """Returns a fixture: a server for all tests, started when the first one asks for it."""

    @pytest.fixture(scope="session")
    def server(server_folder):
        with started(kind, server_folder, *arguments) as running:
            yield running

    return server


fork_server = shared(ForkServer)
redis_server = shared(Redis)
redis_cluster = shared(RedisCluster)
mongo_server = shared(Mongo)
kafka_server = shared(Kafka)
forum = shared(
    ForumServer, "--delay-ms", "200"
)  # the demo's; `url` is its origin, `access_log` its requests as JSON lines


@pytest.fixture(scope="session")
def chromium_path():
    """Where the browser is; a test that needs it is skipped where there is none."""
    try:
        return chromium.find("")
    except BrowserMissingError as error:
        need(error)


@pytest.fixture
def redis_url(redis_server):
    """URL of an empty database of our own server."""
    with SyncRedis(port=redis_server.port) as client:
        client.flushall()
    return redis_server.url


@pytest.fixture
async def redis(redis_url):
    """A client for the event loop of an empty Redis."""
    async with AsyncRedis.from_url(redis_url) as client:
        yield client


@pytest.fixture
def serve():
    """Returns a function that serves a script, which says of each path what is answered, or one answer to all."""
    hosts = []

    def start(script, **options):
        hosts.append(Host(script if callable(script) else lambda _path: [script], **options))
        return hosts[-1]

    yield start
    for host in hosts:
        host.close()


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
def crawl(fork_server, redis_url, tmp_path):
    """A `Crawl` with `redis_url`; files are below `tmp_path`, Kafka and Mongo are nowhere."""
    with Crawl(fork_server, tmp_path, redis_url) as crawl:
        yield crawl


@pytest.fixture
def scrapy(crawl):
    """Returns `run(NAME, *ARGUMENTS, settings={}, environment={}, stdin="", timeout=60)`: a command, run to its end.

    `scrapy crawl` and `runspider` run in processes of their own, the others in this one. The result has `returncode`,
    `stdout` and `stderr`.
    """
    return crawl.run


@pytest.fixture
def spawn(crawl):
    """Returns `start(NAME, *ARGUMENTS, settings={}, environment={})`: a `scrapy` command in the background.

    It gives a `Process` (wait, stop, kill, log). Whatever still runs when the test ends is killed.
    """
    return crawl.start


@pytest.fixture
def scrapy_command(crawl):
    """Returns a function that gives the words of a `scrapy` command and its environment."""

    def build(*words, settings=None, environment=None):
        command = [sys.executable, "-m", "scrapy", *crawl.words(*words, settings=settings)]
        return command, crawl.environment | (environment or {})

    return build
