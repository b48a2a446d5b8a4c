"""What pages do to a browser, and what becomes of them, of other pages, and of the browser."""

from __future__ import annotations

import asyncio
import os
import signal
import tempfile
from dataclasses import replace
from pathlib import Path

import psutil
import pytest
from render.conftest import LIMITS

from crawler.render.errors import BrowserDiedError, BrowserMissingError, PageCrashedError, RenderTimeoutError
from crawler.render.profile import ProfileFolder
from crawler.render.renderer import Renderer
from crawler.render.wish import Wish
from crawler.worker.config import Limits
from crawler.worker.life.headroom import batch_size
from crawler.worker.life.load import Sampler

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.usefixtures("chromium_path")]

PAGE, OTHER = "https://hostile.example/", "https://calm.example/"
QUICK = Wish(quiet_seconds=0.1, cap_seconds=1)


@pytest.fixture
def strict(renderer):
    """The module's renderer, whose pages have little time and memory for one test."""
    renderer._limits = replace(LIMITS, page_seconds=2.5, page_memory_bytes=256 * 1024 * 1024)
    yield renderer
    renderer._limits = LIMITS


def hostile(site, script):
    site.add(PAGE, f"<p>text</p><script>{script}</script>")
    site.add(OTHER, "<p>calm</p>")


async def still_renders(renderer, site):
    renderer._limits = replace(renderer._limits, page_seconds=LIMITS.page_seconds)  # the machine may be busy
    page = await renderer.render(OTHER, wish=QUICK, fetch=site)
    return "calm" in page.html


@pytest.mark.parametrize(
    "script",
    [
        "onbeforeunload = () => 'stay'; while (true) {}",
        pytest.param("new Promise(function again() { Promise.resolve().then(again); })", marks=pytest.mark.faults),
        pytest.param("while (true) alert('again')", marks=pytest.mark.faults),
    ],
)
async def test_a_page_whose_scripts_never_end_times_out(strict, site, script):
    hostile(site, script)
    with pytest.raises(RenderTimeoutError):
        await strict.render(PAGE, wish=QUICK, fetch=site)
    assert await still_renders(strict, site)


NUISANCES = {
    "dialogs and tabs": "alert(1); confirm(2); prompt(3); print(); onbeforeunload = () => 'stay';"
    "for (let i = 0; i < 1000; i++) window.open('/tab' + i)",
    "links to new tabs": "for (let i = 0; i < 1000; i++) { const a = document.createElement('a'); a.href = '/tab' + i;"
    "a.target = '_blank'; a.rel = 'noopener'; document.body.append(a); a.click(); }",
    "writes": "setInterval(() => document.write('<b>more</b>'), 1)",
    "frames": "for (let i = 0; i < 100; i++) document.body.append(document.createElement('iframe'))",
    "busy workers": "for (let i = 0; i < 20; i++)new Worker(URL.createObjectURL(new Blob(['while (true) {}'])))",
    "permissions": "document.documentElement.requestFullscreen(); Notification.requestPermission();"
    "navigator.geolocation.getCurrentPosition(() => 0)",
    "no document": "document.documentElement.remove()",
    "no tools": "performance.now = () => 0; document.querySelector = () => null; self.MutationObserver = null;"
    "Object.defineProperty(document, 'readyState', {value: 'loading'})",
    "stores": "const text = 'x'.repeat(1 << 20); try { for (let i = 0; ; i++) localStorage[i] = text; } catch {}"
    "caches.open('c').then(async c => { for (let i = 0; ; i++) await c.put('/' + i, new Response(text)); })",
}


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.faults] if number else []) for number, name in enumerate(NUISANCES)]
)
async def test_a_page_that_is_a_nuisance_is_rendered_all_the_same(renderer, site, name):
    hostile(site, NUISANCES[name])
    page = await renderer.render(PAGE, wish=QUICK, fetch=site)
    assert page.status == 200
    assert await still_renders(renderer, site)


@pytest.mark.faults
@pytest.mark.parametrize(
    "script",
    [
        "const all = []; while (true) all.push(new Uint8Array(1 << 24).fill(1))",
        "setInterval(() => { for (let i = 0; i < 9; i++) document.body.append('x'.repeat(1 << 21) + Math.random()); })",
    ],
)
async def test_a_page_that_takes_too_much_memory_is_ended(strict, site, script):
    hostile(site, script)
    wish = Wish(selector=".never", cap_seconds=30, page_seconds=LIMITS.page_seconds)
    with pytest.raises(PageCrashedError):
        await strict.render(PAGE, wish=wish, fetch=site)
    assert await still_renders(strict, site)


@pytest.mark.faults
@pytest.mark.parametrize("script", ["location.reload()", "location = '/' + Math.random()"])
async def test_a_page_that_leads_itself_on_for_ever_is_ended(renderer, site, script):
    hostile(site, script)

    async def fetch(_request):
        return site.answer(PAGE)

    with pytest.raises(PageCrashedError, match="20 documents"):
        await renderer.render(PAGE, wish=Wish(quiet_seconds=1), fetch=fetch)


async def test_a_killed_browser_fails_its_own_pages_and_the_next_one_gets_a_new_browser(strict, site):
    hostile(site, "")
    strict._limits = LIMITS
    asked = asyncio.Event()

    async def fetch(request):
        asked.set()
        await asyncio.Event().wait()

    rendering = asyncio.create_task(strict.render(PAGE, wish=QUICK, fetch=fetch))
    await asyncio.wait_for(asked.wait(), LIMITS.page_seconds)
    browser = strict._browser
    browser.processes.main().send_signal(signal.SIGKILL)
    with pytest.raises(BrowserDiedError):
        await rendering
    assert await still_renders(strict, site)
    assert strict._browser is not browser


@pytest.mark.faults
async def test_a_frozen_browser_is_ended(strict, site, monkeypatch):
    monkeypatch.setattr("crawler.render.browser.ANSWER_SECONDS", 0.5)
    hostile(site, "")
    assert await still_renders(strict, site)
    browser = strict._browser
    strict._limits = replace(LIMITS, page_seconds=1)
    browser.processes.main().send_signal(signal.SIGSTOP)
    with pytest.raises(BrowserDiedError):
        await strict.render(PAGE, wish=QUICK, fetch=site)
    assert await still_renders(strict, site)
    assert not browser.processes.all()


@pytest.mark.faults
async def test_a_browser_is_replaced_when_it_is_worn(strict, site):
    hostile(site, "")
    strict._limits = replace(LIMITS, browser_pages=1)
    assert await still_renders(strict, site)
    first = strict._browser
    assert await still_renders(strict, site)
    assert strict._browser is not first
    assert not first.processes.all()


@pytest.fixture
def folder(monkeypatch):
    """Where browsers have their profiles; its path is short, as that of a socket has to be."""
    with tempfile.TemporaryDirectory(prefix="render-") as path:
        monkeypatch.setattr("tempfile.tempdir", path)
        yield Path(path)


async def test_nothing_is_left_of_a_browser_that_was_closed(site, folder):
    hostile(site, "")
    renderer = Renderer("", LIMITS)
    assert await still_renders(renderer, site)
    processes = renderer._browser.processes
    assert list(folder.iterdir())
    await renderer.close()
    assert not processes.all()
    assert not list(folder.iterdir())


async def test_the_folder_of_a_worker_that_was_killed_goes_with_the_next_one(folder):
    used, left = ProfileFolder(), ProfileFolder()
    os.close(left._lock)  # as the system does
    ProfileFolder().remove()
    assert list(folder.iterdir()) == [used.path]
    used.remove()


@pytest.mark.parametrize(
    ("path", "below", "why"),
    [
        ("/nowhere/chromium", "", "BROWSER_PATH names"),
        ("/bin/false", "", "/bin/false doesn't start"),
        ("/bin/false", "long" * 10, "set TMPDIR"),
    ],
)
async def test_a_browser_that_does_not_start_is_told_and_leaves_nothing(site, folder, monkeypatch, path, below, why):
    monkeypatch.setattr("tempfile.tempdir", str(folder / below))
    renderer = Renderer(path, LIMITS)
    with pytest.raises(BrowserMissingError, match=why):
        await renderer.render(PAGE, wish=QUICK, fetch=site)
    await renderer.close()
    assert not list(folder.iterdir())


async def test_a_node_claims_fewer_seeds_the_more_memory_its_browser_takes(site):
    """A page of 200 MB counts as the worker's own, and what the browser's processes share counts once."""
    renderer = Renderer("", LIMITS)  # a browser of its own: another one may just give back what other tests took
    filled, sampled, sampler = asyncio.Event(), asyncio.Event(), Sampler()

    async def fetch(request):
        if request.url.endswith("/filled"):
            filled.set()
            await sampled.wait()
        return await site(request)

    def sample():
        load = sampler.sample()._replace(memory=50.0, own_memory=sampler.newest.own_memory)
        limits = Limits(memory_percent=90, cpu_percent=100, first_batch=1)
        return load.own_memory * sampler.memory_bytes / 100, batch_size(limits, load, carried=10)

    hostile(site, "window.kept = new Uint8Array(2e8).fill(1); fetch('/filled');")
    try:
        assert await still_renders(renderer, site)
        bytes_before, seeds_before = sample()
        this = psutil.Process()
        resident = sum(one.memory_info().rss for one in (this, *this.children(recursive=True)))
        rendering = asyncio.create_task(renderer.render(PAGE, wish=QUICK, fetch=fetch))
        await filled.wait()
        bytes_after, seeds_after = sample()
        sampled.set()
        await rendering
    finally:
        await renderer.close()
    assert 1.5e8 < bytes_after - bytes_before < 4e8
    assert 0 < seeds_after < seeds_before
    assert bytes_before < resident
