"""What the settings say about TLS and the machine's own address holds for each request."""

from __future__ import annotations

import asyncio
import ssl

import pytest
from download.conftest import PLAIN
from hostile.hostile_wire_bodies import answer
from scrapy import Request

from crawler.errors import AnswerError, ConfigError


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
    ("key", "value"), [("DOWNLOAD_TLS_MIN_VERSION", "TLSv1.4"), ("DOWNLOAD_VERIFY_CERTIFICATES", "perhaps")]
)
async def test_settings_that_make_no_sense_are_refused(handler, key, value):
    with pytest.raises(ConfigError, match=key):
        handler(**{key: value})
