"""Commands, workers and a web server for the hostile tests, each set up once for a whole test file."""

from __future__ import annotations

import json
import subprocess
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit

import redis
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
    kind = client.type(key).decode()
    return {
        "string": lambda: client.get(key),
        "hash": lambda: client.hgetall(key),
        "zset": lambda: client.zrange(key, 0, -1, withscores=True),
        "set": lambda: client.smembers(key),
        "list": lambda: client.lrange(key, 0, -1),
        "stream": lambda: client.xrange(key),
    }.get(kind, lambda: kind)()


def until(condition, what, seconds=40.0):
    """Waits for a condition."""
    deadline = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < deadline, f"waited in vain for {what}"
        time.sleep(0.05)
    return found


def page(title="T", extra=""):
    """Returns the answer for a page with a text."""
    html = f"<!doctype html><html><head><title>{title}</title></head><body>{extra}{ARTICLE}</body></html>"
    return 200, [("Content-Type", "text/html; charset=utf-8")], html.encode("utf-8", "surrogatepass")


class Web(ThreadingHTTPServer):
    """A site, and a proxy to itself. `pages` maps paths to (status, [(header, value)], body); others aren't there.

    Attributes:
        asked: (path, headers) of each request.
    """

    daemon_threads = True
    request_queue_size = 128

    def __init__(self, pages=None):
        super().__init__(("127.0.0.1", 0), Answers)
        self.pages = pages or {}
        self.asked = []
        self.url = f"http://127.0.0.1:{self.server_port}"
        self._thread = threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.02})

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self.shutdown()
        self._thread.join()
        self.server_close()

    def handle_error(self, *_):
        """Says nothing: clients that go away are part of the tests."""


class Answers(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        url = urlsplit(self.path)
        self.server.asked.append((self.path, dict(self.headers)))
        status, headers, body = self.server.pages.get(url.path, (404, [], b""))
        lines = [f"HTTP/1.1 {status} Fine".encode()]
        for name, value in [*headers, ("Content-Length", str(len(body)))]:
            lines.append(name.encode() + b": " + value.encode("utf-8", "surrogateescape"))
        self.wfile.write(b"\r\n".join(lines) + b"\r\n\r\n" + body)

    def log_message(self, *_):
        """Says nothing."""
