"""A name is looked up once at a time and remembered for a while, and no request waits for ever."""

from __future__ import annotations

import asyncio
import errno
import socket
import subprocess
import sys
import textwrap
import threading
import time
from unittest.mock import Mock

import pytest
from waiting import PATIENCE_SECONDS

from crawler.base.errors import NodeError
from crawler.download import dns
from crawler.download.dns import KEEP_NONE_SECONDS, KEEP_SECONDS, MAX_ADDRESSES, NO_ADDRESSES, DnsCache, HostAddresses


class NameServer:
    """Gives its answers one after the other; remembers the names that it was asked for."""

    def __init__(self, *answers):
        self.answers = list(answers)
        self.asked = []

    def __call__(self, name):
        self.asked.append(name)
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer


@pytest.fixture
def later(monkeypatch):
    """Sets the clock of the cache forward."""
    now, begun = [0.0], time.monotonic()
    monkeypatch.setattr(dns.time, "monotonic", lambda: begun + now[0])
    return lambda seconds: now.append(now.pop() + seconds)


async def test_an_answer_is_remembered_for_a_while(later):
    server = NameServer(["8.8.8.8", "10.0.0.1", "8.8.8.8"], ["9.9.9.9"])
    cache = DnsCache(10, server)
    assert cache.cached("a.test") is None
    first = await cache.resolve("a.test")
    assert first == HostAddresses(("8.8.8.8", "10.0.0.1"), ("8.8.8.8",))
    later(KEEP_SECONDS - 1)
    assert cache.cached("a.test") is first
    later(2)
    assert (await cache.resolve("a.test")).every == ("9.9.9.9",)
    assert server.asked == ["a.test"] * 2


@pytest.mark.parametrize("answer", [[], socket.gaierror("no"), UnicodeError("label too long")])
async def test_a_name_without_addresses_is_remembered_for_less(later, answer):
    server = NameServer(answer, ["9.9.9.9"])
    cache = DnsCache(10, server)
    assert await cache.resolve("a.test") == await cache.resolve("a.test") == NO_ADDRESSES
    later(KEEP_NONE_SECONDS + 1)
    assert (await cache.resolve("a.test")).every == ("9.9.9.9",)


async def test_an_address_is_itself_and_no_server_is_asked():
    cache = DnsCache(10, NameServer())
    assert await cache.resolve("8.8.8.8") == HostAddresses(("8.8.8.8",), ("8.8.8.8",), literal=True)
    assert await cache.resolve("::1") == HostAddresses(("::1",), (), literal=True)
    assert (await cache.resolve("::ffff:0808:0808")).public == ("::ffff:8.8.8.8",)  # as sockets' addresses are written


async def test_one_lookup_at_a_time_however_many_wait():
    go, server = threading.Event(), NameServer(["8.8.8.8"])

    def slow(name):
        go.wait(PATIENCE_SECONDS)
        return server(name)

    cache = DnsCache(10, slow)
    waiting = [asyncio.create_task(cache.resolve("a.test")) for _ in range(20)]
    gone = asyncio.create_task(cache.resolve("a.test"))
    await asyncio.sleep(0)
    gone.cancel()
    go.set()
    assert {one.every for one in await asyncio.gather(*waiting)} == {("8.8.8.8",)}
    assert server.asked == ["a.test"]


async def test_a_slow_name_has_no_address_until_its_answer_comes(monkeypatch):
    monkeypatch.setattr(dns, "LOOKUP_SECONDS", 0.02)
    go = threading.Event()
    cache = DnsCache(10, lambda _name: ["8.8.8.8"] if go.wait(PATIENCE_SECONDS) else [])
    assert await cache.resolve("a.test") == NO_ADDRESSES
    assert cache.cached("a.test") == NO_ADDRESSES
    go.set()
    await asyncio.wait(cache._lookups.values(), timeout=PATIENCE_SECONDS)
    await asyncio.sleep(0)
    assert cache.cached("a.test") == HostAddresses(("8.8.8.8",), ("8.8.8.8",))  # a late answer counts


def test_a_name_server_that_never_answers_holds_no_process_that_ends():
    program = """
        import asyncio, time
        from crawler.download import dns
        dns.LOOKUP_SECONDS = 0.01
        print(asyncio.run(dns.DnsCache(10, lambda _name: time.sleep(3_600)).resolve("a.test")).every)
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(program)], capture_output=True, timeout=60, check=True)
    assert (done.stdout, done.stderr) == (b"()\n", b"")


async def test_it_remembers_so_many_and_of_each_so_many_addresses():
    many = [f"8.8.{n}.8" for n in range(200)]
    cache = DnsCache(2, NameServer(many, many, many))
    for name in ("a.test", "b.test", "c.test"):
        assert len((await cache.resolve(name)).every) == MAX_ADDRESSES
    assert cache.cached("a.test") is None
    assert cache.cached("c.test") is not None
    forgetful = DnsCache(0, NameServer(["8.8.8.8"], ["9.9.9.9"]))
    assert await forgetful.resolve("a.test") != await forgetful.resolve("a.test")


async def test_without_another_source_the_system_is_asked():
    assert set((await DnsCache(0).resolve("localhost")).every) <= {"127.0.0.1", "::1"}


async def test_who_has_no_file_descriptor_left_has_not_asked(monkeypatch):
    cache = DnsCache(10, NameServer(socket.gaierror(socket.EAI_AGAIN, "no"), ["9.9.9.9"]))
    with monkeypatch.context() as patch:
        patch.setattr(dns.socket, "socket", Mock(side_effect=OSError(errno.EMFILE, "Too many open files")))
        with pytest.raises(OSError, match="Too many open files"):
            await cache.resolve("a.test")
    assert cache.cached("a.test") is None
    assert (await cache.resolve("a.test")).every == ("9.9.9.9",)


async def test_who_gets_no_thread_has_not_asked(monkeypatch):
    monkeypatch.setattr(threading.Thread, "start", Mock(side_effect=RuntimeError("can't start new thread")))
    with pytest.raises(NodeError):
        await DnsCache(10).resolve("a.test")
