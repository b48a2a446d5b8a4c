"""Proxies: a connection is of one account, and proxies of the environment are used as Scrapy uses them."""

from __future__ import annotations

import base64
import contextlib

import pytest
from download.conftest import PLAIN, head_of
from hostile.hostile_wire_bodies import PAGE
from hostile.hostile_wire_http2 import Http2Host, page
from hostile.hostile_wire_proxy import Proxy
from hostile.hostile_wire_server import HOLD
from scrapy import Request
from scrapy.downloadermiddlewares.httpproxy import HttpProxyMiddleware
from scrapy.exceptions import DownloadConnectionRefusedError


def basic(account):
    return b"Basic " + base64.b64encode(account.encode())


# Of requests one after the other, with the account that the proxy sees; None: without one.
REQUESTS = {
    "basic": ["one:a", "two:b", "one:a", "one:c", None, "two:b", None, "one:a:b", "one:", "one:a"],
    "other": ["Bearer x", "Bearer x", None, ":nobody", "Digest x", None],
}
CONNECTIONS = {
    "basic": ["one:a", "two:b", "one:c", None, "one:a:b", "one:"],
    "other": ["Bearer x", "Bearer x", None, ":nobody", "Digest x"],  # kept for none
}


def account_header(account):
    if account is None:
        return {}
    return {"Proxy-Authorization": account.encode() if " " in account else basic(account)}


@pytest.fixture
def proxied(authority):
    """A proxy before a host that speaks TLS and keeps its connections."""
    host = Http2Host(lambda _number, stream: page(stream), authority.certificate("host"))
    with contextlib.closing(host), contextlib.closing(Proxy(host.port)) as proxy:
        proxy.page = host.page
        yield proxy


@pytest.mark.parametrize(("scheme", "kind"), [("http", "basic"), ("http", "other"), ("socks5h", "basic")])
async def test_a_tunnel_is_of_one_account(proxied, get, scheme, kind):
    for account in REQUESTS[kind]:
        meta = {"proxy": f"{scheme}://{proxied.address}"}
        assert (await get(proxied.page, headers=PLAIN | account_header(account), meta=meta)).body == PAGE
    assert proxied.accounts == CONNECTIONS[kind]


async def test_a_connection_to_a_proxy_is_of_one_account_also_without_a_tunnel(get, serve):
    keeps = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(PAGE) + PAGE
    proxy = serve(lambda _path: [keeps, HOLD])  # who asks again on a connection waits for ever
    headers = [account_header(account) for account in (*CONNECTIONS["basic"], "Bearer x", "Bearer x", ":nobody")]
    for header in headers:
        assert (await get("http://127.0.0.1:1/", headers=PLAIN | header, meta={"proxy": proxy.url})).body == PAGE
    sent = [dict(head_of(one)[1]).get(b"Proxy-Authorization") for one in proxy.asked]
    assert sent == [header.get("Proxy-Authorization") for header in headers]


async def test_proxies_of_the_environment_are_used_as_in_scrapy(proxied, handler, monkeypatch):
    monkeypatch.setenv("https_proxy", f"http://one:a%20b@{proxied.address}")
    monkeypatch.setenv("no_proxy", "127.0.0.2")
    plain = handler()
    middleware = HttpProxyMiddleware.from_crawler(plain.crawler)
    for url, accounts in ((proxied.page, ["one:a b"]), (proxied.page.replace("127.0.0.1", "127.0.0.2"), [])):
        proxied.accounts.clear()
        request = Request(url, headers=PLAIN)
        middleware.process_request(request)
        with contextlib.suppress(DownloadConnectionRefusedError):  # the host is on no other address
            await plain.download_request(request)
        assert proxied.accounts == accounts
