"""When a page is quiet: nothing is asked for, and nothing answered is still on its way to the page."""

from __future__ import annotations

from crawler.render import traffic
from crawler.render.exchange import PageAnswer, PageRequest
from crawler.render.traffic import PageTraffic
from crawler.render.wish import Wish

DATA = PageRequest("http://site.test/data", "GET", (), b"", "Fetch", is_page=False)


async def answers(_request):
    return PageAnswer(200, (), b"{}")


async def test_an_answer_that_has_not_reached_its_page_keeps_it_from_being_quiet():
    asked = PageTraffic(Wish(), answers)
    assert asked.quiet_seconds() > 0
    await asked.ask(DATA)
    assert asked.quiet_seconds() == 0
    asked.note_delivered("http://site.test/other")
    assert asked.quiet_seconds() == 0
    asked.note_delivered(f"{DATA.url}#part")
    assert asked.quiet_seconds() > 0


async def test_an_answer_of_which_the_browser_does_not_tell_is_waited_for_a_moment_only(monkeypatch):
    monkeypatch.setattr(traffic, "DELIVERY_SECONDS", 0.0)
    asked = PageTraffic(Wish(), answers)
    await asked.ask(DATA)
    assert asked.quiet_seconds() > 0
