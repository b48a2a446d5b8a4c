"""WebSockets of pages: what a page sends is bounded, whatever becomes of it."""

from __future__ import annotations

import asyncio
import contextlib

import pytest

from crawler.render import page_sockets
from crawler.render.wish import Wish

# A browser of their own for two tests: among the faults.
pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.usefixtures("chromium_path"), pytest.mark.faults]

PAGE = "https://forum.example/thread/1"
# It sends 100 messages of 1,000 characters, each two bytes long, and says when its socket ends.
SENDING = """<p>open</p><script>
const socket = new WebSocket("wss://forum.example/live");
socket.onopen = () => { for (let n = 0; n < 100; n++) socket.send("\u00e9".repeat(1000)); };
socket.onclose = (event) => {
  document.querySelector("p").textContent = `ended ${event.code}`; document.body.id = "done";
};
</script>"""


class Slow:
    """A server that takes nothing, and says nothing."""

    async def send(self, _message):
        await asyncio.Event().wait()

    async def receive(self):
        await asyncio.Event().wait()


@contextlib.asynccontextmanager
async def connect(_request):
    yield Slow()


@pytest.mark.parametrize(("most", "code"), [(150_000, 3009), (1_000_000, None)])
async def test_what_waits_for_a_slow_server_counts(renderer, site, monkeypatch, most, code):
    monkeypatch.setattr(page_sockets, "MAX_BYTES", most)
    site.add(PAGE, SENDING)
    wish = Wish(selector="#done", cap_seconds=10 if code else 1)
    page = await renderer.render(PAGE, wish=wish, fetch=site, connect=connect)
    assert (f"<p>ended {code}</p>" if code else "<p>open</p>") in page.html
