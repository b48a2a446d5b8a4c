"""Which results are looked at: the first and the last one, and one that has comments where the list says so."""

from __future__ import annotations

import pytest
from discovery import made_up
from discovery.made_up import ORIGIN, Visitor

from crawler.base.models import Fetched
from crawler.discovery import blocks, listing, propose
from crawler.discovery.page import ParsedPage

COMMENTED = 5  # the place of the one result that has comments


class Quiet(made_up.Blog):
    """A blog of which one article alone has comments, as its list says."""

    said = "({} comments)"

    def listing(self, shown):
        return "".join(
            f'<div class="hit"><h2><a href="/2026/{one.number}">{one.title}</a></h2><p>{one.paragraphs[0]}</p>'
            f"<small>{self.said.format(3 if at == COMMENTED else 0)}</small></div>"
            for at, one in enumerate(shown)
        )

    def post(self, one):
        found = super().post(one)
        return found if one == self.articles[COMMENTED] else found.partition('<ol class="comments">')[0]


@pytest.mark.parametrize("said", ["({} comments)", "{} replies", "{} Kommentare", "Antworten: {}", "{} 条评论"])
async def test_a_page_that_has_comments_by_its_row_is_looked_at(said):
    site = Quiet()
    site.said = said
    visitor = Visitor(site)
    proposal = await propose(f"{ORIGIN}/", visitor, word="flood")
    commented = f"{ORIGIN}/2026/{site.articles[COMMENTED].number}"
    assert commented in [url for url, _why, _body in visitor.asked]
    assert proposal.definition["content"]["comments"]["each"]


async def test_the_page_with_the_most_comments_is_looked_at_though_others_have_some():
    class Busy(Quiet):
        def listing(self, shown):
            rows = super().listing(shown).replace("(0 comments)", "(2 comments)")
            return rows.replace("(3 comments)", "(21 comments)")

    visitor = Visitor(Busy())
    await propose(f"{ORIGIN}/", visitor, word="flood")
    assert f"{ORIGIN}/2026/{Busy.articles[COMMENTED].number}" in [url for url, _why, _body in visitor.asked]


async def test_what_only_counts_something_else_changes_nothing():
    silent, counting = Quiet(), Quiet()
    silent.said, counting.said = "", "{} people like this"
    asked = []
    for site in (silent, counting):
        visitor = Visitor(site)
        proposal = await propose(f"{ORIGIN}/", visitor, word="flood")
        assert "comments" not in proposal.definition["content"]
        asked.append([url for url, _why, _body in visitor.asked])
    assert asked[0] == asked[1]


@pytest.mark.parametrize(
    ("beside", "number"),
    [
        ("<span>(5 comments)</span>", 5),
        ("(5 comments)", 5),
        ("<span><b>12</b> replies</span>", 12),
        ("<span>Comments: <b>1,234</b></span>", 1_234),
        ("<td class=reply-count>4</td>", 4),
        ("<a href=/1#comments>7 huomautusta</a>", 0),
        ("<a href=/1#comments>[7]</a>", 7),
        ("<span>回复(8)</span>", 8),
        ("<span>Views: 912</span>", 0),
        ("<span>912</span>", 0),
        ("<span>5 commentators of the flood, and 4 others, say that it is no good at all</span>", 0),
        ("<span>no comments</span>", 0),
        ("<i>x</i>" * 400 + "<span>(5 comments)</span>", 0),
    ],
)
def test_a_row_says_how_many_comments_there_are(beside, number):
    row = "<{tag}><{tag}><a href=/{at}>The flood closes bridge number {at}</a></{tag}>{beside}</{tag}>"
    tag = "tr" if beside.startswith("<td") else "div"
    rows = "".join(row.format(tag=tag, at=at, beside=beside if at == 1 else "") for at in range(1, 9))
    rows = rows if tag == "div" else rows.replace("<tr><tr>", "<tr><td>").replace("</a></tr>", "</a></td>")
    body = made_up.page("Search", f"<table>{rows}</table>" if tag == "tr" else f"<main>{rows}</main>")
    page = ParsedPage(Fetched(f"{ORIGIN}/s", 200, "text/html", body.encode()))
    found = listing.results_of(blocks.results(page, ()), page)
    assert [one.comments() for one in found] == [number] + [0] * 7
