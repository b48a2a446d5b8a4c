"""Who may read metrics."""

from __future__ import annotations

import pytest

from crawler.telemetry.exposition import TEXT, Metric
from crawler.telemetry.metrics_answer import answer

TOKEN = "t" * 16
PAGES = Metric("a_pages", "counter", "Pages.", (({}, 3),))


async def read():
    return [PAGES]


async def nothing():
    raise AssertionError("somebody who may not read them has them read")


async def asked(method="GET", authorization="", token=TOKEN, read=read):
    return await answer(method, authorization=authorization, accept="", token=token, read=read)


@pytest.mark.parametrize("authorization", [f"Bearer {TOKEN}", f"bearer  {TOKEN} "])
async def test_who_shows_the_token_reads_them(authorization):
    response = await asked(authorization=authorization)
    assert (response.status, response.headers["content-type"]) == (200, TEXT)
    assert response.body.startswith(b"# HELP a_pages_total")


@pytest.mark.parametrize(
    "authorization", ["", "Bearer", "Bearer ", f"Basic {TOKEN}", f"Bearer {TOKEN}x", "Bearer \xfc"]
)
@pytest.mark.parametrize("token", [TOKEN, ""])
async def test_nobody_without_the_token_reads_them(authorization, token):
    response = await asked(authorization=authorization, token=token, read=nothing)
    assert (response.status, response.headers["www-authenticate"]) == (401, "Bearer")
    assert TOKEN.encode() not in response.body


async def test_they_are_read_and_nothing_else():
    assert (await asked("POST", f"Bearer {TOKEN}")).status == 405
