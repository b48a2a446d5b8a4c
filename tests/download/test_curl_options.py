"""What the settings say about TLS and the machine's own address holds for each request."""

from __future__ import annotations

import asyncio
import contextlib
import ssl
from ssl import TLSVersion

import pytest
from download.conftest import PLAIN, head_of
from hostile.hostile_wire_bodies import answer
from scrapy import Request
from waiting import PATIENCE_SECONDS

from crawler.base.errors import AnswerError, ConfigError, NodeError

SOON = {"download_timeout": PATIENCE_SECONDS}


@pytest.mark.parametrize("odd", [False, True])
async def test_requests_leave_from_the_address_that_is_set(handler, odd):
    peers = []

    async def serve(reader, writer):
        peers.append(writer.get_extra_info("peername")[0])
        await reader.readuntil(b"\r\n\r\n")
        writer.write(answer(b"x", *[b"no colon"] * odd))
        writer.close()

    async with await asyncio.start_server(serve, "127.0.0.1", 0) as server:
        url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        binding = handler(DOWNLOAD_BIND_ADDRESS="127.0.0.3")
        for meta in ({}, {"bindaddress": "127.0.0.4"}, {"bindaddress": ("127.0.0.5", 0)}):
            await binding.download_request(Request(url, headers=PLAIN, meta=SOON | meta))
    assert list(dict.fromkeys(peers)) == ["127.0.0.3", "127.0.0.4", "127.0.0.5"]


def tls_of(authority, low=None, high=None, ciphers=None):
    """Returns the context of a server that speaks these versions, with these ciphers."""
    tls = authority.certificate("good")
    tls.minimum_version, tls.maximum_version = low or tls.minimum_version, high or tls.maximum_version
    if ciphers:
        tls.set_ciphers(ciphers)
    return tls


NEW, OLD = {"low": TLSVersion.TLSv1_3}, {"high": TLSVersion.TLSv1_2, "ciphers": "ECDHE+AESGCM"}


@pytest.mark.parametrize(
    ("settings", "server", "ends"),
    [
        ({}, NEW, "well"),
        ({"DOWNLOAD_TLS_MAX_VERSION": "TLSv1.2"}, NEW, "tls"),
        ({"DOWNLOAD_TLS_MIN_VERSION": "TLSv1.3"}, NEW, "well"),
        ({"DOWNLOAD_TLS_MAX_VERSION": "TLSv1.2", "DOWNLOAD_VERIFY_CERTIFICATES": 0}, NEW, "tls"),
        ({"DOWNLOADER_CLIENT_TLS_CIPHERS": "DEFAULT"}, OLD, "well"),
        ({"DOWNLOADER_CLIENT_TLS_CIPHERS": "ECDHE+AESGCM"}, OLD, "well"),
        ({"DOWNLOADER_CLIENT_TLS_CIPHERS": "ECDHE-ECDSA-AES256-SHA"}, OLD, "tls"),
    ],
)
async def test_tls_has_the_versions_and_ciphers_that_are_set(serve, authority, handler, settings, server, ends):
    page = serve(answer(), tls=tls_of(authority, **server)).page
    with contextlib.nullcontext() if ends == "well" else pytest.raises(AnswerError, match=ends):
        assert (await handler(**settings).download_request(Request(page, meta=SOON))).status == 200


@pytest.mark.parametrize(
    ("version", "mode", "ends"),
    [
        (TLSVersion.TLSv1_2, ssl.CERT_OPTIONAL, "well"),
        (TLSVersion.TLSv1_3, ssl.CERT_OPTIONAL, "well"),
        (TLSVersion.TLSv1_2, ssl.CERT_REQUIRED, "tls"),
        (TLSVersion.TLSv1_3, ssl.CERT_REQUIRED, "tls|connection"),  # its reset may overtake its alert
    ],
)
async def test_a_server_that_wants_a_client_s_certificate_gets_none(serve, authority, get, version, mode, ends):
    tls = tls_of(authority, version, version)
    tls.load_verify_locations(authority.file)
    tls.verify_mode = mode
    host = serve(answer(), tls=tls)
    with contextlib.nullcontext() if ends == "well" else pytest.raises(AnswerError, match=ends):
        assert (await get(host.page)).status == 200
    assert len(host.asked) == (ends == "well")


async def test_an_ipv6_address_is_asked(get, serve):
    host = serve(answer(), address="::1")
    response = await get(f"http://[::1]:{host.port}/page")
    assert str(response.ip_address) == "::1"
    assert (b"Host", b"[::1]:%d" % host.port) in head_of(host.asked[0])[1]


async def test_an_address_that_is_not_this_machine_s_is_no_way_out(handler, serve):
    host = serve(answer())
    with pytest.raises(NodeError, match="no address to send from"):
        await handler(DOWNLOAD_BIND_ADDRESS="192.0.2.1").download_request(Request(host.page, meta=SOON))
    assert host.asked == []


async def test_a_name_that_is_rebound_after_the_look_up_changes_nothing(dns_answers, handler, serve):
    """libcurl connects to the addresses that were judged, and looks up nothing: the name has no others."""
    host = serve(answer())
    dns_answers["a.test"] = ["127.0.0.1"]
    request = Request(f"http://a.test:{host.port}/", meta=SOON)
    binding = handler()
    assert (await binding._targets.find(request)).addresses == ("127.0.0.1",)
    dns_answers["a.test"] = ["10.0.0.1"]
    assert (await binding.download_request(request)).status == 200


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("DOWNLOAD_TLS_MIN_VERSION", "TLSv1.4"),
        ("DOWNLOAD_VERIFY_CERTIFICATES", "perhaps"),
        ("DOWNLOADER_CLIENT_TLS_CIPHERS", "nonsense"),
        ("DOWNLOADER_CLIENT_TLS_METHOD", "TLSv1.0"),
        ("DOWNLOADER_CLIENTCONTEXTFACTORY", "a.b.Factory"),
    ],
)
async def test_settings_that_make_no_sense_are_refused(handler, key, value):
    with pytest.raises(ConfigError, match=key):
        handler(**{key: value})
