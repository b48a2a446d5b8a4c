"""The process of the forum, as the demo starts it; what its pages hold is shown by the crawls that read them."""

import http.client
import signal
import subprocess
import sys
from contextlib import closing, contextmanager
from urllib.parse import urlsplit

import pytest
from waiting import PATIENCE_SECONDS

from testbed.forum import kinds
from testbed.forum.content import threads

pytestmark = pytest.mark.process


@contextmanager
def running(*options):
    """Starts a forum; gives the address where it listens and its process."""
    command = [sys.executable, "-m", "testbed.forum", "--port", "0", *options]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            line = process.stdout.readline()
            assert line.startswith("listening on http://127.0.0.1:")
            yield urlsplit(line.split()[-1]), process
        finally:
            process.terminate()


def connection(address):
    return closing(http.client.HTTPConnection(address.netloc, timeout=PATIENCE_SECONDS))


@pytest.mark.parametrize("stop", [signal.SIGTERM, signal.SIGINT])
def test_signal_ends_it_even_with_a_slow_page_under_way(stop):
    slow = next(thread for thread in threads() if thread.kind is kinds.SLOW)
    with (
        running("--delay-ms", "600000") as (address, process),
        connection(address) as waiting,
        connection(address) as answered,
    ):
        waiting.request("GET", slow.path)
        answered.request("GET", "/robots.txt")
        assert answered.getresponse().status == 200
        process.send_signal(stop)
        assert process.wait(timeout=PATIENCE_SECONDS) == 0


@pytest.mark.parametrize("options", [["--port"], ["--access-log", "/nonesuch/access.log", "--port", "0"]])
def test_what_stops_the_start_is_one_line(options):
    with running() as (address, _):
        if options == ["--port"]:
            options = ["--port", str(address.port)]
        command = [sys.executable, "-m", "testbed.forum", *options]
        ended = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_SECONDS, check=False)
    assert (ended.returncode, ended.stdout) == (1, "")
    assert ended.stderr.startswith("forum: ")
    assert ended.stderr.count("\n") == 1
