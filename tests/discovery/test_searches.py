"""Which search of a site is proposed, what of its answer is a result, and how further pages are asked for."""

from __future__ import annotations

import itertools

import pytest
from discovery.made_up import ENGLISH, ORIGIN, Site, Visitor, page

from crawler import sites
from crawler.base.errors import UnavailableError
from crawler.base.models import Fetched
from crawler.discovery import propose
from crawler.discovery.pages.page import ParsedPage
from crawler.discovery.results import result_block

FORM = '<form action="/search"><input name="q"></form>'


def headings(found):
    return "".join(f'<div class="row"><h2><a href="/post/{one.number}">{one.title}</a></h2></div>' for one in found)


class Searched(Site):
    """A form on its front page, and results with headings.

    Args:
        form: On its front page.
        more: On its pages of results, below the results.
    """

    path = "/search"

    def __init__(self, form=FORM, more=""):
        self.form, self.more = form, more

    def respond(self, request):
        if request.path == "/":
            return page("Town", f"<h1>Town</h1>{self.form}")
        if request.path == self.path:
            return self.results(self.found(request.query.get("q", "")), int(request.query.get("start", 0)))
        one = self.article(request.path.removeprefix("/post/"))
        return page(one.title, f"<h1>{one.title}</h1><div class=text>{one.text}</div>") if one else None

    def results(self, found, start):
        shown = found[start : start + 10]
        return page("Search", (headings(shown) if shown else "<p class=none>Nothing was found.</p>") + self.more)


async def proposed(site, url=f"{ORIGIN}/"):
    visitor = Visitor(site)
    proposal = await propose(url, visitor, word=site.word)
    assert len(visitor.asked) <= 12
    assert sites.parse(proposal.text, "the proposal").name == "site_test"
    return proposal, visitor, " ".join(proposal.text.replace("#", "").split())


# -- Which search -----------------------------------------------------------------------------------------------------


class Idle(Searched):
    """Its form does nothing: its page is the same for any words, but for what is made anew for each answer."""

    def __init__(self, anew):
        super().__init__()
        self.anew, self.answers = anew, itertools.count()

    def respond(self, request):
        if request.path == "/sitemap.xml":
            return "<urlset>" + "".join(f"<url><loc>/post/{one.number}</loc></url>" for one in self.articles)
        if request.path != "/":
            return super().respond(request)
        anew = self.anew.format(number=next(self.answers), words=request.query.get("query", ""))
        logo = '<div class="navbar-header"><a href="/"><h1>NodeBB</h1></a></div><p><a href="/about">About</a></p>'
        return page("Forum", f'{logo}{anew}<form method=GET action=""><input name=query></form>')


@pytest.mark.parametrize(
    "anew",
    [
        "<script>var csrf = {number}</script>",
        "<form><input type=hidden name=nonce value={number}></form>",
        "<p>Made in {number} ms</p>",
        "<a href='/login?csrf_token={number}'>Log in with your name</a>",
        "<p>For {words}</p><a href='/?query={words}&order=new'>newest</a><a href='/feed/{words}.rss'>feed</a>",
    ],
)
async def test_a_form_whose_answer_has_the_same_links_for_any_word_is_no_search(anew):
    proposal, _visitor, said = await proposed(Idle(anew))
    assert (proposal.definition["kind"], proposal.definition["base"]) == ("sitemap", f"{ORIGIN}/sitemap.xml")
    assert "no results for 'flood' stand in the HTML" in said


@pytest.mark.parametrize("address", ["/find?q=flood", "/?q=flood", "/"])
def test_links_to_the_page_itself_and_to_the_front_page_are_no_results(address):
    path = address.partition("?")[0]
    links = f'<h1><a href="/">The flood news</a></h1><h1><a href="{path}">All floods</a></h1>'
    found = ParsedPage(Fetched(f"{ORIGIN}{address}", 200, "text/html", page("Find", links).encode()))
    nothing = ParsedPage(Fetched(f"{ORIGIN}/find?q=x", 200, "text/html", page("Find", "<p>Nothing").encode()))
    assert result_block.results(found, [nothing], "flood") is None


def test_results_that_a_menu_names_as_well_are_told_by_their_place_though_another_link_is_new():
    menu = "".join(f"<li><a href=/p/{one.number}>{one.title}</a>" for one in ENGLISH)
    results = "".join(f"<h3 class=hit><a href=/p/{one.number}>{one.title}</a></h3>" for one in ENGLISH[:5])
    answers = {"flood": f"{results}<a class=feed href='/rss?q=flood'>Subscribe</a>", "x": "<p>Nothing"}
    found, nothing = (
        ParsedPage(Fetched(f"{ORIGIN}/?q={word}", 200, "text/html", page("Find", f"<ul>{menu}</ul>{shown}").encode()))
        for word, shown in answers.items()
    )
    block = result_block.results(found, [nothing], "flood")
    assert block.urls == tuple(f"{ORIGIN}/p/{one.number}" for one in ENGLISH[:5])


async def test_what_a_form_sends_by_itself_is_said_since_it_may_narrow_the_search():
    fields = (
        '<input type="hidden" name="state" value="open"><input type="hidden" name="start" value="0"><input name="q">'
        '<select name="part[]"><option value="all">All</option><option value="titles" selected>Titles</option></select>'
        '<select name="none"><option value="">Any</option></select><input type="submit" name="go" value="Search">'
        '<select name="order"><option value="new">Newest</option><option value="best">Best</option></select>'
    )
    proposal, _visitor, said = await proposed(Searched(f'<form action="/search">{fields}</form>'))
    assert "# with state=open, start=0, part%5B%5D=titles, by the form's" in proposal.text
    assert "that may narrow it" in said
    said_of_none = (await proposed(Searched()))[2]
    assert "that may narrow it" not in said_of_none


class Refusing(Visitor):
    """Asks for no page of a search, as where robots.txt forbids it."""

    async def ask(self, url, why, **more):
        if url.startswith(f"{ORIGIN}/search"):
            self.asked.append((url, why, ""))
            raise UnavailableError(f"a crawl refuses {url}")
        return await super().ask(url, why, **more)


async def test_a_search_that_is_refused_is_tried_and_told_of_once():
    form = FORM.replace("name=", "type=search placeholder='Search' name=")
    declared = f'{{"@type": "SearchAction", "target": "{ORIGIN}/search?q={{words}}"}}'
    site = Searched(f"{form}<div>{form}</div><script type='application/ld+json'>{declared}</script>")
    visitor = Refusing(site)
    proposal = await propose(f"{ORIGIN}/", visitor, word=site.word)
    assert len([url for url, _why, _body in visitor.asked if "/search" in url]) == 1
    assert proposal.text.count("a crawl refuses") == 1
    assert "no search was found" in proposal.text
    assert "search box" not in proposal.text


# -- Which results ----------------------------------------------------------------------------------------------------


def results_of(rows, word="flood"):
    """Returns the selector of the results among some rows, and how many links and addresses it finds."""
    found = ParsedPage(Fetched(f"{ORIGIN}/search?q=flood", 200, "text/html", page("Search", "".join(rows)).encode()))
    nothing = ParsedPage(Fetched(f"{ORIGIN}/search?q=x", 200, "text/html", page("Search", "<p>Nothing").encode()))
    block = result_block.results(found, [nothing], word)
    return (block.selector.css, len(block.anchors), len(block.urls)) if block else None


USERS = ("Ann Becker", "bob", "Carla Diaz")
POST = """<div class="row post-row"><div class="author-name"><h4><a href="/user/{user}">{user}</a></h4></div>
    <div class="post-meta"><a href="/post/{at}">0{at} December 2025 - 03:58</a></div><p>The flood came.</p></div>"""
SAME_PLACE = """<div class="row"><a class="user" href="/user/{user}">{user}</a>
    <a class="when" href="/post/{at}">#{at}</a><p>The flood came.</p></div>"""
TITLED = """<div class="row"><h4><a href="/thread/{half}">The flood of {half}</a></h4>
    <p><a href="/post/{at}">0{at} December 2025</a></p></div>"""
ANSWERED = """<div class="row"><h4><a href="/user/{user}">{user}</a></h4><a href="/answer/{at}">Reply</a></div>"""


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        (POST, ("div.post-meta a", 8, 8)),
        (SAME_PLACE, ("a.when", 8, 8)),  # told by their classes alone
        (TITLED, ("h4 a", 8, 4)),  # titles of results that are there twice
        (ANSWERED, ("h4 a", 8, 3)),  # nothing else in the rows tells them from each other
    ],
)
def test_links_that_repeat_are_no_results_where_others_are_different_in_each_row(row, expected):
    rows = [row.format(at=at, half=(at + 1) // 2, user=USERS[at % 3]) for at in range(1, 9)]
    assert results_of(rows) == expected


# -- Which further pages ----------------------------------------------------------------------------------------------


class InPath(Searched):
    """Words, and perhaps a number, are segments of the path.

    Args:
        address: Of a page of results, with places for both.
    """

    def __init__(self, address):
        super().__init__("<form action=/nothing><input name=q></form>")
        self.address = address

    def respond(self, request):
        pages = {
            self.address.format(words=words, number=number): (words, number)
            for words in ("flood", "xqzvwkjqpx")
            for number in range(8, 0, -1)
        }
        if request.path not in pages:
            return super().respond(request)
        words, number = pages[request.path]
        at = {word: self.address.format(words=word, number=number + 1) for word in (words, "flood")}
        self.more = self.form + f'<p><a href="{at[words]}">Next</a></p>'
        return self.results(self.found(words), number * 10 - 10)


@pytest.mark.parametrize(
    ("address", "number"),
    [
        ("/find/page:{number}/query:{words}/", 1),
        ("/find/page:{number}/query:{words}/", 3),
        ("/find/query={words}/page={number}", 1),
        ("/find/{words}/page/{number}", 1),
        ("/search/{words}/{number}", 2),
        ("/search/{words}/{number}", 3),
        ("/1/search/{words}/{number}/", 1),
    ],
)
async def test_a_page_of_results_that_is_named_says_its_search_and_paging_by_its_path(address, number):
    site = InPath(address)
    url = ORIGIN + address.format(words="flood", number=number)
    proposal, _visitor, _said = await proposed(site, url)
    template = "{base}" + address.format(words="{query}", number="{page}")
    assert proposal.definition["search"] == {"url": template, "paging": {"kind": "page"}}
    assert proposal.definition["results"] == {"links": "css:h2 a", "empty": "css:.none", "empty_status": [404]}
    assert len(proposal.links.urls) == 10


# -- Their end --------------------------------------------------------------------------------------------------------

UNSEEN = "seen on the page of a word that nothing has; one behind the last page, which may look unlike it"


class Numbered(Searched):
    """Links to further pages.

    Args:
        link: To the second page.
        behind: What a page behind the last one is.
    """

    def __init__(self, link, behind=None):
        super().__init__(more=f'<p class="more"><a class="next" href="{link}">Next</a></p>')
        self.behind = behind

    def respond(self, request):
        if int(request.query.get("start", 0)) > len(self.articles) and self.behind:
            return self.behind
        return super().respond(request)


@pytest.mark.parametrize(
    ("link", "behind", "mark", "is_said"),
    [
        ("?q=flood&start=10", None, "css:.none", False),
        ("?q=flood&start=10", (page("Search", ""), 404, "text/html"), "css:.none", False),
        ("?q=flood&start=10", (page("Search", ""), 200, "text/html"), None, False),
        ("?q=flood&start=10", (page("Search", "<h1>Too busy</h1>"), 503, "text/html"), "css:.none", True),
        ("?q=flood&start=10", (page("Search", headings(ENGLISH[:9])), 200, "text/html"), "css:.none", True),
        ("?q=flood&after=c9", None, "css:.none", True),
    ],
)
async def test_a_mark_that_was_held_against_no_page_behind_the_last_one_says_so(link, behind, mark, is_said):
    proposal, _visitor, said = await proposed(Numbered(link, behind))
    assert proposal.definition["results"].get("empty") == mark
    assert (UNSEEN in said) == is_said
