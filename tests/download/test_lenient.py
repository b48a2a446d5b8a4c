"""Heads that libcurl refuses and browsers read are read, under the same bounds and rules as any other."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import time

import pytest
from download.conftest import all_ended, head_of
from hostile.hostile_wire_bodies import PAGE, answer, chunked, forever
from hostile.hostile_wire_certificates import OTHER_HOST
from hostile.hostile_wire_proxy import Proxy
from hostile.hostile_wire_server import HOLD, RESET
from samples import a_visit
from scrapy.exceptions import DownloadCancelledError, DownloadTimeoutError

from crawler.base.errors import AnswerError, SessionLostError
from crawler.worker.visits.request_state import Purpose, RequestState

ODD = b"HTTP/1.1 200 OK\r\nno colon\r\n"
LINES = (b"no colon", b": no name", b"X A : b", b"\xff: \x00", b"X-A: a\rb\0c")


@pytest.fixture(params=["http", "https"])
def odd_host(request, serve, authority):
    """Opens hosts that speak HTTP, or HTTP over TLS."""

    def odd_host(script, **options):
        tls = authority.certificate("host", **options) if request.param == "https" else None
        return serve(script, tls=tls)

    return odd_host


@pytest.mark.parametrize("end", ["length", "connection", "chunks"])
async def test_odd_heads_are_read_and_the_host_remembered(odd_host, get, end):
    page = PAGE * 300
    answers = {"length": answer(page, *LINES), "connection": answer(page, *LINES, length=False)}
    host = odd_host(answers.get(end, ODD + chunked(page, page[:1])[17:]))
    responses = [await get(f"{host.url}/{n}?a=b%20c#d") for n in range(2)]
    for response in responses:
        assert response.body == page + (page[:1] if end == "chunks" else b"")
        assert response.flags == (["partial"] if end == "connection" else [])
        assert (str(response.ip_address), response.protocol) == ("127.0.0.1", "HTTP/1.1")
    if end != "chunks":
        assert responses[0].headers["X-A"] == b"a b c"
        assert set(responses[0].headers) <= {b"Content-Type", b"Content-Length", b"Connection", b"X-A"}
    assert [one.path for one in host.asked] == ["/0?a=b%20c", "/0?a=b%20c", "/1?a=b%20c"]
    assert host.asked[0].head == host.asked[1].head  # to the byte
    await get(host.page, headers={"Host": "other.test"})
    assert head_of(host.asked[-1])[1] == [(b"Host", b"other.test")]


async def test_the_second_request_is_another_start_on_the_turn(odd_host, get, sent):
    host, visit = odd_host(answer(PAGE, *LINES)), a_visit(delay_s=0.2)
    started = time.monotonic()
    await sent(host.page, visit)
    assert time.monotonic() - started >= 0.2
    assert get.handler.crawler.stats.get_value("download/sent_again") == 1
    await sent(host.page, visit)
    assert get.handler.crawler.stats.get_value("download/sent_again") == 1
    assert len(host.asked) == 3


async def test_a_post_is_sent_once_and_read_only_where_the_host_is_known(odd_host, get):
    body = b"\0x" * 200_000

    host = odd_host(lambda _path: [0.05, answer(PAGE, *LINES)])
    with pytest.raises(AnswerError, match="bad-response"):
        await get(host.page, method="POST", body=body)
    assert len(host.asked) == 1
    assert (await get(host.page, method="POST", body=body)).body == PAGE
    assert dict(head_of(host.asked[1])[1])[b"Content-Length"] == b"%d" % len(body)
    assert (await get(host.page, method="HEAD")).body == b""


@pytest.mark.parametrize(
    ("steps", "then", "error", "match"),
    [
        ([ODD + b"\r\nx", 0.1, RESET], (), AnswerError, "truncated"),
        ([ODD + b"Content-Length: 9\r\n\r\nx"], (), AnswerError, "truncated"),
        ([ODD, 0.1, RESET], (), AnswerError, "connection"),
        ([ODD], forever(b"x\r\n" * 5_000), AnswerError, "bad-headers"),
        ([ODD + b"A:"], forever(b"x" * 65_536), AnswerError, "bad-headers"),
        ([ODD + b"Content-Length: x\r\n\r\n"], (), AnswerError, "bad-response"),
        ([ODD + b"\r\n"], forever(b"x" * 65_536), DownloadCancelledError, "larger than"),
        ([ODD + b"\r\n", HOLD], (), DownloadTimeoutError, "took longer than 0.3 seconds"),
        ([ODD, HOLD], (), DownloadTimeoutError, "took longer than 0.3 seconds"),
    ],
)
async def test_bounds_and_errors_are_those_of_other_answers(odd_host, get, steps, then, error, match):
    host = odd_host(lambda _path: itertools.chain(steps, then))
    get.handler._odd_hosts[host.url] = None
    timeout = {"download_timeout": 0.3} if error is DownloadTimeoutError else {}
    with pytest.raises(error, match=match):
        await get(host.page, meta=timeout | {"download_maxsize": 10_000})
    await all_ended(host)


async def test_a_certificate_is_verified_each_time(serve, authority, get):
    host = serve(answer(PAGE, *LINES), tls=authority.certificate("other", OTHER_HOST))
    get.handler._odd_hosts[host.url] = None
    with pytest.raises(AnswerError, match="tls"):
        await get(host.page)
    assert host.asked == []


async def test_odd_heads_are_read_through_a_proxy(odd_host, get):
    host = odd_host(answer(PAGE, *LINES))
    with contextlib.closing(Proxy(host.port)) as proxy:
        secret = {"Proxy-Authorization": "secret"}
        response = await get(host.page, meta={"proxy": f"http://{proxy.address}"}, headers=secret)
    assert (response.body, response.headers["X-A"]) == (PAGE, b"a b c")
    is_tunnel = host.url.startswith("https")
    first = f"CONNECT 127.0.0.1:{host.port} HTTP/1.1" if is_tunnel else f"GET {host.page} HTTP/1.1"
    assert (proxy.targets, proxy.accounts) == ([first] * 2, ["secret"] * 2)
    assert not is_tunnel or all(b"secret" not in one.head for one in host.asked)


async def test_a_lenient_download_ends_with_its_visit(odd_host, get, held):
    script, begun = held
    host, visit = odd_host(script), a_visit()
    get.handler._odd_hosts[host.url] = None
    downloading = asyncio.create_task(get(host.page, meta=RequestState(Purpose(visit, visit.lane)).meta()))
    await begun.wait()
    visit.abandon()
    with pytest.raises(SessionLostError):
        await downloading
    await all_ended(host)
