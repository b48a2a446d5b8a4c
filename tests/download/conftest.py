"""A handler, and hosts on the wire that it may ask."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace

import pytest
from hostile.hostile_wire_certificates import Authority
from hostile.hostile_wire_server import HOLD
from scrapy import Request
from scrapy.utils.test import get_crawler
from waiting import PATIENCE_SECONDS, eventually

from crawler.download.dns import DnsCache
from crawler.download.handler import CurlDownloadHandler
from crawler.middlewares.turns import TurnMiddleware
from crawler.worker.turns.turns import Turns
from crawler.worker.visits.request_state import Purpose, RequestState

PLAIN = {"User-Agent": "test", "Accept": "text/html"}


@pytest.fixture
def authority(tmp_path, monkeypatch):
    """Signs certificates that handlers made later trust."""
    authority = Authority(tmp_path)
    monkeypatch.setenv("SSL_CERT_FILE", str(authority.file))
    return authority


@pytest.fixture
async def handler():
    """Makes handlers with settings."""
    made = []

    def handler(**settings):
        crawler = get_crawler(
            settings_dict={"ALLOW_PRIVATE_ADDRESSES": 1, "DOWNLOAD_VERIFY_CERTIFICATES": 1, **settings}
        )
        crawler.spider = crawler._create_spider("test")
        made.append(CurlDownloadHandler(crawler))
        return made[-1]

    yield handler
    for one in made:
        await one.close()


@pytest.fixture
def get(handler):
    """Downloads by a handler with the usual settings."""
    usual = handler()

    async def get(url, **options):
        meta = {"download_timeout": PATIENCE_SECONDS} | options.pop("meta", {})
        return await usual.download_request(Request(url, meta=meta, headers=options.pop("headers", PLAIN), **options))

    get.handler = usual
    return get


@pytest.fixture
def sent(get):
    """Downloads for a visit, on its turn."""
    session = SimpleNamespace(leases=[SimpleNamespace(owner="A", alive=True)])
    egress = SimpleNamespace(is_down=False, answered=lambda _place: None)
    headroom = SimpleNamespace(answered=lambda _size: None)
    tally = SimpleNamespace(answered=lambda _host, _status, _size: None)
    answers = SimpleNamespace(count=lambda *_counted: None)
    turns = object.__new__(Turns)  # no turn is acquired for a request alone, so that nobody is told of one
    worker = SimpleNamespace(
        life=SimpleNamespace(session=session, egress=egress, headroom=headroom, second_opinions=None),
        claiming=SimpleNamespace(queue=None),
        turns=turns,
        reports=SimpleNamespace(tally=tally, answers=answers),
    )
    middleware = TurnMiddleware(worker, None)

    async def sent(url, visit):
        request = Request(
            url, headers=PLAIN, meta=RequestState(Purpose(visit, visit.lane)).meta(download_timeout=PATIENCE_SECONDS)
        )
        await middleware.process_request(request)
        return middleware.process_response(request, await get.handler.download_request(request))

    return sent


@pytest.fixture
def dns_answers(monkeypatch):
    """Says what names lead to, for handlers made later."""
    answers = {}
    cache = DnsCache(100, lambda name: answers[name])
    monkeypatch.setattr("crawler.download.targets.shared_dns_cache", lambda _settings: cache)
    return answers


@pytest.fixture
async def held():
    """A script whose answer never comes, and an event that is set once a request waits for it."""
    begun, loop = asyncio.Event(), asyncio.get_running_loop()

    def script(_path):
        loop.call_soon_threadsafe(begun.set)
        yield HOLD

    return script, begun


async def all_ended(host):
    """Waits until a host's connections have ended, of which there is one at least."""
    await eventually(lambda: host.asked and all(one.ended for one in host.asked), "the end of connections")


def head_of(asked):
    """Returns the request line and the headers of what a host was asked, in lower case, as pairs."""
    first, *lines = asked.head.partition(b"\r\n\r\n")[0].split(b"\r\n")
    return first, [tuple(line.split(b": ", 1)) for line in lines]
