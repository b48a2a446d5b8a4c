"""Proposals for sites whose pages are empty before their scripts have run."""

from __future__ import annotations

from discovery.made_up import ORIGIN, Site, Visitor, page

from crawler import sites
from crawler.base.models import JsonAnswer
from crawler.discovery import propose

FORM = '<form action="/find"><input name="words"></form>'
SHELL = '<div id="app"></div><script src="/app.js"></script>'


class Application(Site):
    """Its pages are one shell; a script fills it with what the site's API says.

    Args:
        has_form: The search's form stands in the shell; else a script writes it.
    """

    def __init__(self, *, has_form=True, has_browser=True):
        self.has_form, self.has_browser = has_form, has_browser

    def respond(self, request):
        if request.path in ("/", "/find") or request.path.startswith("/post/"):
            return page("App", (FORM if self.has_form else "") + SHELL)
        return None

    def shown(self, url):
        if not self.has_browser:
            return None
        path, _, query = url.removeprefix(ORIGIN).partition("?")
        if path == "/":
            return page("App", FORM), []
        loaded = [JsonAnswer(f"{ORIGIN}/api{path}", b"{}", is_wanted=True)]
        if path == "/find":
            links = "".join(
                f'<li><a class="post" href="/post/{one.number}">{one.title}</a></li>'
                for one in self.found(query.partition("=")[2])[:10]
            )
            return page("App", f"{FORM}<ol>{links}</ol>"), loaded
        one = self.article(path.rpartition("/")[2])
        body = f'<h1>{one.title}</h1><b class="by">{one.author}</b><time>{one.date}</time><article>{one.text}</article>'
        return page("App", body), loaded


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


async def test_results_that_scripts_show_are_selected_in_the_rendered_page():
    proposal, _ = await proposed(Application())
    reads_all(proposal)
    assert proposal.definition["search"]["url"] == "{base}/find?words={query}"
    assert proposal.definition["render"] == {"content": "always", "results": "always"}
    said = " ".join(proposal.text.replace("#", "").split())
    assert f"scripts load {ORIGIN}/api/find: where that has the results, search.url reads it without a browser" in said
    assert f"scripts load {ORIGIN}/api/post/" in said
    assert "no results for" not in said


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
