"""Which sites of a plan would be searched in vain; told by hosts that are asked for their robots.txt alone."""

from __future__ import annotations

import contextlib
import socket
import time

import pytest
from scrapy.settings import Settings

from crawler import plans
from crawler.cli import plan_warnings

SILENT_HOSTS = plan_warnings.MAX_AT_ONCE + 4


@pytest.fixture
def silent_hosts():
    """`ADDRESS:PORT` of hosts that take connections and answer nothing."""
    with contextlib.ExitStack() as sockets:
        addresses = [(f"127.0.0.{number}", 0) for number in range(1, SILENT_HOSTS + 1)]
        listening = [sockets.enter_context(socket.create_server(address)) for address in addresses]
        yield ["{}:{}".format(*one.getsockname()) for one in listening]


async def test_silent_hosts_are_waited_for_no_longer_than_one_is(silent_hosts, monkeypatch):
    monkeypatch.setattr(plan_warnings, "ASK_SECONDS", 1.0)
    settings = Settings({"ALLOW_PRIVATE_ADDRESSES": True, "REDIS_URL": "redis://127.0.0.1:1/0"})
    settings.setmodule("crawler.settings")
    sites = [f'{{use: demo_forum, name: s{number}, base: "http://{host}"}}' for number, host in enumerate(silent_hosts)]
    text = f"name: flood\nsites: [{', '.join(sites)}]\nkeywords: {{event: {{optional: [flood]}}}}\n"
    plan = plans.parse(text, "flood.yaml", max_seeds=100)
    began_s = time.monotonic()
    warnings = await plan_warnings.all_of(plan, settings)
    assert time.monotonic() - began_s < 5
    why = "robots.txt can't be read within 1 s, so it isn't known whether it forbids the search"
    assert {warning["site"]: warning["why"] for warning in warnings} == {f"s{n}": why for n in range(SILENT_HOSTS)}
