"""Receivers are called in Scrapy's order, and hear of a signal what they hear on Scrapy's own engine."""

import asyncio

import pytest
from fast.virtual_crawl import run
from scrapy.exceptions import DontCloseSpider
from scrapy.signalmanager import SignalManager

from crawler.fast.signals import LeanSignals

MANAGERS = pytest.mark.parametrize("kind", [SignalManager, LeanSignals], ids=["scrapys", "fast"])
SIGNAL = object()


class Receivers:
    """Receivers of several kinds, which write down what they are at."""

    def __init__(self):
        self.heard = []

    def plain(self):
        self.heard.append("plain")
        return "plain"

    def plain_again(self):
        return self.plain()

    async def coroutine(self):
        self.heard.append("coroutine")
        await asyncio.sleep(1)
        self.heard.append("coroutine, later")
        return "coroutine"

    async def quicker(self):
        self.heard.append("quicker")
        await asyncio.sleep(0.5)
        self.heard.append("quicker, later")

    async def at_once(self):
        self.heard.append("at once")

    def raising(self):
        self.heard.append("raising")
        raise ValueError("raising")

    async def raising_later(self):
        self.heard.append("raising later")
        await asyncio.sleep(0.1)
        raise DontCloseSpider

    def not_called_by_name(self, *, only_by_name="default"):
        self.heard.append(only_by_name)


ORDERS = [
    ["coroutine", "plain", "at_once"],
    ["plain", "coroutine", "plain_again", "quicker"],
    ["at_once", "raising", "coroutine", "raising_later", "plain"],
    ["raising_later", "at_once", "raising", "not_called_by_name"],
]


def test_a_receiver_that_raises_keeps_no_other_from_a_signal_that_waits_for_none():
    def heard(kind):
        receivers = Receivers()
        signals = kind(receivers)
        for name in ("raising", "plain", "not_called_by_name"):
            signals.connect(getattr(receivers, name), signal=SIGNAL)
        answers = signals.send_catch_log(SIGNAL)
        return receivers.heard, [str(getattr(answer, "value", answer)) for _, answer in answers]

    assert heard(LeanSignals) == heard(SignalManager) == (["raising", "plain", "default"], ["raising", "plain", "None"])


@pytest.mark.parametrize("order", ORDERS, ids=" ".join)
def test_receivers_are_called_one_after_the_other_however_they_wait(order):
    def heard(kind):
        receivers = Receivers()
        signals = kind(receivers)
        for name in order:
            signals.connect(getattr(receivers, name), signal=SIGNAL)
        answers = run(signals.send_catch_log_async, SIGNAL)
        return receivers.heard, [repr(answer) for _, answer in answers]

    assert heard(LeanSignals) == heard(SignalManager)


@MANAGERS
@pytest.mark.parametrize("is_async", [False, True])
def test_a_receiver_may_disconnect_itself_or_another(kind, is_async):
    heard = []
    sender = Receivers()
    signals = kind(sender)

    def once():
        heard.append("once")
        signals.disconnect(once, SIGNAL)
        signals.disconnect(last, SIGNAL)

    def always():
        heard.append("always")

    def last():
        heard.append("last")

    for receiver in (once, always, last):
        signals.connect(receiver, SIGNAL)
    for _ in range(2):
        if is_async:
            run(signals.send_catch_log_async, SIGNAL)
        else:
            signals.send_catch_log(SIGNAL)
    # Those of an asynchronous signal are looked up before the first is called. The others are looked up one by one, in
    # a list that gets shorter: pydispatch then skips one.
    assert heard == (["once", "always", "last", "always"] if is_async else ["once", "always"])
