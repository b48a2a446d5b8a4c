"""Pages of sites without selectors: trafilatura finds the article."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawler.errors import ExtractError
from crawler.extract.document import HtmlDocument, absolute
from crawler.extract.item import Fields

if TYPE_CHECKING:
    from crawler.models import Fetched


def read_article(page: Fetched) -> Fields:
    """Returns what trafilatura finds on a page, not yet clean. Dates have no time of day.

    Raises:
        ExtractError: `not-html` and the like; `no-content` when it finds no article or gives up.
    """
    from trafilatura import bare_extraction  # half a second of imports that most workers never need

    document = HtmlDocument(page)
    try:
        found = bare_extraction(document.root, url=page.url, with_metadata=True, include_comments=False)
    except Exception as error:  # heuristics on hostile pages: any failure means that there is no article
        raise ExtractError("no-content", f"trafilatura: {type(error).__name__}: {error}") from error
    if found is None or isinstance(found, dict):  # a dict only by an option that isn't set
        raise ExtractError("no-content", "trafilatura found no article")
    return Fields(
        title=found.title or "",
        author=found.author or None,
        published=found.date or None,
        content=found.text or "",
        images=absolute([found.image], document.base) if found.image else (),
    )
