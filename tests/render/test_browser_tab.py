"""Tabs that go from page to page: nothing of one is found by the next, and doubtful ones are closed."""

from __future__ import annotations

import asyncio
import re
from dataclasses import replace

import pytest
import pytest_asyncio
from render.made_site import SCRIPT
from waiting import PATIENCE_SECONDS

from crawler.render import browser_tab
from crawler.render.errors import RenderTimeoutError
from crawler.render.wish import Wish

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.usefixtures("chromium_path")]

PAGE, OTHER = "https://forum.example/thread/1", "https://forum.example/thread/2"
TEXT = "<p>text</p><script>document.body.className = 'done'</script>"
DONE = Wish(selector="body.done")
# What a page finds of what one before it has stored, and stores itself, also while it is left.
STORING = """
const found = async () => {
  const names = [];
  try { for await (const [name] of (await navigator.storage.getDirectory()).entries()) names.push(name); } catch {}
  const asked = new Promise((told) => {
    const worker = new SharedWorker("/worker.js");
    worker.port.onmessage = (event) => told(event.data);
    worker.onerror = () => told("none");
  });
  return {
    cookie: document.cookie, local: localStorage.length, session: sessionStorage.length, name: window.name,
    caches: (await caches.keys()).length, databases: (await indexedDB.databases()).length, files: names.length,
    history: history.length, state: history.state, worker: await asked, opener: opener === null,
  };
};
const store = async () => {
  document.cookie = "seen=1; max-age=1000"; localStorage.seen = 1; sessionStorage.seen = 1; window.name = "seen";
  await caches.open("seen");
  await new Promise((opened) => { indexedDB.open("seen").onsuccess = opened; });
  try { await (await navigator.storage.getDirectory()).getFileHandle("seen", {create: true}); } catch {}
  history.pushState({seen: 1}, "", "/seen");
};
for (const leaving of ["pagehide", "visibilitychange", "beforeunload"]) {
  addEventListener(leaving, () => { localStorage.left = 1; sessionStorage.left = 1; window.name = "left"; });
}
found().then(async (all) => {
  document.querySelector("p").textContent = JSON.stringify(all);
  await store();
  document.body.className = "done";
});
"""
WORKER = "let seen = 0; onconnect = (event) => { event.ports[0].postMessage(seen); seen += 1; };"


@pytest_asyncio.fixture(loop_scope="module")
async def own(renderer, monkeypatch):
    """The module's renderer without a tab, whose tabs have the time that a busy machine takes to empty them."""
    monkeypatch.setattr(browser_tab, "EMPTY_SECONDS", PATIENCE_SECONDS)
    yield renderer
    for tab in kept(renderer):
        await tab.close()
    renderer._browser.kept._kept.clear()


def storing(site, *urls):
    site.add("https://forum.example/worker.js", WORKER, kind=SCRIPT)
    for url in urls:
        site.add(url, f"<p></p><script>{STORING}</script>", (b"Set-Cookie", b"sent=1; HttpOnly"))


def kept(renderer):
    """Returns the tabs that wait for a page."""
    return [tab for _kind, tab in renderer._browser.kept._kept]


async def test_the_next_page_in_a_tab_finds_nothing_of_the_last_one(own, site):
    storing(site, PAGE, OTHER)
    found = []
    for url in (PAGE, OTHER, PAGE, PAGE):
        page = await own.render(url, wish=DONE, fetch=site)
        found.append(re.search("<p>(.*)</p>", page.html)[1])
        assert not [request for request in site.asked if b"seen" in repr(request.headers).encode()]
    assert len(set(found)) == 1, found
    assert '"cookie":"","local":0,"session":0,"name":"","caches":0,"databases":0,"files":0' in found[0]
    [tab] = kept(own)
    assert tab.pages == len(found)
    assert set(site.urls()) == {PAGE, OTHER, "https://forum.example/worker.js"}  # an empty tab asks for nothing


async def test_a_tab_has_so_many_pages_and_so_many_are_kept(own, site, monkeypatch):
    monkeypatch.setattr("crawler.render.open_page.MAX_PAGES", 2)
    monkeypatch.setattr(browser_tab, "MAX_KEPT", 2)
    site.add(PAGE, TEXT)
    seen = []
    for _ in range(5):
        await own.render(PAGE, wish=DONE, fetch=site)
        seen.append([tab.pages for tab in kept(own)])
    assert seen == [[1], [], [1], [], [1]]
    for number in range(4):
        site.add(f"https://host{number}.example/", TEXT)
        await own.render(f"https://host{number}.example/", wish=DONE, fetch=site)
    assert [tab.page.url.split("/")[2] for tab in kept(own)] == ["host2.example", "host3.example"]


async def test_a_page_is_rendered_beside_many_kept_tabs_while_its_own_was_taken(own, site, monkeypatch):
    monkeypatch.setattr(browser_tab, "MAX_KEPT", 1)
    for url in (PAGE, "https://a.example/", "https://b.example/"):
        site.add(url, TEXT)
    await own.render(PAGE, wish=DONE, fetch=site)
    site.add(OTHER, "<p>text</p>")
    with pytest.raises(RenderTimeoutError):  # it has taken the kept tab, and leaves none
        await own.render(OTHER, wish=replace(DONE, cap_seconds=60, page_seconds=0.5), fetch=site)
    for url in ("https://a.example/", "https://b.example/"):
        assert "text" in (await own.render(url, wish=DONE, fetch=site)).html
    assert own._browser.open_pages == 0


async def test_a_route_is_loaded_anew_in_a_tab_that_had_another_one(own, site):
    site.add(
        "https://forum.example/", "<p></p><script>document.querySelector('p').textContent = location.hash</script>"
    )
    for route in ("#/thread/1", "#/thread/2", ""):
        page = await own.render(f"https://forum.example/{route}", wish=Wish(quiet_seconds=0.1), fetch=site)
        assert f"<p>{route}</p>" in page.html
    assert site.urls() == ["https://forum.example/"] * 3


@pytest.mark.parametrize(
    "body",
    [
        "<iframe src=https://other.example/frame></iframe>",
        "<script>onbeforeunload = () => { while (true) {} }</script>",
    ],
    ids=["another origin's document", "a page that won't go"],
)
async def test_what_may_have_left_something_is_closed(own, site, monkeypatch, body):
    monkeypatch.setattr(browser_tab, "EMPTY_SECONDS", 2.0)
    site.add("https://other.example/frame", "frame")
    site.add(PAGE, f"<p>text</p>{body}<script>document.body.className = 'done'</script>")
    site.add(OTHER, "<p>text</p>")
    page = await own.render(PAGE, wish=Wish(quiet_seconds=0.2, cap_seconds=5), fetch=site)
    assert "text" in page.html
    assert kept(own) == []
    page = await own.render(OTHER, wish=Wish(quiet_seconds=0.1), fetch=site)
    assert "text" in page.html


async def test_a_tab_whose_process_has_ended_meanwhile_gets_no_page(own, site):
    site.add(PAGE, TEXT)
    await own.render(PAGE, wish=DONE, fetch=site)
    [tab] = kept(own)
    crashed = asyncio.Event()
    tab.page.on("crash", lambda _: crashed.set())
    for process in own._browser.processes.taken():
        if process.is_renderer:
            process.process.kill()
    await asyncio.wait_for(crashed.wait(), PATIENCE_SECONDS)
    assert "text" in (await own.render(PAGE, wish=DONE, fetch=site)).html
    [other] = kept(own)
    assert other is not tab


async def test_a_page_that_fails_takes_its_tab_along(own, site):
    site.add(PAGE, TEXT)
    site.add(OTHER, "<script>while (true) {}</script>")
    await own.render(PAGE, wish=DONE, fetch=site)
    assert len(kept(own)) == 1
    with pytest.raises(RenderTimeoutError):
        await own.render(OTHER, wish=replace(DONE, page_seconds=3), fetch=site)
    assert kept(own) == []
    assert "text" in (await own.render(PAGE, wish=DONE, fetch=site)).html
