"""A check that can't be made is a line, and costs the others nothing, neither their answers nor time."""

from __future__ import annotations

import asyncio
import contextlib
import threading

from redis.exceptions import ConnectionError as RedisConnectionError

from crawler.base.errors import UnavailableError
from crawler.doctor.examination import CheckGroup, HealthCheck, examine
from crawler.doctor.finding import State, ok


@contextlib.asynccontextmanager
async def node(settings):
    yield settings


@contextlib.asynccontextmanager
async def nobody(_settings):
    if _settings:
        raise UnavailableError("no answer from redis://user:hunter22@here")
    yield


async def fine(_examined):
    return ok("fine\nas it is")


async def broken(_examined):
    raise ValueError("a server said what nobody expects")


async def gone(_examined):
    raise RedisConnectionError("Connection closed by server.")


async def silent(_examined):
    await asyncio.Event().wait()


def group(open_, *checks, seconds=30.0):
    return CheckGroup(open_, tuple(HealthCheck(check.__name__, "", check) for check in checks), seconds)


async def test_each_check_has_its_row():
    groups = [
        group(nobody, fine, fine),
        group(node, broken, fine),
        group(node, fine, silent, fine, seconds=0.05),
        group(node, fine, gone),
        CheckGroup(node, (HealthCheck("not wanted", "", fine),), 1.0, lambda _settings: False),
    ]
    rows = await examine(groups, {"A": 1})
    assert [(name, found.state, found.text) for name, found in rows] == [
        ("fine", State.STOPS, "no answer from redis://***@here"),
        ("fine", State.NOT_TRIED, "fine must answer first"),
        ("broken", State.NOT_TRIED, "ValueError: a server said what nobody expects"),
        ("fine", State.OK, "fine as it is"),
        ("fine", State.OK, "fine as it is"),
        ("silent", State.NO_ANSWER, "no answer within 0.05 s"),
        ("fine", State.NO_ANSWER, "no answer within 0.05 s"),
        ("fine", State.OK, "fine as it is"),
        ("gone", State.NO_ANSWER, "ConnectionError: Connection closed by server."),
    ]


def test_nobody_waits_for_a_call_that_hangs():
    """As a look-up of a name does while the name server is silent."""
    hangs = threading.Event()

    async def looks_up(_examined):
        await asyncio.to_thread(hangs.wait)

    async def answers(_examined):
        return ok(await asyncio.to_thread("an answer".upper))

    rows = asyncio.run(examine([group(node, answers, looks_up, seconds=0.05)], {}))
    assert [found.text for _name, found in rows] == ["AN ANSWER", "no answer within 0.05 s"]
    hangs.set()  # asyncio.run has ended before
