"""Whole proposals for made-up sites: a file that is valid, finds all articles, and reads them as they were written."""

from __future__ import annotations

import asyncio

import pytest
import yaml
from discovery import made_up
from discovery.made_up import ORIGIN, Visitor

from crawler import extract, sites
from crawler.base.errors import ExtractError, HeadroomError
from crawler.discovery import propose
from crawler.discovery.content.sample import BARE
from crawler.discovery.pages.search_word import NONSENSE
from crawler.extract import links

# By site: what its file says of the search.
SEARCHES = {
    "Blog": ("{base}/page/{page}/?s={query}", {"kind": "page"}),
    "Forum": (
        "{base}/search.php?mod=forum&srchtxt={query}&orderby={sort}&go=%E6%90%9C%E7%B4%A2&start={offset}",
        {"kind": "offset", "step": 10},
    ),
    "News": ("{base}/find?text={query}&p={page}", {"kind": "page", "first": 0}),
    "Definitions": ("{base}/cgi/search?query={query}", {"kind": "link"}),
    "Posting": ("{base}/search", {"kind": "link"}),
    "Gbk": ("{base}/s.asp?wd={query}&pn={page}", {"kind": "page"}),
    "Nested": ("{base}/search.html?term={query}", None),
    "Wiki": ("{base}/wiki.php?do=search&q={query}", None),
    "Declared": ("{base}/lookup?for={query}&n={per_page}&pg={page}", {"kind": "page"}),
    "NotFound": ("{base}/lookup?for={query}&n={per_page}&pg={page}", {"kind": "page"}),
    "Linked": ("{base}/search/{query}/{page}", {"kind": "page"}),
    "Tracker": ("{base}/query?q={query}&page={page}", {"kind": "page"}),
    "Issues": ("{base}/issue?text={query}&:startwith={offset}", {"kind": "offset", "step": 10}),
    "Anything": ("{base}/page/{page}/?s={query}", {"kind": "page"}),
}
SAYS_ANYTHING = ("Anything",)
# Those whose pages behind the last one say that there is nothing, as a search in vain does; or that have one page.
ENDS = ("Blog", "News", "Definitions", "Posting", "Gbk", "Nested", "Wiki", "Declared", "NotFound")


def site_of(name):
    return getattr(made_up, name)()


async def proposal_of(site, url=f"{ORIGIN}/", word=None, **more):
    visitor = Visitor(site)
    proposal = await propose(url, visitor, word=site.word if word is None else word, **more)
    assert len(visitor.asked) <= 10
    return proposal, visitor


@pytest.fixture(params=SEARCHES, scope="module")
def proposed(request):
    site = site_of(request.param)
    url = f"{ORIGIN}/search/flood" if request.param == "Linked" else f"{ORIGIN}/"
    return request.param, site, asyncio.run(proposal_of(site, url))[0]


async def test_its_file_is_valid_and_searches_as_the_site_is_searched(proposed):
    name, _site, proposal = proposed
    url, paging = SEARCHES[name]
    file = yaml.safe_load(proposal.text)
    assert sites.parse(proposal.text, "a file").name == file["name"] == "site_test"
    assert (file["search"]["url"], file["search"].get("paging")) == (url, paging)
    assert file == proposal.definition


async def test_its_pages_have_the_titles_of_their_articles_and_all_else_as_without_selectors(proposed):
    _name, site, proposal = proposed
    assert len(proposal.fields) == 4
    for url, fields in proposal.fields.items():
        bare = extract.fields(await Visitor(site).ask(url, ""), BARE)
        assert fields.title in {one.title for one in site.articles}
        assert (fields.author, fields.published) == (bare.author, bare.published)
        assert fields.content == bare.content or fields.comments


async def test_its_pages_of_results_lead_to_all_articles_and_end(proposed):
    name, site, proposal = proposed
    visitor, crawled = Visitor(site), sites.parse(proposal.text, "a file")

    async def read(target):
        page = await visitor.ask(target.url, "", body=target.body)
        return links(page, crawled, body=target.body)

    targets = crawled.search_targets([site.word], pages=5, per_page=20, sort="newest")
    found, pages = set(), 0
    while targets and pages < 6:
        try:
            read_links = await read(targets.pop(0))
        except ExtractError:  # behind the last one
            break
        pages += 1
        found.update(read_links.urls)
        targets += [read_links.next] if read_links.next and not read_links.empty and read_links.urls else []
    reached = {one.number for one in site.articles if any(str(one.number) in url for url in found)}
    assert len(reached) == len(found) == (30 if name == "Nested" else 25 if name == "Wiki" else 36)
    if name not in SAYS_ANYTHING:
        nothing = await read(crawled.search_targets([NONSENSE], pages=1, per_page=20, sort="newest")[0])
        assert not nothing.urls
        assert nothing.empty == (name in ENDS)


async def test_what_only_says_what_was_searched_for_is_dropped_from_addresses():
    proposal, _visitor = await proposal_of(site_of("Wiki"))
    assert proposal.definition["drop_parameters"] == ["hl"]


async def test_a_sort_is_named_as_the_form_names_it():
    proposal, _visitor = await proposal_of(site_of("Forum"))
    assert proposal.definition["search"]["sort"] == {"newest": "dateline", "relevance": "score"}


@pytest.mark.parametrize(
    ("name", "results"),
    [
        ("Blog", {"empty": "css:.no-results", "empty_status": [404]}),
        ("Gbk", {"empty": "css:.tishi"}),
        ("Linked", {}),
    ],
)
async def test_a_page_behind_the_last_one_is_told(name, results):
    site = site_of(name)
    proposal, visitor = await proposal_of(site, f"{ORIGIN}/search/flood" if name == "Linked" else f"{ORIGIN}/")
    said = proposal.definition["results"]
    assert {key: said[key] for key in ("empty", "empty_status") if key in said} == results
    assert any(why.startswith("a page of results far behind") for _url, why, _body in visitor.asked)
    assert results or "css:.none tells a search that finds nothing" in " ".join(proposal.unknown)


@pytest.mark.parametrize(("name", "says"), [("Scripted", "a script fetches them"), ("Api", "answers in JSON")])
async def test_a_search_that_cannot_be_proposed_is_said(name, says):
    proposal, _visitor = await proposal_of(site_of(name))
    assert "search" not in proposal.definition
    assert says in " ".join(line.removeprefix("# ") for line in proposal.text.splitlines())
    assert sites.parse(proposal.text, "a file").name == "site_test"


@pytest.mark.parametrize(
    ("name", "kind", "base"), [("Fed", "rss", f"{ORIGIN}/feed"), ("Mapped", "sitemap", f"{ORIGIN}/maps/all.xml")]
)
@pytest.mark.parametrize("word", ["flood", ""])
async def test_a_site_without_a_search_is_a_list_of_its_pages(name, kind, base, word):
    proposal, _visitor = await proposal_of(site_of(name), word=word)
    assert yaml.safe_load(proposal.text) == {"name": "site_test", "kind": kind, "base": base}
    assert "no search was found that works" in proposal.text
    assert not word or "answers in JSON" in proposal.text  # what was tried before is told
    assert proposal.links.urls == tuple(f"{ORIGIN}/a/{one.number}" for one in made_up.ENGLISH)
    assert [one.title for one in proposal.fields.values()] == [made_up.ENGLISH[-1].title]


async def test_a_list_is_proposed_though_no_page_of_it_can_be_had():
    site = site_of("Fed")
    site.feed = "<rss><channel><item><title>Flood</title><link>https://elsewhere.test/1</link></item>"
    proposal, _visitor = await proposal_of(site)
    assert proposal.definition["kind"] == "rss"
    assert proposal.unknown == ("content: https://elsewhere.test/1: https://elsewhere.test/1 is elsewhere",)


@pytest.mark.parametrize(
    ("name", "search", "further"),
    [
        ("Listed", {"url": "{base}/?page={page}", "paging": {"kind": "page"}}, {"empty_status": [404]}),
        ("Continued", {"url": "{base}/", "paging": {"kind": "link"}}, {"next": "css:a.next"}),
    ],
)
async def test_without_any_search_words_are_looked_for_in_the_titles_of_the_page_that_was_named(name, search, further):
    proposal, _visitor = await proposal_of(site_of(name))
    assert proposal.definition["search"] == search
    links = "css:h3 a"
    assert proposal.definition["results"] == {"rows": "css:li.topic", "links": links, "match": links} | further
    assert proposal.links.urls == tuple(f"{ORIGIN}/a/{one.number}" for one in made_up.ENGLISH[:10])
    assert "no search was found that works" in " ".join(proposal.text.replace("#", "").split())
    assert {fields.title for fields in proposal.fields.values()} < {one.title for one in made_up.ENGLISH}


async def test_a_list_is_left_where_a_search_works():
    _proposal, visitor = await proposal_of(site_of("Blog"))
    assert not [url for url, _why, _body in visitor.asked if url.endswith((".txt", ".xml"))]


async def test_what_is_not_found_is_a_comment():
    proposal, _visitor = await proposal_of(site_of("Anything"))
    assert "  # empty: the site finds something for any word" in proposal.text


async def test_a_round_number_of_results_without_a_second_page_may_be_the_most_that_a_search_shows():
    proposal, _visitor = await proposal_of(site_of("Nested"))
    assert any("it has exactly 30, so the search may show no more" in remark for remark in proposal.unknown)


async def test_without_a_word_one_is_taken_from_the_page():
    proposal, visitor = await proposal_of(site_of("Blog"), word="")
    assert visitor.asked[1][1].startswith("the search for 'theatre', by a form")
    assert len(proposal.links.urls) == 3


async def test_a_page_cannot_write_into_the_file():
    proposal, _visitor = await proposal_of(site_of("Hostile"))
    file = yaml.safe_load(proposal.text)
    assert file["name"] == "site_test"
    assert file["search"]["url"].startswith("{base}/%7Bbase%7D/?s={query}&x%3A%20%5B1=%0A")
    assert file["search"]["url"].endswith("&y=%7Bpage%7D")
    assert not set(proposal.text) & set("\x1b\x07")
    assert proposal.links.urls


async def test_credentials_in_the_address_go_no_further():
    proposal, visitor = await proposal_of(site_of("Linked"), "https://me:secret@site.test/search/flood")
    assert proposal.definition["search"]["url"] == "{base}/search/{query}/{page}"
    assert "secret" not in proposal.text + str(visitor.asked)


async def test_a_page_that_is_no_page_is_an_error():
    with pytest.raises(HeadroomError, match="answered 404"):
        await propose(f"{ORIGIN}/nothing", Visitor(site_of("News")), word="flood")
    with pytest.raises(HeadroomError, match="can't be read: not-html"):
        await propose(f"{ORIGIN}/api", Visitor(site_of("Api")), word="flood")


@pytest.mark.parametrize("url", [f"{ORIGIN}/", "https://www.news.example.org:8443/", "https://münchen.example/"])
def test_a_name_is_one(url):
    from crawler.discovery.site_proposer import _name_of

    assert sites.parse(f"name: '{_name_of(url)}'\ncontent: {{title: css:h1}}", "a file")
