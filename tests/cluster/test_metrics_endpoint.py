"""`/metrics` over ASGI, on a real Redis."""

from __future__ import annotations

import pytest
from redis.exceptions import ConnectionError as RedisConnectionError

from crawler.base.errors import UnavailableError
from crawler.cluster.metrics_endpoint import MetricsEndpoint
from crawler.cluster.overview import read_overview

TOKEN = "0123456789abcdef"
ANY_TEXT = b"text/plain; version=0.0.4; charset=utf-8"


async def ask(endpoint, method="GET", token=TOKEN, **headers):
    """Returns the status, the headers and the body of an answer."""
    sent = []

    async def send(message):
        sent.append(message)

    given = {b"authorization": f"Bearer {token}".encode(), **{name.encode(): text for name, text in headers.items()}}
    await endpoint({"type": "http", "method": method, "headers": list(given.items())}, None, send)
    head, body = sent
    return head["status"], dict(head["headers"]), body["body"]


@pytest.fixture
def endpoint(operator):
    return MetricsEndpoint(lambda: read_overview(operator), TOKEN)


async def test_the_metrics_of_the_crawl(endpoint):
    status, headers, body = await ask(endpoint)
    assert (status, headers[b"content-type"]) == (200, b"text/plain; version=0.0.4; charset=utf-8")
    assert int(headers[b"content-length"]) == len(body)
    assert b"\nheadroom_pages_total 0\n" in body
    assert (await ask(endpoint, accept=b"application/openmetrics-text"))[2].endswith(b"# EOF\n")


async def test_who_has_no_token_is_told_so(endpoint):
    status, headers, _body = await ask(endpoint, token="wrong")
    assert (status, headers[b"www-authenticate"]) == (401, b"Bearer")


@pytest.mark.parametrize("error", [RedisConnectionError("gone"), UnavailableError("gone"), OSError("gone")])
async def test_a_redis_that_is_away_is_said_and_comes_back(operator, error):
    errors = [error]

    async def read():
        if errors:
            raise errors.pop()
        return await read_overview(operator)

    endpoint = MetricsEndpoint(read, TOKEN)
    assert await ask(endpoint) == (503, {b"content-type": ANY_TEXT, b"content-length": b"14"}, b"Redis is away\n")
    assert (await ask(endpoint))[0] == 200
