"""An item ends its part of the visit; an item or a callback that fails also decides the visit's outcome."""

from __future__ import annotations

import asyncio
import dataclasses

import pytest
from pipelines.sink_samples import page
from samples import RecordedVisit, a_claim
from scrapy import signals
from scrapy.exceptions import DropItem
from scrapy.http import Response
from scrapy.utils.test import get_crawler
from twisted.python.failure import Failure

from crawler.base.errors import ExtractError, SinkRejectedError, UnavailableError
from crawler.base.item import item_id
from crawler.worker.settling.delivery import Delivery, UndeliveredError

ITEM = {"x": 1}


@pytest.fixture
def send():
    """Returns a function that sends one of Scrapy's signals to the extension."""
    crawler = get_crawler()
    delivery = Delivery.from_crawler(crawler)

    def send(signal, response, **arguments):
        results = crawler.signals.send_catch_log(signal, response=response, spider=None, **arguments)
        own = [result for receiver, result in results if getattr(receiver, "__self__", None) is delivery]
        assert own == [None]  # called once, without an error

    return send


async def test_a_visit_ends_when_all_its_items_are_delivered(send, recorded):
    for _ in range(2):
        recorded.visit.begin_part(fetches=False)
    recorded.end_callback()
    send(signals.item_scraped, recorded.response(), item=ITEM)
    assert recorded.outcomes == []
    send(signals.item_scraped, recorded.response(), item=ITEM)
    assert recorded.outcomes == [("finish", "")]


@pytest.mark.parametrize(
    ("error", "outcome"),
    [
        (UnavailableError("away"), ("release", "sink-unavailable")),
        (SinkRejectedError("too large", "Too large!"), ("fail", "too-large")),
        (ZeroDivisionError(), ("fail", "pipeline-error")),
        (asyncio.CancelledError(), ("retry", "pipeline-error")),
        (DropItem("No keyword"), ("fail", "no-keyword")),
        (DropItem(""), ("fail", "dropped")),
        (UndeliveredError(UnavailableError("stops")), ("release", "sink-unavailable")),
    ],
)
async def test_an_item_that_a_pipeline_drops_or_fails_on_decides_the_outcome(send, recorded, error, outcome):
    recorded.visit.begin_part(fetches=False)
    recorded.end_callback()
    if isinstance(error, DropItem):
        send(signals.item_dropped, recorded.response(), item=ITEM, exception=error)
    else:
        send(signals.item_error, recorded.response(), item=ITEM, failure=Failure(error))
    assert recorded.outcomes == [outcome]


@pytest.mark.parametrize(
    ("error", "reason"), [(ExtractError("No text"), "no-text"), (ZeroDivisionError(), "callback-error")]
)
async def test_a_callback_that_raises_fails_its_seed_when_its_part_has_ended(send, recorded, error, reason):
    send(signals.spider_error, recorded.response(), failure=Failure(error))
    assert recorded.outcomes == []
    recorded.end_callback()
    assert recorded.outcomes == [("fail", reason)]


@pytest.mark.parametrize("response", [None, Response("http://a.test/")])
async def test_items_of_other_spiders_are_ignored(send, response):
    send(signals.item_scraped, response, item=ITEM)
    send(signals.item_dropped, response, item=ITEM, exception=DropItem(""))
    send(signals.item_error, response, item=ITEM, failure=Failure(ValueError()))
    send(signals.spider_error, response, failure=Failure(ValueError()))


@pytest.mark.parametrize("pipeline", ["none", "replaces", "other-class"])
async def test_further_plans_are_left_out_where_a_pipeline_puts_another_item_in_the_place_of_theirs(send, pipeline):
    recorded = RecordedVisit(also=(dataclasses.replace(a_claim().seed, plan="q"),))
    item = page(id=item_id(recorded.visit.claimed.fingerprint.hex()))
    item.visit = recorded.visit
    recorded.visit.items = 1
    recorded.visit.begin_part(fetches=False)
    recorded.end_callback()
    scraped = {"none": item, "replaces": dataclasses.replace(item, title="short"), "other-class": ITEM}[pipeline]
    send(signals.item_scraped, recorded.response(), item=scraped)
    assert recorded.settlements[0].served == {"none": "1 p q", "replaces": "1 p", "other-class": "0 p"}[pipeline]
