"""Workers and browsers are killed while pages are rendered."""

from __future__ import annotations

import contextlib
import tempfile
from pathlib import Path

import psutil
import pytest
from faults.disks import own_disk, resize
from hostile.hostile_wire_bodies import answer
from waiting import has_ended, until

pytestmark = [pytest.mark.faults, pytest.mark.usefixtures("chromium_path")]

PAGES, KILLS = 40, 4
RENDER_SECONDS = 600  # all of them take half a minute on an idle machine
SITE = {
    "content": {"title": "css:h1", "content": {"select": "css:article", "required": True}},
    "politeness": {"delay": 0, "concurrency": 8},
    "render": {"content": {"when": "always", "settle": {"selector": "css:article:not(:empty)"}}},
}
SHELL = """<!DOCTYPE html><h1>page</h1><article></article><script src="/app.js"></script>
<script>show(location.pathname)</script>"""
WHOLE = "<h1>page</h1><script>document.write('<article>text</article>')</script>"
APP = """
async function show(path) {
  document.querySelector("article").textContent = await (await fetch("/data" + path)).text();
}
"""


def of_path(path):
    """Answers data slowly, so that pages are open whenever something is killed."""
    if path.startswith("/data"):
        return [0.3, answer(f"text of {path}", kind=b"text/plain")]
    return [answer(APP, kind=b"text/javascript") if path == "/app.js" else answer(SHELL)]


@pytest.fixture
def crawl(crawl):
    crawl.settings |= {
        "ALLOW_PRIVATE_ADDRESSES": 1,
        "RETRY_BASE_SECONDS": 0.1,
        "SESSION_SECONDS": 3,
        "MAX_ATTEMPTS": 2,
    }
    crawl.write_site("s", SITE)
    return crawl


@pytest.fixture
def rendering(crawl, serve):
    """A crawl of a host whose pages are rendered."""
    host = serve(of_path)
    crawl.offer(f"{host.url}/page/{number}" for number in range(PAGES))
    return crawl


def test_a_page_whose_script_never_ends_fails_for_that_and_others_go_on(crawl, serve):
    """The browser's own time limit ends it, which tells a page that hangs from a browser that does."""
    host = serve(lambda path: [answer("<script>while (true) {}</script>" if path == "/hangs" else WHOLE)])
    crawl.offer([f"{host.url}/hangs", f"{host.url}/other"])
    crawl.finish(PAGE_SECONDS=25, MAX_ATTEMPTS=1)  # for the other page, on a busy machine
    assert [reason for _state, reason in crawl.unfinished().values()] == ["render-timeout"]
    assert [item["content"] for item in crawl.items()] == ["text"]


def browsers_of(worker):
    """Returns the topmost processes of Chromium among a worker's descendants."""
    browsers = []
    for process in psutil.Process(worker.pid).children(recursive=True):
        with contextlib.suppress(psutil.NoSuchProcess):
            if "chrom" in process.name() and "chrom" not in psutil.Process(process.ppid()).name():
                browsers.append(process)
    return browsers


def audit(crawl):
    """Checks that no page is lost, and that each has its own text; returns how many items came twice."""
    items = crawl.items()
    texts = {item["url"].rpartition("/")[2]: item["content"] for item in items}
    assert texts == {str(number): f"text of /data/page/{number}" for number in range(PAGES)}
    assert crawl.unfinished() == {}
    crawl.total()
    return len(items) - len(texts)


def test_a_browser_is_killed_again_and_again(row, rendering):
    worker = rendering.worker(STOP_WHEN_DONE=1)
    for kill in range(KILLS):
        finished = PAGES * kill // (2 * KILLS)
        until(lambda least=finished: rendering.counts()["finished"] >= least, "pages", seconds=RENDER_SECONDS)
        until(lambda: browsers_of(worker), "a browser at work", seconds=RENDER_SECONDS)[0].kill()
    assert worker.wait(RENDER_SECONDS) == 0, worker.log.read_text()
    twice = audit(rendering)
    row(f"the browser killed {KILLS} times with pages open", lost=0, failed=0, twice=twice)
    assert twice == 0


def test_a_worker_is_killed_with_pages_in_its_browser(row, rendering):
    first = rendering.worker()
    until(
        lambda: rendering.counts()["finished"] >= PAGES // 4 and rendering.counts()["executing"],
        "pages at work",
        RENDER_SECONDS,
    )
    browsers = browsers_of(first)
    in_flight = rendering.counts()["executing"]
    first.kill()
    rendering.finish()
    twice = audit(rendering)
    row("a worker killed with pages in its browser", lost=0, twice=twice, in_flight=in_flight)
    assert twice <= in_flight
    assert browsers
    until(lambda: all(has_ended(browser.pid) for browser in browsers), "browsers that end with their worker")


def test_no_room_for_the_browser_s_profile(row, rendering):
    """Pages wait, and `scrapy nodes` says for what; with room for files they are rendered, on a disk that is full."""
    folder = Path(tempfile.mkdtemp(prefix="hr", dir="/tmp"))  # Chromium wants a short path
    with own_disk(folder, "size=1m,nr_inodes=6"):
        worker = rendering.worker(environment={"TMPDIR": str(folder)})
        until(lambda: any(one["why_no_browser"] for one in rendering.workers()), "a worker that says what it lacks")
        [lack] = {shown["why_no_browser"] for shown in rendering.workers()}
        assert f"the disk of {folder}, where its profile is, has no files left (TMPDIR)" in lack
        assert rendering.counts()["failed"] == 0
        resize(folder, "size=1m,nr_inodes=1000")
        (folder / "full").write_bytes(b"x" * ((1 << 20) - 64 * 1024))
        until(lambda: rendering.counts()["finished"] == PAGES, "all pages", seconds=RENDER_SECONDS)
        assert worker.stop() == 0
    twice = audit(rendering)
    row("no room for the browser's profile", lost=0, failed=0, twice=twice)
    folder.rmdir()
