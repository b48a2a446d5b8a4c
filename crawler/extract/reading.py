"""Reads the fields of a content page and the links that its site follows, from one parse."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from crawler.errors import ExtractError
from crawler.extract.content import fields
from crawler.extract.document import Document
from crawler.extract.results import Links, followed

if TYPE_CHECKING:
    from collections.abc import Collection

    from crawler.extract.field_kinds import Fields
    from crawler.models import Fetched
    from crawler.sites import Site


@dataclass(frozen=True, slots=True)
class Reading:
    """What a content page yields. A page without an item may still have links.

    Attributes:
        links: Links to follow.
        found: The fields, or the error if there are none.
    """

    links: Links
    found: Fields | ExtractError

    def fields(self) -> Fields:
        """Returns the fields.

        Raises:
            ExtractError: There are none.
        """
        if isinstance(self.found, ExtractError):
            raise self.found
        return self.found


def read(page: Fetched, site: Site, *, max_links: int, parser_modules: Collection[str] = ()) -> Reading:
    """Reads a content page.

    Args:
        page: As downloaded.
        site: Whose selectors (or parser) say where things are.
        max_links: Most links to return, if the site doesn't want fewer; 0: links aren't looked for.
        parser_modules: The setting PARSER_MODULES.

    Raises:
        ExtractError: Links are wanted, and the page can't be parsed as what the site says (`not-html`, `not-json` ...).
    """
    document = Document(page)
    links = followed(page, site, max_links=max_links, document=document) if max_links else Links()
    try:
        return Reading(links, fields(page, site, parser_modules=parser_modules, document=document))
    except ExtractError as error:
        return Reading(links, error)
