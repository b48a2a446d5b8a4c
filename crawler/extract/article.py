"""Content pages of sites without selectors: trafilatura finds the article.

trafilatura takes some 50 us an element, and ten times as much on a page of small nested blocks if it also asks jusText
and readability. So it asks them only for pages of an article's size, and huge pages are refused.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lxml import etree

from crawler.errors import ExtractError
from crawler.extract.document import absolute, base_url, html_of
from crawler.extract.field_kinds import Fields
from crawler.extract.lxml_tree import parse_by_lxml

if TYPE_CHECKING:
    from crawler.models import Fetched

MAX_ARTICLE_BYTES = 3_000_000  # 0.4 s a MB, whatever is in it
MAX_ELEMENTS = 50_000  # 5 s at worst, in a thread (offload.py); the longest articles of Wikipedia have fewer
MAX_ELEMENTS_COMPARED = 5_000  # up to here the others are asked, 3 s at worst; a page of news has 500 to 3,000

# Dates that a page states, in metadata or in a place for dates. Where all of the text is searched for one, it is that
# of another article or of a copyright notice: on saved pages of news, four of four were wrong. The search also compiles
# dateparser's patterns of 205 languages, for 2.5 s and 40 MiB.
_DATES = {"original_date": True, "extensive_search": False}


def read_article(page: Fetched) -> Fields:
    """Returns what trafilatura finds on a page, not yet clean; dates have no time of day.

    Raises:
        ExtractError: Those of `html_of` and `parse_by_lxml`; `too-large` or `too-many-tags` beyond an article's size;
            `no-content` if trafilatura finds no article or fails.
    """
    from trafilatura import bare_extraction  # takes half a second to import, and most workers never need it

    if len(page.body) > MAX_ARTICLE_BYTES:
        raise ExtractError("too-large", f"{len(page.body)} bytes, an article has at most {MAX_ARTICLE_BYTES}")
    root = parse_by_lxml(html_of(page)[0])
    base = base_url(str(_base(root)), page.url)
    elements = int(_count(root))
    if elements > MAX_ELEMENTS:
        raise ExtractError("too-many-tags", f"{elements} elements, an article has at most {MAX_ELEMENTS}")
    fast = elements > MAX_ELEMENTS_COMPARED
    try:
        found = bare_extraction(
            root,
            url=page.url,
            fast=fast,
            with_metadata=True,
            include_comments=False,
            date_extraction_params=_DATES,
        )
    except MemoryError:  # the node's fault, not the page's
        raise
    except Exception as error:  # of heuristics on a hostile page: whatever it is, there is no article
        raise ExtractError("no-content", f"trafilatura: {type(error).__name__}: {error}") from error
    if found is None or isinstance(found, dict):  # a dict is returned only for an option that isn't set
        raise ExtractError("no-content", "trafilatura found no article")
    return Fields(
        title=found.title or "",
        author=found.author or None,
        published=found.date or None,
        content=found.text or "",
        images=absolute([found.image], base) if found.image else (),
    )


_count = etree.XPath("count(//*)")
_base = etree.XPath("string((head/base/@href)[1])", smart_strings=False)
