"""TLS: certificates are verified by default, and a handshake is as bounded as an answer."""

from __future__ import annotations

from itertools import chain

import pytest
from hostile.hostile_wire_bodies import PAGE, answer, forever
from hostile.hostile_wire_cases import FINISH
from hostile.hostile_wire_certificates import DAY, OTHER_HOST, THIS_HOST, Authority
from hostile.hostile_wire_server import HOLD
from hostile.hostile_wire_worker import TROUBLE, Worker, hosts

pytestmark = pytest.mark.faults  # most servers here are waited for
CERTIFICATE = b"\x16\x03\x03\x40\x00" + bytes(16_384)  # looks like the beginning of a handshake


@pytest.fixture(scope="module")
def authority(tmp_path_factory):
    return Authority(tmp_path_factory.mktemp("certificates"))


@pytest.fixture(scope="module")
def servers(authority):
    """What servers show, by name: arguments of a host, and how a page ends when certificates are verified."""

    def shows(name, ends, subject=THIS_HOST, headers=(), **options):
        tls = authority.certificate(name, subject, **options)
        return {"script": lambda _path: [answer(PAGE, *headers)], "tls": tls}, ends

    def sends(ends, *steps, then=()):
        return {"script": lambda _path: chain(steps, then), "raw": True}, ends

    return {
        "a-good-one": shows("good", FINISH),
        "a-good-one-and-an-odd-head": shows("odd", FINISH, headers=(b"no colon", b"\xff: \x00")),
        "self-signed": shows("self-signed", "tls", self_signed=True),
        "of-another-host": shows("another", "tls", OTHER_HOST),
        "of-no-host": shows("none", "tls", None),
        "expired": shows("expired", "tls", since=-2 * DAY, until=-DAY),
        "of-tomorrow": shows("tomorrow", "tls", since=DAY, until=2 * DAY),
        "none-but-http": sends("tls", answer()),
        "endless-http": sends("tls", then=forever(answer())),
        "none-ever": sends("timeout", HOLD),
        "by-the-byte": sends("timeout", CERTIFICATE[:5], then=forever(b"x", 0.2)),
        "without-end": sends("cut off", then=forever(CERTIFICATE)),
        "closed-at-once": sends("connection"),
        "closed-after-the-hello": sends("connection", 0.2),
    }


def crawled(fork_server, redis_server, folder, authority, servers, **settings):
    """Crawls a page of each server; returns how they ended, and the worker's log."""
    settings = {"ROBOTSTXT_OBEY": 0, **settings}  # or all would end as `robots-unreachable`
    worker = Worker(fork_server, redis_server, folder, settings, SSL_CERT_FILE=str(authority.file))
    with hosts(*(arguments for arguments, _ in servers.values())) as started, worker:
        pages = {name: host.page for name, host in zip(servers, started, strict=True)}
        by_words = [name for name, (_, ends) in servers.items() if ends not in ("timeout", "cut off")]
        # Those that end by our time come after them: on a busy machine they may take others along.
        ended = worker.outcomes([pages[name] for name in by_words])
        if others := [page for name, page in pages.items() if name not in by_words]:
            ended |= worker.outcomes(others)
        assert worker.process.running
    return {name: ended[page] for name, page in pages.items()}, worker.log


def test_certificates_are_verified_and_handshakes_end(fork_server, redis_server, tmp_path, authority, servers):
    ended, log = crawled(fork_server, redis_server, tmp_path, authority, servers)
    # A fast peer keeps libcurl within one call, which the watchdog ends; a slow one is ended by the timeout.
    ended |= {name: "cut off" for name in ("without-end",) if ended[name] in ("connection", "timeout")}
    assert ended == {name: ends for name, (_, ends) in servers.items()}
    assert not TROUBLE.search(log), [line for line in log.splitlines() if TROUBLE.search(line)][:5]


def test_they_aren_t_verified_when_the_operator_says_so(fork_server, redis_server, tmp_path, authority, servers):
    signed = {name: server for name, server in servers.items() if "tls" in server[0]}
    ended, log = crawled(fork_server, redis_server, tmp_path, authority, signed, DOWNLOAD_VERIFY_CERTIFICATES=0)
    assert set(ended.values()) == {FINISH}
    assert not TROUBLE.search(log)
