"""Searches that a site's OpenSearch description says, on made-up sites."""

from __future__ import annotations

import pytest
from discovery import made_up
from discovery.made_up import ORIGIN, Visitor

from crawler import sites
from crawler.base.errors import HeadroomError, InputError
from crawler.discovery import describe
from crawler.extract import links

KIND = sites.parse(f"name: s\nkind: opensearch\nbase: {ORIGIN}/\n", "s.yaml")


class Fed(made_up.Declared):
    """Its description has a feed of results, too."""

    template = f"{ORIGIN}/feed?q={{searchTerms}}"

    def respond(self, request):
        answer = super().respond(request)
        if request.path == "/os.xml":
            more = f'<Url type="application/rss+xml" template="{self.template}"/></OpenSearchDescription>'
            return answer[0].replace("</OpenSearchDescription>", more), *answer[1:]
        if request.path == "/feed":
            entries = "".join(f"<item><link>/p/{one.number}</link></item>" for one in self.found(request.query["q"]))
            return f"<rss><channel>{entries}</channel></rss>", 200, "application/rss+xml"
        return answer


async def described(site, url=f"{ORIGIN}/", own=KIND):
    visitor = Visitor(site)
    keys = await describe(url, visitor, word="flood", reads_results=own is not KIND)
    return own.described(keys), visitor


async def found_by(site, visitor, word="flood"):
    found = []
    for target in site.search_targets([word], pages=2, per_page=20, sort="newest"):
        found += links(await visitor.ask(target.url, ""), site).urls
    return {url.rpartition("/")[2] for url in found}


@pytest.mark.parametrize("url", [f"{ORIGIN}/", f"{ORIGIN}/p/101", f"{ORIGIN}/os.xml"])
async def test_results_of_its_pages_are_told_by_a_search(url):
    site, visitor = await described(made_up.Declared(), url)
    assert site.search.url == f"{ORIGIN}/lookup?for={{query}}&n={{per_page}}&pg={{page}}"
    assert site.results.links.text == "css:p.r a"
    assert await found_by(site, visitor) == {str(one.number) for one in made_up.ENGLISH}


@pytest.mark.parametrize("kind", ["text/xml", "application/xml; charset=utf-8", "", "text/plain", "text/html"])
@pytest.mark.parametrize("url", [f"{ORIGIN}/", f"{ORIGIN}/os.xml"])
async def test_a_description_is_told_by_what_it_holds(url, kind):
    """Few servers know the type that it should have."""
    described_as = made_up.Declared()
    respond = described_as.respond
    described_as.respond = lambda asked: (respond(asked)[0], 200, kind) if asked.path == "/os.xml" else respond(asked)
    site, visitor = await described(described_as, url)
    assert site.search.url == f"{ORIGIN}/lookup?for={{query}}&n={{per_page}}&pg={{page}}"
    assert await found_by(site, visitor) == {str(one.number) for one in made_up.ENGLISH}


async def test_a_feed_goes_before_pages():
    site, visitor = await described(Fed())
    assert site.results.type == "feed"
    assert await found_by(site, visitor) == {str(one.number) for one in made_up.ENGLISH}
    assert len(visitor.asked) == 3


async def test_what_the_file_says_of_results_is_not_looked_for():
    own = sites.parse(f"name: s\nkind: opensearch\nbase: {ORIGIN}/\nresults: {{links: 'css:p.r a'}}\n", "s.yaml")
    site, visitor = await described(Fed(), own=own)
    assert site.results.links.text == "css:p.r a"
    assert [url for url, _why, _body in visitor.asked] == [f"{ORIGIN}/", f"{ORIGIN}/os.xml"]


@pytest.mark.parametrize(
    ("site", "says"),
    [
        (made_up.Blog(), "names no OpenSearch description"),
        (made_up.Scripted(), "names no OpenSearch description"),
        (type("Gone", (made_up.Declared,), {"found": lambda _self, _words: []})(), "no results for 'flood'"),
    ],
)
async def test_a_site_that_cannot_be_searched_so_is_told(site, says):
    with pytest.raises(HeadroomError, match=says):
        await described(site)


@pytest.mark.parametrize(
    "description",
    [
        b"<!DOCTYPE x [<!ENTITY a 'aaaa'><!ENTITY b '&a;&a;&a;&a;'>]><x>&b;</x>",
        b"\xff\xfe",
        b"<OpenSearchDescription><Url type='text/html' template='file:///etc/passwd?{searchTerms}'/></OpenSearchDescription>",
        b"<OpenSearchDescription><Url type='text/html' template='https://a.test/{searchTerms}{x}'/></OpenSearchDescription>",
    ],
)
async def test_hostile_descriptions_say_nothing(description):
    hostile = type(
        "Hostile",
        (made_up.Declared,),
        {
            "respond": lambda _self, request: (
                (description.decode("latin-1"), 200, "application/opensearchdescription+xml")
                if request.path == "/os.xml"
                else made_up.Declared.respond(made_up.Declared(), request)
            )
        },
    )()
    with pytest.raises(HeadroomError):
        await described(hostile)


@pytest.mark.parametrize(
    ("search", "key"),
    [
        ("{description: 'ftp://a.test'}", "search.description"),
        ("{description: 'https://u:p@a.test'}", "search.description"),
        ("{description: 'https://a.test/{query}'}", "search.description"),
        ("{description: 'https://a.test/', url: 'https://a.test/{query}'}", "search: got .*, expected url, or"),
        ("{join: '+'}", "search: got .*, expected url, or"),
    ],
)
def test_a_wrong_file_is_told(search, key):
    with pytest.raises(InputError, match=key):
        sites.parse(f"name: s\nsearch: {search}\nresults: {{links: 'css:a'}}\n", "s.yaml")
