"""The monitor in a real browser: what is live, what its policy refuses, and what keys alone can do."""

from __future__ import annotations

import asyncio
import os
import threading

import pytest
from commands.test_nodes import add_worker
from monitor.conftest import PASSWORD, settings_at

from crawler.plans.operator import Operator

pytest.importorskip("playwright", reason="the extra `browser` isn't installed")
from playwright.sync_api import expect, sync_playwright

pytestmark = pytest.mark.process


@pytest.fixture(autouse=True)
def _reads_often(monkeypatch):
    monkeypatch.setattr("crawler.monitor.gatherer.READ_SECONDS", 0.2)
    monkeypatch.setattr("crawler.monitor.gatherer.COST_FACTOR", 0)


@pytest.fixture(scope="module")
def chromium(chromium_path):
    with sync_playwright() as playwright:
        arguments = ["--disable-gpu", *(["--no-sandbox"] if os.geteuid() == 0 else [])]
        browser = playwright.chromium.launch(executable_path=chromium_path, args=arguments)
        yield browser
        browser.close()


@pytest.fixture
def opened(chromium, running, redis_url):
    """Returns a function that gives a page of a Chromium of its own, signed in; `said` is what its console says."""
    contexts = []

    def run(user):
        signed_in = running.browser(user)
        context = chromium.new_context(base_url=running.address)
        contexts.append(context)
        context.add_cookies([{"name": "monitor", "value": signed_in.cookies["monitor"], "url": running.address}])
        page = context.new_page()
        page.said = []
        page.on("console", lambda message: page.said.append(message.text))
        page.on("pageerror", lambda error: page.said.append(str(error)))
        page.goto("/")
        return page

    yield run
    for context in contexts:
        context.close()


@pytest.fixture
def page(opened):
    """A page of an operator."""
    return opened("operator")


@pytest.fixture
def worker(redis_url):
    """Returns a function that writes what a worker reports; in a thread, since Playwright has this one's event loop."""

    async def write(owner, report):
        async with Operator.connect(settings_at(redis_url), begin=True) as operator:
            await add_worker(operator, owner, **report)

    def run(owner, **report):
        thread = threading.Thread(target=asyncio.run, args=(write(owner, report),))
        thread.start()
        thread.join()

    return run


def test_signing_in_by_keys_alone(chromium, running, redis_url):
    context = chromium.new_context(base_url=running.address)
    page = context.new_page()
    page.goto("/")
    expect(page.get_by_label("Name")).to_be_focused()
    page.keyboard.type("operator")
    page.keyboard.press("Tab")
    page.keyboard.type(PASSWORD)
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Wrong now")).to_be_visible()
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to the content")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_role("main")).to_be_focused()
    page.get_by_role("button", name="Sign out").press("Enter")
    expect(page.get_by_label("Password")).to_be_visible()
    context.close()


def test_a_page_follows_the_crawl_without_a_reload(page, worker):
    expect(page.get_by_text("live", exact=True)).to_be_visible()
    expect(page.get_by_text("Nothing.")).to_be_visible()
    page.evaluate("window.isTheSame = true")
    hostile = "<img src=x onerror=alert(1)>"
    worker(f"{hostile}:10:1:x", sinks_down=["kafka"])
    expect(page.get_by_text(f"Sink kafka can't be reached by {hostile}")).to_be_visible()
    assert page.evaluate("window.isTheSame")
    assert page.said == []


def test_what_became_of_an_action_stays_to_be_read(page, worker):
    """Figures come again and again meanwhile, and the address by itself would show another page."""
    page.evaluate(
        """() => { const form = document.querySelector('form.user').cloneNode(true);
        form.action = '/plan'; for (const [name, value] of [['name', 'none'], ['action', 'pause']])
        form.append(Object.assign(document.createElement('input'), {name, value}));
        document.getElementById('main').append(form); form.submit(); }"""
    )
    refusal = page.get_by_role("alert")
    expect(refusal).to_contain_text("none")
    expect(page.get_by_text("live", exact=True)).to_be_visible()
    with page.expect_event("console", lambda message: message.text == "later"):
        page.evaluate("setTimeout(() => console.log('later'), 600)")  # three readings of the figures
    expect(refusal).to_be_visible()


def test_windows_of_a_browser_share_one_stream(page, worker):
    asked = []
    expect(page.get_by_text("live", exact=True)).to_be_visible()
    page.context.on("request", lambda request: asked.append(request.url))
    other = page.context.new_page()
    other.goto("/?period=day")
    expect(other.get_by_text("live", exact=True)).to_be_visible()
    worker("late:10:1:x", sinks_down=["mongo"])
    expect(other.get_by_text("Sink mongo")).to_be_visible()
    assert not [url for url in asked if url.endswith("/events")]


def test_nothing_inline_runs(page):
    """The policy refuses what a hole in the escaping would let in."""
    page.evaluate("document.getElementById('main').innerHTML = '<p onclick=\"window.isBad = true\">x</p>'")
    page.evaluate("document.querySelector('#main p').click()")
    page.evaluate("document.body.append(Object.assign(document.createElement('script'), {text: 'isBad = true'}))")
    assert page.evaluate("window.isBad") is None
    assert any("Content Security Policy" in text for text in page.said)


def test_no_page_is_wider_than_a_phone(page):
    page.set_viewport_size({"width": 360, "height": 740})
    pages = "/ /nodes /node?name=n /plans /sites /hosts /host?name=a.test /seed?url=http://a.test/ /audit"
    for path in pages.split():
        page.goto(path)
        assert page.evaluate("document.documentElement.scrollWidth") <= 360, path


def test_two_operators_at_once_lose_nothing_and_see_each_other_s_actions(page, opened, users, worker):
    worker("a-node:10:1:x")
    users.put("other", "operator", PASSWORD)
    other = opened("other")
    for tab in (page, other):
        tab.goto("/node?name=a-node")
        expect(tab.get_by_text("live", exact=True)).to_be_visible()
    page.get_by_role("button", name="Drain").click()
    expect(other.get_by_text("Drained: it claims nothing")).to_be_visible()
    other.get_by_label("CPU limit").fill("50")  # the page was loaded before the node was drained
    other.get_by_role("button", name="Set limits").click()
    expect(page.get_by_text("CPU limit, % 50")).to_be_visible()
    for tab in (page, other):
        expect(tab.get_by_text("Drained: it claims nothing")).to_be_visible()
        tab.goto("/audit")
        expect(tab.get_by_role("row", name="operator node-drain a-node done")).to_be_visible()
        expect(tab.get_by_role("row", name="other node-set a-node cpu_limit_percent=50 done")).to_be_visible()


def test_a_connection_that_is_lost_is_said_and_comes_back(page):
    expect(page.get_by_text("live", exact=True)).to_be_visible()
    # The next event comes sooner than anybody could look. The page's policy lets nothing wait there for a condition.
    shown = page.evaluate("""() => new Promise((resolve) => {
        const shown = [];
        const status = document.getElementById("connection");
        const note = () => shown.push(status.textContent) === 2 && resolve(shown);
        new MutationObserver(note).observe(status, {childList: true});
        window.dispatchEvent(new Event("offline"));
    })""")
    assert shown == ["no connection to the monitor", "live"]
