"""A page has no way out of its browser but the crawl's HTTP client."""

from __future__ import annotations

import pytest
from render.canaries import TRIED, Canaries
from render.conftest import LIMITS

from crawler.render import chromium
from crawler.render.chromium import Guards
from crawler.render.errors import NoDocumentError
from crawler.render.interception import Interception
from crawler.render.renderer import Renderer
from crawler.render.wish import Wish

pytestmark = pytest.mark.usefixtures("chromium_path")

ORIGIN = "https://hostile.example"
ALL = Wish(
    selector=TRIED,
    extra_types=frozenset({"Image", "Font", "Media", "Manifest", "TextTrack", "Ping", "Prefetch", "EventSource"}),
)
BOTH = Guards(has_namespace=True, has_switches=True)
NAMESPACE = Guards(has_namespace=True, has_switches=False)
SWITCHES = Guards(has_namespace=False, has_switches=True)
NONE = Guards(has_namespace=False, has_switches=False)
# What the page asks for by each of these comes to `fetch`, and may be refused there.
ASKED_WORDS = """again0 audio background beacon download embed eventsource fetch fetch-later fetch-preflight font form
frame frame-img iframe img import import-scripts input keepalive link-header modulepreload object prefetch preload
rebound redirected refresh script shared-worker spelling srcdoc srcset stylesheet svg video worker xhr"""
ASKED = frozenset(ASKED_WORDS.split())
# What Chromium doesn't pause, and would send by itself.
MISSED = {"tcp", "udp"}


async def tried(site, guards, origin=ORIGIN):
    """Renders the page that tries every way, and returns how it reached the canaries.

    Args:
        origin: Of the page; empty: the canaries' own server.
    """
    renderer = Renderer("", LIMITS, guards)
    async with Canaries(site) as canaries:
        try:
            page = await renderer.render(canaries.fill(origin or canaries.origin), wish=ALL, fetch=site)
            assert page.settled == "selector"
        except NoDocumentError:  # it came, but not by `fetch`
            assert not origin
        finally:
            await renderer.close()
    return canaries.reached


@pytest.mark.parametrize(
    "guards",
    [
        pytest.param(BOTH, id="both"),
        pytest.param(NAMESPACE, id="namespace", marks=pytest.mark.faults),
        pytest.param(SWITCHES, id="switches", marks=pytest.mark.faults),
    ],
)
async def test_no_page_reaches_a_server_by_itself(site, guards):
    if guards.has_namespace and not await chromium.may_have_namespace():
        pytest.skip("this user may make no network namespace")
    assert await tried(site, guards) == set()
    assert {request.url.rpartition("/")[2] for request in site.asked} >= ASKED


@pytest.mark.faults
async def test_without_guards_a_page_reaches_servers_by_what_is_not_intercepted(site):
    assert await tried(site, NONE) >= MISSED


@pytest.mark.faults
async def test_without_interception_either_a_page_reaches_servers_by_every_way(site, monkeypatch):
    async def start(_self):
        """Has nothing pause."""

    monkeypatch.setattr(Interception, "start", start)
    assert await tried(site, NONE, origin="") >= ASKED | MISSED
