"""`scrapy top`, on a real Redis and in a real terminal."""

from __future__ import annotations

import fcntl
import os
import pty
import select
import signal
import struct
import subprocess
import termios
import time

import pytest
from command_line import ROOT
from commands.answers import error_of, json_of, lines_of
from commands.test_nodes import add_worker

from crawler.servers.redis import redis_sync
from crawler.telemetry import history, host_history
from crawler.telemetry.host_history import HostCounts
from testbed.servers import Redis

PATIENCE_SECONDS = 30.0
HOME = "\x1b[H"  # what a terminal is sent before each screen


@pytest.fixture
async def work(operator, redis_url):
    """A worker that runs, and what was done of late."""
    await add_worker(operator, "a-node:10:1:x")
    now_s = await operator.registry.now_ms() // 1000
    with redis_sync({"REDIS_URL": redis_url}) as client:
        history.add(client, operator.keys, now_s, {"pages": 1_200, "status:200": 1_100, "failed:http-404": 7})
        host_history.add(client, operator.keys, now_s, {"a.test": HostCounts(5, 2_500_000, 1)})


@pytest.mark.usefixtures("work")
def test_each_view_is_printed_once_without_a_terminal(scrapy):
    lines = lines_of(scrapy("top", "--once"))
    for line in ("last hour per second now", "200 1,100", "http-404 7", "workers alive 1 of 1", "nav 0 0 0 0 0 0"):
        assert line in lines
    assert lines_of(scrapy("top", "--view", "nodes")) == [
        "node process frontier carries room pages/min CPU % mem % state",
        "a-node 10 content 7 3 120 41.5 20.0 alive",
    ]
    assert lines_of(scrapy("top", "--view", "hosts"))[-1] == "a.test 5 2.5 MB 1"
    answer = json_of(scrapy("top", "--json"))
    assert answer["last_hour"]["pages"] == 1_200
    assert answer["hosts"]["a.test"]["errors"] == 1
    assert answer["workers"][0]["node"] == "a-node"


def test_wrong_words_are_refused(scrapy):
    assert error_of(scrapy("top", "nodes")) == "scrapy top takes no arguments"
    assert "--view" in error_of(scrapy("top", "--view", "moon"))


class Terminal:
    """A command in a terminal of its own."""

    def __init__(self, command, environment):
        self._ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 30, 100, 0, 0))
        self.before = termios.tcgetattr(theirs)
        self._theirs = theirs
        self.process = subprocess.Popen(
            command, cwd=ROOT, env=environment, stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True
        )
        self.text = ""

    def wait_for(self, words):
        """Reads on until these words were shown."""
        self._read_until(lambda: words in self.text, words)

    def wait_for_screen(self, words, *, without):
        """Reads on until a whole screen has these words, and not the others."""

        def is_there():
            return any(words in screen and without not in screen for screen in self.text.split(HOME)[1:])

        self._read_until(is_there, words)

    def _read_until(self, is_there, words):
        deadline, self.text = time.monotonic() + PATIENCE_SECONDS, ""
        while not is_there():
            assert time.monotonic() < deadline, f"waited in vain for {words!r}: {self.text}"
            if select.select([self._ours], [], [], 0.5)[0]:
                self.text += os.read(self._ours, 100_000).decode(errors="replace")

    def is_as_before(self):
        return termios.tcgetattr(self._theirs) == self.before

    def close(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        os.close(self._ours)
        os.close(self._theirs)


@pytest.fixture
def terminal(scrapy_command):
    """Returns a function that starts `scrapy top` in a terminal; it is closed with the test."""
    opened = []

    def start(*words, **environment):
        command, inherited = scrapy_command("top", *words)
        opened.append(Terminal(command, os.environ | inherited | {"TERM": "xterm-256color"} | environment))
        return opened[-1]

    yield start
    for one in opened:
        one.close()


@pytest.mark.usefixtures("work")
def test_an_interrupt_leaves_the_terminal_as_it_was(terminal):
    shown = terminal("--view", "nodes", NO_COLOR="1")
    shown.wait_for("pages/min")
    assert "\x1b[38" not in shown.text
    assert "\x1b[31" not in shown.text
    shown.process.send_signal(signal.SIGINT)
    assert shown.process.wait(PATIENCE_SECONDS) == 130
    assert shown.is_as_before()


def test_it_goes_on_when_redis_is_back(terminal, tmp_path):
    server = Redis(tmp_path)
    server.start()
    try:
        shown = terminal(REDIS_URL=server.url)
        shown.wait_for("per second now")
        server.stop()
        shown.wait_for("as it was before: Redis at")
        server.start()
        shown.wait_for_screen("turns held", without="as it was before")
    finally:
        server.stop()
