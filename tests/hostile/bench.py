"""Commands, workers and a web server for the hostile tests, each set up once for a whole test file."""

from __future__ import annotations

import contextlib
import json
import subprocess
from urllib.parse import urlsplit

import redis
from hostile.hostile_wire_server import Host
from runner import Runner

RUN_SECONDS = 120.0  # a run takes some 10 s on an idle machine
SETTINGS = {"STOP_WHEN_DONE": 1, "NODE_CPU_LIMIT_PERCENT": 100, "RETRY_BASE_SECONDS": 0, "ROBOTS_RETRY_SECONDS": 0}
ARTICLE = "<article><p>" + "Some words of a page that is long enough to be one. " * 20 + "</p></article>"


class Bench(Runner):
    """A folder with sites, items and media, and `scrapy` commands that use it.

    Args:
        settings: Of every command; `environment` likewise.
    """

    def __init__(self, server, folder, redis_url, *, site=None, settings=None, environment=None):
        self.folder = folder
        self.redis_url = redis_url
        self.items_folder, self.media_folder, self.sites_folder = (
            folder / name for name in ("items", "media", "sites")
        )
        self.sites_folder.mkdir(parents=True, exist_ok=True)
        if site is not None:
            (self.sites_folder / "hostile.yaml").write_text(site, encoding="utf-8")
        folders = {"SITES_DIR": self.sites_folder, "ITEMS_DIR": self.items_folder, "FILES_STORE": self.media_folder}
        super().__init__(server, folder, folders | (settings or {}), {"REDIS_URL": redis_url} | (environment or {}))

    def command(self, *words, text="", settings=None, environment=None):
        """Runs a command to its end; its output is bytes, as a terminal would get them."""
        done = self.run(*words, stdin=text, settings=settings, environment=environment)
        return subprocess.CompletedProcess(done.args, done.returncode, done.stdout.encode(), done.stderr.encode())

    def json(self, *words):
        """Returns what a command prints as JSON."""
        done = self.command(*words, "--json")
        assert done.returncode == 0, done.stderr.decode()
        return json.loads(done.stdout)

    def crawl(self, *spiders, settings=None, environment=None):
        """Runs workers until nothing is left to do; returns what they logged."""
        chosen = SETTINGS | (settings or {})
        running = [self.start("crawl", spider, settings=chosen, environment=environment) for spider in spiders]
        for process in running:
            assert process.wait(RUN_SECONDS) == 0, process.log.read_text(errors="replace")
        return b"".join(process.log.read_bytes() for process in running)

    def offer(self, urls, *options):
        return self.command("seeds", "offer", "--site", "hostile", *options, "-", text="\n".join(urls))

    def unfinished(self):
        """Returns state and reason of each seed that isn't finished, by URL."""
        seeds = self.json("seeds", "list", "--limit", "10000")["seeds"]
        return {seed["url"]: (seed["state"], seed["reason"]) for seed in seeds}

    def total(self):
        return self.json("ledger")["total"]

    def lines(self):
        """Returns the lines of all item files."""
        return [
            line for file in sorted(self.items_folder.glob("*.jsonl")) for line in file.read_bytes().split(b"\n")[:-1]
        ]

    def items(self):
        """Returns the items by URL."""
        return {item["url"]: item for item in map(json.loads, self.lines())}

    def dump(self):
        """Returns every key and value of Redis."""
        with redis.Redis.from_url(self.redis_url) as client:
            return {key: read(client, key) for key in client.scan_iter(count=1_000)}


def read(client, key):
    """Returns the value of a key of any type."""
    if (kind := client.type(key)) in (b"zset", b"list"):
        return client.zrange(key, 0, -1, withscores=True) if kind == b"zset" else client.lrange(key, 0, -1)
    readers = {b"string": client.get, b"hash": client.hgetall, b"set": client.smembers, b"stream": client.xrange}
    return readers[kind](key)


def page(title="T", extra=""):
    """Returns the answer for a page with a text."""
    html = f"<!doctype html><html><head><title>{title}</title></head><body>{extra}{ARTICLE}</body></html>"
    return 200, [("Content-Type", "text/html; charset=utf-8")], html.encode("utf-8", "surrogatepass")


@contextlib.contextmanager
def serving(pages):
    """Runs a host, and proxy to itself, of (status, [(header, value)], body) by path; other pages aren't there."""

    def script(path):
        status, headers, body = pages.get(urlsplit(path).path, (404, [], b""))
        lines = [f"HTTP/1.1 {status} Fine", *(f"{name}: {value}" for name, value in headers)]
        lines += [f"Content-Length: {len(body)}", "Connection: close", "", ""]
        return ["\r\n".join(lines).encode("utf-8", "surrogateescape") + body]

    with contextlib.closing(Host(script, script)) as host:
        yield host
