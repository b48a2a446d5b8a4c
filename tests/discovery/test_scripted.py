"""Proposals for sites whose pages are empty before their scripts have run: without a browser, where that will do."""

from __future__ import annotations

import json

import pytest
from discovery.made_up import ORIGIN, Site, Visitor, page

from crawler import sites
from crawler.base import page_json
from crawler.base.models import Fetched, JsonAnswer
from crawler.discovery import propose
from crawler.discovery.pages.page import ParsedPage
from crawler.discovery.search import loaded

FORM = '<form action="/find"><input name="words"></form>'
SHELL = '<div id="app"></div><script src="/app.js"></script>'


class Application(Site):
    """Its pages are one shell; a script fills it with what the site's API says.

    Args:
        api: Its API answers to anybody.
        has_json: Scripts load JSON; else they make up pages by themselves.
        has_form: The search's form stands in the shell; else a script writes it.
        opens: Pages are addressed in the API's answers; else by their ids.
    """

    def __init__(self, *, api=True, has_json=True, has_form=True, opens=False, has_browser=True):
        self.api, self.has_json, self.has_form, self.opens, self.has_browser = (
            api,
            has_json,
            has_form,
            opens,
            has_browser,
        )

    def respond(self, request):
        if request.path.startswith("/api/"):
            return self.answer(request.raw), 200 if self.api else 403, "application/json"
        if request.path in ("/", "/find") or request.path.startswith("/post/"):
            return page("App", (FORM if self.has_form else "") + SHELL)
        return None

    def answer(self, url):
        path, _, query = url.removeprefix(ORIGIN).partition("?")
        if path == "/api/find":
            words, number = (one.partition("=")[2] for one in query.split("&"))
            return json.dumps({"found": {"items": [self.row(one) for one in self.found(words)[: 10 * int(number)]]}})
        one = self.article(path.rpartition("/")[2])
        text = [{"html": f"<p>{part}</p>"} for part in one.paragraphs]
        post = {"subject": one.title, "by": {"name": one.author}, "created_at": one.date, "text": text}
        return json.dumps({"post": post, "next": f"{path}?page=2" if one == self.articles[0] else None})

    def row(self, one):
        return {"no": one.number, "subject": one.title} | ({"href": f"/post/{one.number}"} if self.opens else {})

    def shown(self, url):
        if not self.has_browser:
            return None
        path, _, query = url.removeprefix(ORIGIN).partition("?")
        if path == "/":
            return page("App", FORM), []
        if path == "/find":
            asked = [f"{ORIGIN}/api/me", f"{ORIGIN}/api/find?{query.replace('words', 'q')}&page=1"]
            links = "".join(
                f'<li><a class="post" href="/post/{one.number}">{one.title}</a></li>'
                for one in self.found(query.partition("=")[2])[:10]
            )
            return page("App", f"{FORM}<ol>{links}</ol>"), self.loaded(asked[1:])
        one = self.article(path.rpartition("/")[2])
        body = f'<h1>{one.title}</h1><b class="by">{one.author}</b><time>{one.date}</time><article>{one.text}</article>'
        return page("App", body), self.loaded([f"{ORIGIN}/api/post/{one.number}"])

    def loaded(self, urls):
        return [JsonAnswer(url, self.answer(url).encode(), is_wanted=True) for url in urls] if self.has_json else []


class Documentation(Site):
    """Plain pages with a menu of all of them; a script searches, whatever words the server is sent."""

    def respond(self, request):
        if request.path == "/":
            return self.around("")
        if request.path == "/search.html":
            return self.around("<noscript><div><p>Please activate JavaScript to search.</p></div></noscript>")
        one = self.article(request.path.rpartition("/")[2].removesuffix(".html"))
        return self.around(f"<h1>{one.title}</h1>{one.text}") if one else None

    def around(self, main):
        menu = "".join(f'<li class=l1><a href="/p/{one.number}.html">{one.title}</a></li>' for one in self.articles)
        form = '<form action="/search.html"><input name="q"></form>'
        return page("Manual", f"<div class=body>{main}</div><div class=sidebar>{form}<ul class=menu>{menu}</ul></div>")

    def shown(self, url):
        found = self.found(url.partition("q=")[2])
        rows = "".join(f'<li class=hit><a href="/p/{one.number}.html">{one.title}</a></li>' for one in found[:10])
        said = (
            "Found them." if found else "Your search did not match any page. " + "Make sure that words are right. " * 3
        )
        noscript = "<noscript><div><p>Please activate JavaScript to search.</p></div></noscript>"
        return self.around(f"{noscript}<p class=summary>{said}</p><ul class=hits>{rows}</ul>"), []


async def test_a_search_by_script_finds_pages_that_a_menu_names_as_well():
    proposal, visitor = await proposed(Documentation())
    assert [url.partition("?")[2] for url in visitor.rendered] == ["q=flood", "q=xqzvwkjqpx"]
    assert proposal.definition["search"] == {"url": "{base}/search.html?q={query}"}
    assert proposal.definition["results"] == {
        "links": "css:li.hit a",
        "empty": "text:Your search did not match any page.",
    }
    assert proposal.definition["render"] == {"results": "always"}
    assert len(proposal.links.urls) == 10


async def proposed(site, url=f"{ORIGIN}/"):
    visitor = Visitor(site)
    proposal = await propose(url, visitor, word=site.word)
    assert len(visitor.asked) <= 12
    assert len(visitor.rendered) <= 5
    assert (
        sites.parse(proposal.text, "the proposal").definition()
        == sites.Site.from_definition(dict(proposal.definition)).definition()
    )
    return proposal, visitor


def reads_all(proposal):
    """Returns whether the file reads the first ten results, and the texts of two."""
    articles = {f"{ORIGIN}/post/{one.number}": one for one in Site.articles}
    assert len(proposal.links.urls) == 10
    assert set(proposal.links.urls) <= set(articles)
    assert len(proposal.fields) == 2
    for url, found in proposal.fields.items():
        one = articles[url]
        assert all(part in found.content for part in one.paragraphs)


@pytest.mark.parametrize("opens", [True, False])
async def test_json_that_anybody_gets_is_asked_for_without_a_browser(opens):
    proposal, _ = await proposed(Application(opens=opens))
    reads_all(proposal)
    links = (
        {"links": "json:found.items[].href"}
        if opens
        else {"links": "json:found.items[].no", "link": "{base}/post/{value}"}
    )
    assert proposal.definition["search"] == {"url": "{base}/api/find?q={query}&page={page}", "paging": {"kind": "page"}}
    assert proposal.definition["results"] == {"type": "json"} | links
    assert proposal.definition["render"] == {"content": "always"}
    assert f"they load {ORIGIN}/api/post/" in " ".join(proposal.text.replace("#", "").split())
    assert "no browser is needed" in " ".join(proposal.text.replace("#", "").split())
    assert "developer tools" not in proposal.text
    assert "no results for" not in proposal.text


async def test_json_that_only_the_page_gets_is_read_in_a_browser():
    proposal, _ = await proposed(Application(api=False))
    reads_all(proposal)
    assert proposal.definition["search"]["url"] == "{base}/find?words={query}"
    assert proposal.definition["results"]["from"] == {"xhr": "/api/find"}
    assert proposal.definition["render"] == {"content": "always", "results": "always"}
    assert [one for one in proposal.unknown if one.startswith("search.paging")]


async def test_what_scripts_write_without_json_is_selected_in_the_rendered_page():
    proposal, _ = await proposed(Application(has_json=False))
    reads_all(proposal)
    assert proposal.definition["results"]["links"].startswith("css:")
    assert proposal.definition["render"] == {"content": "always", "results": "always"}


async def test_a_page_that_shows_nothing_by_itself_is_rendered_to_find_its_search():
    proposal, visitor = await proposed(Application(has_form=False))
    reads_all(proposal)
    assert visitor.rendered[0] == f"{ORIGIN}/"


async def test_a_box_that_a_script_reads_is_told_of(monkeypatch):
    box = page("App", "<main>Manual</main><input type=search placeholder='Type to search'>")
    monkeypatch.setattr(Application, "shown", lambda _self, _url: (box, []))
    proposal, _ = await proposed(Application(has_form=False))
    assert "search" not in proposal.definition
    assert "search box that no form sends" in " ".join(proposal.text.replace("#", "").split())


async def test_without_a_browser_it_says_where_to_look():
    proposal, visitor = await proposed(Application(has_browser=False))
    assert visitor.rendered == []
    assert "render" not in proposal.definition
    assert "no results for 'flood' stand in the HTML of its answer" in " ".join(proposal.text.replace("#", "").split())


def test_ids_are_looked_for_behind_the_host():
    links = "".join(f'<a href="/t/{number}/1">Flood {number}</a>' for number in range(1, 4))
    listed = ParsedPage(Fetched("http://127.0.0.1/", 200, "text/html", page("App", links).encode()))
    rows = [{"count": 7, "id": number, "name": f"Flood {number}"} for number in range(1, 4)]
    answer = JsonAnswer("http://127.0.0.1/graphql", json.dumps(rows).encode(), "POST", is_wanted=True)
    found = loaded.results([answer], listed, "flood")
    assert (found.links, found.link) == ("json:[].id", "http://127.0.0.1/t/{value}/1")
    assert found.titles == ("Flood 1", "Flood 2", "Flood 3")


@pytest.mark.parametrize("address", ["http://[a", "http://a]/", "//[", "http://a\u2100.test/", "https://a:b/"])
def test_an_address_that_is_none_leads_nowhere(address):
    listed = ParsedPage(Fetched(f"{ORIGIN}/", 200, "text/html", page("App", SHELL).encode()))
    rows = [{"name": "Flood 1", "href": address}, {"name": "Flood 2", "href": "/post/2"}]
    found = loaded.results([JsonAnswer(f"{ORIGIN}/api", json.dumps(rows).encode(), is_wanted=True)], listed, "flood")
    assert found.urls == ("", f"{ORIGIN}/post/2")


def test_of_templates_that_fit_alike_it_is_that_of_the_first_link():
    names = [f"{letter}{letter}" for letter in "qwertyuiopasdfgh"]
    for order in (names, names[::-1]):
        links = "".join(f'<a href="/{name}/{number}">Flood {number}</a>' for name in order for number in (1, 2))
        listed = ParsedPage(Fetched(f"{ORIGIN}/", 200, "text/html", page("App", links).encode()))
        rows = [{"id": number, "name": f"Flood {number}"} for number in (1, 2)]
        answer = JsonAnswer(f"{ORIGIN}/api", json.dumps(rows).encode(), is_wanted=True)
        assert loaded.results([answer], listed, "flood").link == f"{ORIGIN}/{order[0]}/{{value}}"


def test_what_is_looked_at_is_bounded():
    """Of 100 answers with 100 lists each, in which every value might be what leads on or what is said."""
    links = "".join(f'<a href="/post/{number}">{number}</a>' for number in range(1_000))
    listed = ParsedPage(Fetched(f"{ORIGIN}/", 200, "text/html", page("App", links).encode()))
    row = {f"n{name}": name for name in range(100)} | {"t": "flood"}
    body = json.dumps({f"l{number}": [row, row] for number in range(100)}).encode()
    answers = [JsonAnswer(f"{ORIGIN}/api/{number}", body + b" " * number, is_wanted=True) for number in range(100)]
    assert loaded.results(answers, listed, "flood") is None


def test_hostile_json_proposes_nothing():
    shell = ParsedPage(Fetched(f"{ORIGIN}/", 200, "text/html", page("App", SHELL).encode()))
    deep = "[" * 500 + "]" * 500
    wide = json.dumps([{"a{}": 1, '"]{0}#': f"/{number}", "b": "flood"} for number in range(3)])
    for body in (deep, "{", "null", '"flood"', "[[]]", "[{}]", '{"a": [{"b": {"c": "flood"}}]}', wide):
        answer = JsonAnswer(f"{ORIGIN}/api/a{{b}}", body.encode(), is_wanted=True)
        loaded.results([answer], shell, "flood")
        assert page_json.is_alike(body.encode(), b"{") is False
