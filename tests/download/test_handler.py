"""The download handler, against hosts that remember what they were asked: what it sends, returns and refuses."""

from __future__ import annotations

import asyncio
import base64
import gzip
import itertools
import re
import threading
import time
from ipaddress import IPv4Address

import pytest
from download.conftest import PLAIN, all_ended, head_of
from hostile.hostile_wire_bodies import answer, chunk, forever
from hostile.hostile_wire_server import HOLD
from samples import a_visit
from scrapy import Request, signals
from scrapy.exceptions import (
    CannotResolveHostError,
    DownloadCancelledError,
    DownloadConnectionRefusedError,
    DownloadTimeoutError,
    StopDownload,
    UnsupportedURLSchemeError,
)
from scrapy.http import HtmlResponse, Response, TextResponse
from waiting import PATIENCE_SECONDS

from crawler.base.errors import AnswerError, PageTimeoutError, PrivateAddressError, SessionLostError
from crawler.download import watchdog
from crawler.download.transfer import Transfer
from crawler.download.web_sockets import WebSocketRequest
from crawler.worker.visits.request_state import Purpose, RequestState, TurnUse
from crawler.worker.visits.visit import Lane

GONE = 1  # a port that nobody listens on
SOON = {"download_timeout": PATIENCE_SECONDS}


def keeps(body=b"<html>x</html>", *headers):
    """Returns an answer after which the connection is kept."""
    return b"\r\n".join([b"HTTP/1.1 200 OK", b"Content-Length: %d" % len(body), *headers]) + b"\r\n\r\n" + body


# -- What is sent -----------------------------------------------------------------------------------------------------


async def test_a_request_has_scrapys_headers_and_no_others(get, serve):
    host = serve(answer())
    await get(f"{host.url}/a/../b?q=%20#part", headers={"User-Agent": "test", "X-Empty": "", "X-Two": ["1", "2"]})
    first, headers = head_of(host.asked[0])
    assert first == b"GET /a/../b?q=%20 HTTP/1.1"
    assert headers[:2] == [(b"Host", host.url[7:].encode()), (b"User-Agent", b"test")]
    assert headers[2:] == [(b"X-Empty:",), (b"X-Two", b"1"), (b"X-Two", b"2")]


@pytest.mark.parametrize("on", ["a new connection", "a kept one"])
async def test_a_request_whose_session_ended_before_its_connection_was_there_is_never_sent(get, serve, on):
    host, lane = serve(keeps()), Lane("a.test", 1, 0, 0.0)
    if on == "a kept one":
        await get(host.url)
    state = RequestState(Purpose(a_visit(lane=lane)))
    state.turn_use = TurnUse(lane, is_acquired=False, address=None, start_again=None, may_send=lambda: False)
    asked = len(host.asked)
    with pytest.raises(SessionLostError):
        await get(f"{host.url}/never", meta=state.meta())
    await get(f"{host.url}/next")
    assert [head_of(request)[0].split()[1] for request in host.asked[asked:]] == [b"/next"]


async def test_headers_change_from_one_request_to_the_next_and_each_is_one_line(get, serve):
    host = serve(answer())
    request = Request(host.page, headers=PLAIN, meta=SOON)
    await get.handler.download_request(request)
    request.headers.appendlist("Accept", "image/png")
    await get.handler.download_request(request)
    await get(host.page, headers={"Referer": b"x\r\nX-Injected: y\x00z"})
    assert [dict(head_of(one)[1]).get(b"Accept") for one in host.asked] == [b"text/html", b"image/png", None]
    assert (b"Referer", b"x X-Injected: y z") in head_of(host.asked[-1])[1]


async def test_names_and_passwords_in_a_url_are_not_sent(get, serve):
    host = serve(answer())
    assert (await get(host.page.replace("http://", "http://user:secret@"))).status == 200
    assert not {b"secret", b"Authorization"} & set(re.findall(rb"\w+", host.asked[0].head))


async def test_what_a_request_of_a_visit_cost_is_noted(get, serve):
    raw = answer(b"x" * 5_000)
    host, visit = serve(raw), a_visit()
    state = RequestState(Purpose(visit, visit.lane))
    for method, body in (("GET", b""), ("POST", b"y" * 3_000)):
        await get(host.page, method=method, body=body, meta=state.meta())
        asked = host.asked[-1]
        assert (state.bytes_in, state.bytes_out) == (len(raw), len(asked.head) + len(body))


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE", "GET"])
async def test_a_body_is_sent_as_it_is(get, serve, method):
    body = b"\x00{}\r\n" * 300_000  # libcurl would ask whether it may come

    host = serve(lambda _path: [0.05, answer()])
    await get(host.page, method=method, body=body, headers={"Content-Length": "3", "Content-Type": "application/json"})
    first, headers = head_of(host.asked[0])
    assert first.startswith(method.encode() + b" ")
    assert dict(headers)[b"Content-Length"] == b"%d" % len(body)
    assert dict(headers)[b"Content-Type"] == b"application/json"
    assert b"Expect" not in dict(headers)


async def test_methods_without_a_body(get, serve):
    host = serve(answer())
    methods = {"HEAD": None, "OPTIONS": None, "POST": b"0", "PUT": b"0", "PATCH": None, "DELETE": None}
    for method in methods:
        response = await get(host.page, method=method)
        assert response.status == 200
        assert bool(response.body) == (method != "HEAD")
    heads = [head_of(one) for one in host.asked]
    assert [first.split()[0].decode() for first, _ in heads] == list(methods)
    assert [dict(headers).get(b"Content-Length") for _, headers in heads] == list(methods.values())
    assert b"Content-Type" not in dict(heads[2][1])
    with pytest.raises(ValueError, match="no method"):
        await get(host.page, method="GET / HTTP/1.1\r\nX: Y")


async def test_requests_at_the_same_time_are_not_mixed_up(get, serve):
    host = serve(lambda path: [keeps(path.encode()), HOLD])
    responses = await asyncio.gather(*(get(f"{host.url}/{n}") for n in range(20)))
    assert [response.body for response in responses] == [b"/%d" % n for n in range(20)]


# -- What comes -------------------------------------------------------------------------------------------------------


async def test_a_response_is_what_scrapy_makes_of_it(get, serve):
    host = serve(
        answer(b"<html>x</html>", b"Set-Cookie: a=1", b"SET-COOKIE: b=2", b"X-Folded: a\r\n b", b"Bad Name: x")
    )
    response = await get(f"{host.page}#part", headers=PLAIN)
    assert type(response) is HtmlResponse
    assert (response.url, response.status, response.body) == (host.page, 200, b"<html>x</html>")
    assert response.headers.getlist("Set-Cookie") == [b"a=1", b"b=2"]
    assert response.headers["x-folded"] == b"a b"
    assert b"Bad Name" not in response.headers
    assert (response.ip_address, response.protocol, response.flags) == (IPv4Address("127.0.0.1"), "HTTP/1.1", [])
    assert response.certificate is None


@pytest.mark.parametrize(
    ("headers", "body", "kind"),
    [
        ([b"Content-Type: application/json"], b"{}", TextResponse),
        ([b"Content-Type: image/png"], b"\x89PNG\x00\x01", Response),
        ([], b"<html><body></body></html>", HtmlResponse),
        ([b"Content-Type: text/html", b"Content-Encoding: gzip"], gzip.compress(b"<html>", mtime=0), Response),
    ],
)
async def test_a_responses_class_is_scrapys_choice(get, serve, headers, body, kind):
    response = await get(serve(keeps(body, *headers)).page)
    assert (isinstance(response, kind), type(response) is Response) == (True, kind is Response)
    assert response.body == body


async def test_latency_is_the_time_to_the_head(get, serve):
    head_seen, latencies = threading.Event(), []

    def script(_path):
        yield 0.1
        yield b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n"
        head_seen.wait(5)
        yield b"x"

    def on_head(request):
        latencies.append(request.meta["download_latency"])
        head_seen.set()

    get.handler.crawler.signals.connect(on_head, signals.headers_received)
    request = Request(serve(script).page, meta=SOON)
    await get.handler.download_request(request)
    assert latencies == [request.meta["download_latency"]]
    assert latencies[0] >= 0.1


async def test_signals_are_sent_and_may_stop_a_download(get, serve):
    host = serve(lambda _path: itertools.chain([b"HTTP/1.1 200 OK\r\nX: y\r\n\r\n"], forever(b"x" * 1_000, 0.01)))
    heard, stop = [], {}

    def on_head(headers, body_length, request, spider):
        heard.append((headers["X"], body_length))
        if "head" in stop:
            raise StopDownload(fail=stop["head"])

    def on_data(data, request, spider):
        heard.append(len(data))
        if "data" in stop:
            raise StopDownload(fail=stop["data"])

    get.handler.crawler.signals.connect(on_head, signals.headers_received)
    get.handler.crawler.signals.connect(on_data, signals.bytes_received)
    stop["head"] = False
    response = await get(host.page)
    assert (response.headers["X"], response.body, response.flags) == (b"y", b"", ["download_stopped"])
    del stop["head"]
    stop["data"] = True
    with pytest.raises(StopDownload) as caught:
        await get(host.page)
    assert caught.value.response.body.startswith(b"x" * 1_000)
    assert heard[:2] == [(b"y", None)] * 2
    assert heard[2] >= 1_000


@pytest.mark.parametrize(("allowed", "ends"), [(100, "all"), (99, "refused"), (0, "all")])
@pytest.mark.parametrize("head", [b"Content-Length: 100\r\n", b""])
async def test_a_body_has_so_many_bytes_at_most(get, serve, head, allowed, ends):
    host = serve(b"HTTP/1.1 200 OK\r\nConnection: close\r\n" + head + b"\r\n" + b"x" * 100)
    if ends == "all":
        response = await get(host.page, meta={"download_maxsize": allowed})
        assert len(response.body) == 100
        assert response.flags == ([] if head else ["partial"])
    else:
        with pytest.raises(DownloadCancelledError, match="100 bytes"):
            await get(host.page, meta={"download_maxsize": allowed})


async def test_half_an_answer_is_an_error_unless_it_is_wanted(get, serve):
    host = serve(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf")
    with pytest.raises(AnswerError, match="truncated"):
        await get(host.page)
    response = await get(host.page, meta={"download_fail_on_dataloss": False})
    assert (response.body, response.flags) == (b"half", ["dataloss"])


async def test_a_complete_packed_body_is_whole_though_its_length_is_that_of_what_is_in_it(get, serve):
    page = b"<p>flood</p>" * 100
    packed = gzip.compress(page)
    head = b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nConnection: close\r\nContent-Length: %d\r\n\r\n"
    response = await get(serve(head % len(page) + packed).page)
    assert (response.body, response.flags) == (packed, [])
    for cut in (head % len(page) + packed[:-1], head % (len(page) + 1) + packed):
        with pytest.raises(AnswerError, match="truncated"):
            await get(serve(cut).page)


# -- Errors -----------------------------------------------------------------------------------------------------------


async def test_errors_are_those_of_scrapys_handlers(get, serve):
    with pytest.raises(DownloadConnectionRefusedError):
        await get(f"http://127.0.0.1:{GONE}/")
    with pytest.raises(DownloadTimeoutError, match=r"took longer than 0.2 seconds"):
        await get(serve(lambda _path: [HOLD]).page, meta={"download_timeout": 0.2})
    with pytest.raises(CannotResolveHostError):
        await get("http://no-such-name.invalid/")
    with pytest.raises(UnsupportedURLSchemeError):
        await get("gopher://127.0.0.1/")


async def test_tls_may_end_without_a_goodbye_where_http_has_no_length(serve, authority, get):
    tls = authority.certificate("good")
    for end, flags in (({"length": False}, ["partial"]), ({}, [])):
        host = serve(answer(b"<html>x</html>", **end), tls=tls)
        response = await get(host.page)
        assert (response.body, response.flags) == (b"<html>x</html>", flags)
    host = serve(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nx", tls=tls)
    with pytest.raises(AnswerError, match="truncated"):
        await get(host.page)


# -- Addresses --------------------------------------------------------------------------------------------------------


async def test_libcurl_is_told_the_addresses_and_tries_them_all(dns_answers, handler, serve):
    host = serve(answer())
    dns_answers["a.test"] = ["127.9.9.9", "127.0.0.1"]  # nobody listens on the first
    response = await handler().download_request(Request(f"http://a.test:{host.port}/page", meta=SOON))
    assert response.ip_address == IPv4Address("127.0.0.1")
    assert dict(head_of(host.asked[0])[1])[b"Host"] == b"a.test:%d" % host.port


@pytest.mark.parametrize(("request_class", "is_odd"), [(Request, False), (Request, True), (WebSocketRequest, False)])
async def test_private_addresses_are_refused(dns_answers, handler, serve, request_class, is_odd):
    """Of pages, of pages whose heads are read leniently, and of WebSockets."""
    host = serve(answer())
    careful = handler(ALLOW_PRIVATE_ADDRESSES=0)
    dns_answers.update({"a.test": ["127.0.0.1"], "none.test": []})
    for place in (host.url, f"http://a.test:{host.port}", f"http://[::1]:{host.port}"):
        if is_odd:
            careful._odd_hosts[place] = None
        with pytest.raises(PrivateAddressError):
            await careful.download_request(request_class(f"{place}/page"))
    with pytest.raises(CannotResolveHostError):
        await careful.download_request(Request("http://none.test/"))
    assert host.asked == []


async def test_no_socket_is_opened_to_an_address_that_is_not_the_targets(handler, serve, monkeypatch):
    host = serve(answer())
    begin = Transfer.begin

    def begin_elsewhere(self, target, **options):
        begin(self, target._replace(addresses=("8.8.8.8",)), **options)

    monkeypatch.setattr(Transfer, "begin", begin_elsewhere)
    with pytest.raises(PrivateAddressError):
        await handler().download_request(Request(host.page, meta=SOON))
    assert host.asked == []


async def test_libcurl_resolves_no_name_by_itself(handler, serve, monkeypatch):
    host = serve(answer())
    monkeypatch.setattr("crawler.download.curl_options.set_route", lambda *_: None)
    with pytest.raises(CannotResolveHostError):
        await handler().download_request(Request(host.page.replace("127.0.0.1", "localhost")))
    assert host.asked == []


async def test_a_proxy_is_asked_with_its_own_password(dns_answers, handler, serve):
    proxy = serve(answer(b"<html>by proxy</html>"))
    dns_answers.update({"proxy.test": ["127.0.0.1"], "a.test": ["8.8.8.8"], "inside.test": ["10.0.0.1"]})
    careful = handler(ALLOW_PRIVATE_ADDRESSES=0)
    secret = b"Basic " + base64.b64encode(b"user:password")

    def through(url):
        meta = {"proxy": f"http://proxy.test:{proxy.port}", **SOON}
        return careful.download_request(Request(url, meta=meta, headers={"Proxy-Authorization": secret}))

    response = await through("http://a.test/x")
    assert response.body == b"<html>by proxy</html>"
    first, headers = head_of(proxy.asked[0])
    assert first == b"GET http://a.test/x HTTP/1.1"
    assert dict(headers)[b"Proxy-Authorization"] == secret
    with pytest.raises(PrivateAddressError):
        await through("http://inside.test/")
    with pytest.raises(AnswerError):  # the proxy answers CONNECT with a page and ends: no tunnel
        await through("https://a.test/x")
    assert head_of(proxy.asked[1])[0] == b"CONNECT a.test:443 HTTP/1.1"
    with pytest.raises(UnsupportedURLSchemeError):
        await careful.download_request(Request("http://a.test/", meta={"proxy": "socks5://127.0.0.1:1"}))


async def test_libcurl_reads_no_proxies_from_the_environment(get, serve, monkeypatch):
    for name in ("http_proxy", "all_proxy", "HTTPS_PROXY"):
        monkeypatch.setenv(name, f"http://127.0.0.1:{GONE}")
    assert (await get(serve(answer()).page)).status == 200


# -- Visits -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("end", "error"), [("abandon", SessionLostError), ("deadline", PageTimeoutError)])
async def test_a_download_ends_with_its_visit(get, serve, held, end, error):
    script, begun = held
    host, visit = serve(script), a_visit()
    downloading = asyncio.create_task(get(host.page, meta=RequestState(Purpose(visit, visit.lane)).meta()))
    await begun.wait()
    if end == "abandon":
        visit.abandon()
    else:
        visit.deadline.start(0.0)
    with pytest.raises(error):
        await downloading
    await all_ended(host)
    with pytest.raises(error):
        await get(host.page, meta=RequestState(Purpose(visit, visit.lane)).meta())
    assert len(host.asked) == 1


class Forgetful:
    """A server that answers the first request of each connection, reads the second, and closes."""

    def __init__(self):
        self.starts, self.tasks = [], []

    async def serve(self, reader, writer):
        self.tasks.append(asyncio.current_task())
        for answered in itertools.count():
            try:
                head = await reader.readuntil(b"\r\n\r\n")
            except (asyncio.IncompleteReadError, ConnectionError):
                break
            length = re.search(rb"Content-Length: (\d+)", head)
            await reader.readexactly(int(length[1]) if length else 0)
            self.starts.append(time.monotonic())
            if answered:
                break
            writer.write(keeps())
            await writer.drain()
        writer.close()


@pytest.fixture
async def forgetful():
    made = Forgetful()
    async with await asyncio.start_server(made.serve, "127.0.0.1", 0) as server:
        made.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/"
        yield made
        await asyncio.gather(*made.tasks)


async def test_what_a_kept_connection_lost_is_sent_again_after_the_delay(forgetful, sent, get, monkeypatch):
    starts, mark_start = [], Lane.mark_start
    monkeypatch.setattr(Lane, "mark_start", lambda lane: (starts.append(time.monotonic()), mark_start(lane)))
    visit = a_visit(delay_s=0.3)
    for _ in range(2):
        assert (await sent(forgetful.url, visit)).status == 200
    first, lost, again = starts
    assert lost - first >= 0.3
    assert again - lost >= 0.3
    assert all(start < arrived for start, arrived in zip(starts, forgetful.starts, strict=True))
    assert get.handler.crawler.stats.get_value("download/sent_again") == 1


async def test_what_changes_something_is_sent_once_over_a_connection_that_was_used_just_before(forgetful, get):
    assert (await get(forgetful.url, method="POST", body=b"x")).status == 200
    with pytest.raises(AnswerError, match="connection"):
        await get(forgetful.url, method="POST", body=b"y")
    assert len(forgetful.starts) == 2


@pytest.mark.parametrize(("method", "status"), [("HEAD", b"200 OK"), ("GET", b"304 Not Modified"), ("GET", b"204 No")])
async def test_a_length_of_what_does_not_come_is_not_too_large(get, serve, caplog, method, status):
    host = serve(b"HTTP/1.1 " + status + b"\r\nConnection: close\r\nContent-Length: 1000000000000\r\n\r\n")
    response = await get(host.page, method=method, meta={"download_maxsize": 1_000, "download_warnsize": 100})
    assert (response.status, response.body) == (int(status[:3]), b"")
    assert response.headers["Content-Length"] == b"1000000000000"
    assert "size" not in caplog.text


async def test_headers_of_the_connection_alone_are_left_out(get, serve):
    own = (b"Keep-Alive: timeout=5", b"Proxy-Connection: x", b"TE: x", b"Trailers: x", b"Upgrade: x", b"Trailer: x")
    chunks = b"Transfer-Encoding: chunked\r\n\r\n" + chunk(b"x") + b"0\r\n\r\n"
    host = serve(b"\r\n".join((b"HTTP/1.1 200 OK", b"Connection: close, X-Own", b"X-Own: 1", *own, chunks)))
    response = await get(host.page)
    assert response.headers == {b"X-Own": [b"1"], b"Trailer": [b"x"]}
    assert response.body == b"x"


async def test_a_receiver_that_computes_for_long_ends_no_connection(get, serve, monkeypatch):
    monkeypatch.setattr(watchdog, "MAX_CALL_CPU_SECONDS", 0.05)
    monkeypatch.setattr(watchdog, "LOOK_SECONDS", 0.01)
    computed = []

    def compute(**_):
        until_s = time.thread_time() + 0.2
        while time.thread_time() < until_s:
            pass
        computed.append(1)

    get.handler.crawler.signals.connect(compute, signals.headers_received)
    get.handler.crawler.signals.connect(compute, signals.bytes_received)
    host = serve(lambda _path: [answer(b"x" * 20)[:-10], 0.1, b"x" * 10])
    assert (await get(host.page)).body == b"x" * 20
    assert len(computed) >= 3
