"""What the settings say about TLS and the machine's own address holds for each request."""

from __future__ import annotations

import asyncio
import ssl

import pytest
from download.conftest import PLAIN, head_of
from hostile.hostile_wire_bodies import answer
from scrapy import Request

from crawler.base.errors import AnswerError, ConfigError, NodeError


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
            await binding.download_request(Request(url, headers=PLAIN, meta={"download_timeout": 5.0, **meta}))
    assert list(dict.fromkeys(peers)) == ["127.0.0.3", "127.0.0.4", "127.0.0.5"]


@pytest.mark.parametrize(
    ("settings", "ends"),
    [
        ({}, "well"),
        ({"DOWNLOAD_TLS_MAX_VERSION": "TLSv1.2"}, "tls"),
        ({"DOWNLOAD_TLS_MIN_VERSION": "TLSv1.3"}, "well"),
        ({"DOWNLOAD_TLS_MAX_VERSION": "TLSv1.2", "DOWNLOAD_VERIFY_CERTIFICATES": 0}, "tls"),
    ],
)
async def test_tls_has_the_versions_that_are_set(opened, authority, handler, settings, ends):
    tls = authority.certificate("good")
    tls.minimum_version = ssl.TLSVersion.TLSv1_3
    request = Request(opened(answer(), tls=tls).page, meta={"download_timeout": 5.0})
    if ends == "well":
        assert (await handler(**settings).download_request(request)).status == 200
    else:
        with pytest.raises(AnswerError, match=ends):
            await handler(**settings).download_request(request)


@pytest.mark.parametrize(
    ("ciphers", "ends"), [("DEFAULT", "well"), ("ECDHE+AESGCM", "well"), ("ECDHE-ECDSA-AES256-SHA", "tls")]
)
async def test_tls_has_the_ciphers_that_are_set(opened, authority, handler, ciphers, ends):
    tls = authority.certificate("good")
    tls.maximum_version = ssl.TLSVersion.TLSv1_2
    tls.set_ciphers("ECDHE+AESGCM")
    request = Request(opened(answer(), tls=tls).page, meta={"download_timeout": 5.0})
    choosing = handler(DOWNLOADER_CLIENT_TLS_CIPHERS=ciphers)
    if ends == "well":
        assert (await choosing.download_request(request)).status == 200
    else:
        with pytest.raises(AnswerError, match=ends):
            await choosing.download_request(request)


@pytest.mark.parametrize(
    ("version", "mode", "ends"),
    [
        (ssl.TLSVersion.TLSv1_2, ssl.CERT_OPTIONAL, "well"),
        (ssl.TLSVersion.TLSv1_3, ssl.CERT_OPTIONAL, "well"),
        (ssl.TLSVersion.TLSv1_2, ssl.CERT_REQUIRED, "tls"),
        (ssl.TLSVersion.TLSv1_3, ssl.CERT_REQUIRED, "tls|connection"),  # its reset may overtake its alert
    ],
)
async def test_a_server_that_wants_a_client_s_certificate_gets_none(opened, authority, get, version, mode, ends):
    tls = authority.certificate("good")
    tls.load_verify_locations(authority.file)
    tls.verify_mode, tls.minimum_version, tls.maximum_version = mode, version, version
    host = opened(answer(), tls=tls)
    if ends == "well":
        assert (await get(host.page)).status == 200
    else:
        with pytest.raises(AnswerError, match=ends):
            await get(host.page)
        assert host.asked == []


async def test_an_ipv6_address_is_asked(get, opened):
    host = opened(answer(), address="::1")
    response = await get(f"http://[::1]:{host.port}/page")
    assert str(response.ip_address) == "::1"
    assert (b"Host", b"[::1]:%d" % host.port) in head_of(host.asked[0])[1]


async def test_an_address_that_is_not_this_machine_s_is_no_way_out(handler, opened):
    host = opened(answer())
    with pytest.raises(NodeError, match="no address to send from"):
        await handler(DOWNLOAD_BIND_ADDRESS="192.0.2.1").download_request(
            Request(host.page, meta={"download_timeout": 5.0})
        )
    assert host.asked == []


async def test_a_name_that_is_rebound_after_the_look_up_changes_nothing(dns_answers, handler, opened):
    """libcurl connects to the addresses that were judged, and looks up nothing: the name has no others."""
    host = opened(answer())
    dns_answers["a.test"] = ["127.0.0.1"]
    request = Request(f"http://a.test:{host.port}/", meta={"download_timeout": 5.0})
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
