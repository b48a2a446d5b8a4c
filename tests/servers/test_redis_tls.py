"""Redis over TLS: a real server behind a listener that ends the TLS."""

from __future__ import annotations

import asyncio
import contextlib
import ssl

import pytest
from redis.exceptions import RedisError
from servers.secured import Certificate

from crawler.base.errors import ConfigError
from crawler.servers.redis import redis_async
from crawler.servers.redis_refusal import refusal


async def carry(reader, writer):
    with contextlib.suppress(OSError):
        while data := await reader.read(65_536):
            writer.write(data)
            await writer.drain()
    writer.close()


@pytest.fixture
async def over_tls(redis_server, tmp_path):
    """Gives the port that speaks TLS, and the certificate's file."""
    certificate = Certificate(tmp_path)
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(certificate.certificate, certificate.key)

    async def serve(reader, writer):
        to_redis = await asyncio.open_connection("127.0.0.1", redis_server.port)
        await asyncio.gather(carry(reader, to_redis[1]), carry(to_redis[0], writer))

    server = await asyncio.start_server(serve, "127.0.0.1", 0, ssl=context)
    yield server.sockets[0].getsockname()[1], certificate.certificate
    server.close()


async def test_redis_is_reached_over_tls(over_tls):
    port, authority = over_tls
    async with redis_async({"REDIS_URL": f"rediss://127.0.0.1:{port}/0?ssl_ca_certs={authority}"}) as client:
        assert await client.ping()


async def test_a_certificate_that_is_not_trusted_is_a_refusal(over_tls):
    async with redis_async({"REDIS_URL": f"rediss://127.0.0.1:{over_tls[0]}/0"}) as client:
        with pytest.raises(RedisError) as error:
            await client.ping()
    assert refusal(error.value).startswith(
        "its certificate isn't trusted: ssl_ca_certs in REDIS_URL names who may sign"
    )


def test_a_file_that_is_not_there_is_named():
    with pytest.raises(
        ConfigError, match=r"setting REDIS_URL: got 'ssl_ca_certs=/no/ca.pem', expected a file that can"
    ):
        redis_async({"REDIS_URL": "rediss://h/0?ssl_ca_certs=/no/ca.pem"})
