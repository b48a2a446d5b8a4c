"""What a page shows once its scripts have run, and how all that it needs comes through `fetch`."""

from __future__ import annotations

import pytest
from render.made_site import JSON, SCRIPT

from crawler.base.errors import AnswerError, UrlError
from crawler.base.models import JsonAnswer
from crawler.extract.markup import parse_html
from crawler.render.errors import NoDocumentError, RenderError
from crawler.render.wish import Wish

pytestmark = pytest.mark.asyncio(loop_scope="module")

PAGE = "https://forum.example/board"
QUICK = Wish(quiet_seconds=0.1)


async def test_a_page_is_what_its_scripts_make_of_it(renderer, site):
    site.add(PAGE, "<!doctype html><title>empty</title><script src=/app.js></script>", (b"X-Made", b"yes"))
    site.add(
        "https://forum.example/app.js",
        "fetch('/posts.json').then(a => a.json()).then(posts => { document.body.textContent = posts.join(' '); })",
        kind=SCRIPT,
    )
    site.add("https://forum.example/posts.json", '["one", "two"]', kind=JSON)
    page = await renderer.render(PAGE + "#/new", wish=QUICK, fetch=site)
    assert page.html == (
        '<!DOCTYPE html><html><head><title>empty</title><script src="/app.js"></script></head>'
        "<body>one two</body></html>"
    )
    assert (page.url, page.status, page.settled) == (PAGE + "#/new", 200, "quiet")
    assert (b"X-Made", b"yes") in page.headers
    assert page.answers == (JsonAnswer("https://forum.example/posts.json", b'["one", "two"]'),)
    assert [(request.resource_type, request.is_page) for request in site.asked] == [
        ("Document", True),
        ("Script", False),
        ("XHR", False),
    ]


async def test_open_shadow_roots_are_part_of_a_page(renderer, site):
    """Those within others, too; text that stands in one is read as text of the page."""
    site.add(
        PAGE,
        """<html lang=en><title>empty</title><x-a>light</x-a>
        <x-b><template shadowrootmode=open><p>declared</template></x-b>
        <script>
          const outer = document.querySelector("x-a").attachShadow({mode: "open"});
          outer.innerHTML = "<p>outer</p><i></i><slot></slot>";
          outer.querySelector("i").outerHTML = "<x-c></x-c>";
          outer.querySelector("x-c").attachShadow({mode: "open"}).innerHTML = "<p>inner</p>";
        </script>""",
    )
    page = await renderer.render(PAGE, wish=QUICK, fetch=site)
    tree = parse_html(page.html.encode())
    assert [one.text for one in tree.select("p")] == ["outer", "inner", "declared"]
    assert tree.select_one("html").attr("lang") == "en"
    assert tree.select_one("x-a").text == "outerinnerlight"


async def test_each_hop_of_a_redirect_is_asked_for(renderer, site):
    site.redirect(PAGE, "https://forum.example/b")
    site.redirect("https://forum.example/b", "https://www.forum.example/c")
    site.add("https://www.forum.example/c", "<p>there</p>")
    page = await renderer.render(PAGE, wish=QUICK, fetch=site)
    assert (page.url, page.status) == ("https://www.forum.example/c", 200)
    assert site.urls() == [PAGE, "https://forum.example/b", "https://www.forum.example/c"]
    assert all(request.is_page for request in site.asked)


@pytest.mark.parametrize(
    "way", ["redirect", "<script>location = '{}'</script>", "<meta http-equiv=refresh content=0;{}>"]
)
async def test_what_is_refused_of_the_page_itself_is_what_rendering_raises(renderer, site, way):
    target = "https://elsewhere.example/"
    if way == "redirect":
        site.redirect(PAGE, target)
    else:
        site.add(PAGE, way.format(target))
    site.refuse(target)
    with pytest.raises(AnswerError, match="refused"):
        await renderer.render(PAGE, wish=QUICK, fetch=site)


async def test_what_is_refused_of_the_rest_is_a_failed_request_to_the_page(renderer, site):
    site.add(PAGE, "<p>text</p><script>fetch('/no').catch(() => { document.title = 'failed'; })</script>")
    site.refuse("https://forum.example/no")
    page = await renderer.render(PAGE, wish=QUICK, fetch=site)
    assert "<title>failed</title>" in page.html


async def test_images_are_not_asked_for_unless_they_are_wanted(renderer, site):
    site.add(PAGE, "<link rel=icon href=/icon.png><img src=/a.png><script>navigator.sendBeacon('/seen')</script>")
    await renderer.render(PAGE, wish=QUICK, fetch=site)
    assert site.urls() == [PAGE]
    await renderer.render(PAGE, wish=Wish(quiet_seconds=0.1, extra_types=frozenset({"Image"})), fetch=site)
    assert "https://forum.example/a.png" in site.urls()


async def test_an_error_page_is_rendered_with_its_status(renderer, site):
    site.add(PAGE, "<p>not here</p>", status=404)
    page = await renderer.render(PAGE, wish=QUICK, fetch=site)
    assert (page.status, "not here" in page.html) == (404, True)


ATTACHMENT = (b"Content-Disposition", b"attachment; filename=a.html")


@pytest.mark.parametrize(
    ("headers", "status", "why"), [([ATTACHMENT], 200, "it is sent as an attachment"), ([], 204, "it is of status 204")]
)
async def test_what_is_no_document_is_not_rendered(renderer, site, headers, status, why):
    site.add(PAGE, "", *headers, status=status)
    with pytest.raises(NoDocumentError, match=why):
        await renderer.render(PAGE, wish=QUICK, fetch=site)


@pytest.mark.parametrize(("headers", "status"), [([ATTACHMENT], 200), ([], 204), ([], 205)])
async def test_a_page_whose_script_leads_to_no_document_keeps_its_own_status(renderer, site, headers, status):
    site.add(PAGE, "<p>here</p><script>location = '/nothing'</script>", (b"X-Made", b"yes"), status=404)
    site.add("https://forum.example/nothing", "", *headers, status=status)
    page = await renderer.render(PAGE, wish=QUICK, fetch=site)
    assert (page.status, "here" in page.html, (b"X-Made", b"yes") in page.headers) == (404, True, True)
    assert site.urls() == [PAGE, "https://forum.example/nothing"]


async def test_json_that_a_page_loads_ahead_counts_as_loaded(renderer, site):
    address = "https://forum.example/posts.json"
    site.add(PAGE, "<link rel=preload as=fetch crossorigin=anonymous href=/posts.json>")
    site.add(address, '["one"]', kind=JSON)
    page = await renderer.render(PAGE, wish=QUICK, fetch=site)
    assert page.answers == (JsonAnswer(address, b'["one"]'),)


async def test_a_post_reaches_the_crawl_with_its_body(renderer, site):
    site.add(PAGE, "<script>fetch('/find', {method: 'POST', body: 'q=\\u00e9'})</script>")
    await renderer.render(PAGE, wish=QUICK, fetch=site)
    assert [(request.method, request.body) for request in site.asked] == [("GET", b""), ("POST", "q=é".encode())]


@pytest.mark.parametrize(
    "url", ["file:///etc/passwd", "chrome://version", "view-source:https://forum.example/", "data:,x"]
)
async def test_only_pages_of_http_are_rendered(renderer, site, url):
    with pytest.raises(UrlError):
        await renderer.render(url, wish=QUICK, fetch=site)
    assert not site.asked


async def test_a_selector_that_matches_settles_a_page_that_is_never_quiet(renderer, site):
    site.add(PAGE, "<script>setInterval(() => { document.body.append(document.createElement('b')); }, 10)</script>")
    page = await renderer.render(PAGE, wish=Wish(selector="b + b + b", cap_seconds=10), fetch=site)
    assert page.settled == "selector"
    for wish in (Wish(quiet_seconds=0.3, cap_seconds=0.5), Wish(selector=".never", cap_seconds=0.3)):
        assert (await renderer.render(PAGE, wish=wish, fetch=site)).settled == "cap"


async def test_a_selector_that_is_none_is_told(renderer, site):
    site.add(PAGE, "<p>text</p>")
    with pytest.raises(RenderError, match="not a valid selector"):
        await renderer.render(PAGE, wish=Wish(selector="p["), fetch=site)
