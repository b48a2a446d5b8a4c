"""Reads the fields of a content page and the links that its site follows, from one parse."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from crawler.base.errors import ExtractError, LacksError
from crawler.base.text import paragraphs
from crawler.base.urls import canonical
from crawler.extract.content import NoContentError, fields
from crawler.extract.document import Document
from crawler.extract.html_text import HtmlText
from crawler.extract.results import Links, followed
from crawler.extract.robots_meta import is_noindex, refuse_noindex

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from crawler.base.models import Fetched
    from crawler.extract.field_kinds import Fields
    from crawler.extract.results import LinkRule
    from crawler.sites import Site


@dataclass(frozen=True, slots=True)
class Reading:
    """What a content page yields. A page without an item may still have links.

    Attributes:
        links: Links to follow, by the site's `follow`.
        links_by_rule: Those by each rule that was given.
        is_noindex: It asks the robot of these rules not to index it.
        found: The fields, or the error if there are none; None for a page that by its site only leads on.
        words: All that stands on a page without content, if that was asked for.
    """

    links: Links
    found: Fields | ExtractError | None
    links_by_rule: tuple[Links, ...] = ()
    is_noindex: bool = False
    words: str = ""

    @property
    def known(self) -> Fields | None:
        """The fields that the page has, be they enough for an item or not; None: it wasn't read for any."""
        if isinstance(self.found, NoContentError):
            return self.found.fields
        return None if isinstance(self.found, ExtractError) else self.found

    def fields(self) -> Fields | None:
        """Returns the fields; None for a page that by its site only leads on.

        Raises:
            ExtractError: There are none.
        """
        if isinstance(self.found, ExtractError):
            raise self.found
        return self.found


def read(
    page: Fetched,
    site: Site,
    *,
    max_links: int,
    by_site: bool = True,
    rules: Sequence[LinkRule] = (),
    parser_modules: Collection[str] = (),
    markdown: bool = False,
    robot: str = "",
    with_context: bool = False,
    rules_robot: str = "",
    with_words: bool = False,
) -> Reading:
    """Reads a content page.

    Args:
        page: As downloaded.
        site: Whose selectors (or parser) say where things are.
        max_links: Most links to return, if who follows them doesn't want fewer; 0: links aren't looked for.
        by_site: Whether they are looked for as the site's `follow` says.
        rules: As who else follows links says.
        parser_modules: The setting PARSER_MODULES.
        markdown: The setting ITEM_MARKDOWN.
        robot: Whose name pages may say `noindex` and `nofollow` to; empty: that isn't heeded.
        with_context: Whether what stands on the links by `rules` and beside them is wanted, too.
        rules_robot: Likewise, for those of `rules`; a page that says `noindex` to it is read all the same.
        with_words: Whether all words of a page without content are wanted.

    Raises:
        ExtractError: Links are wanted, and the page can't be parsed as what the site says (`not-html`, `not-json` ...);
            or it is read on trial, and has no item.
        LacksError: It is read on trial, and lacks fields.
    """
    document = Document(page)
    links = (
        followed(page, site, max_links=max_links, document=document, robot=robot) if max_links and by_site else Links()
    )
    by_rule = tuple(
        followed(
            page,
            site,
            rule=rule,
            max_links=max_links,
            document=document,
            robot=rules_robot,
            with_context=with_context,
        )
        for rule in rules
    )
    asks_not = bool(rules_robot) and is_noindex(document, rules_robot)
    if site.follow and not site.follow.makes_item(canonical(page.url, routes=True)):
        return Reading(links, None, by_rule, asks_not)
    try:
        if robot:
            refuse_noindex(document, robot)
        found = fields(page, site, parser_modules=parser_modules, document=document, markdown=markdown)
        if page.is_trial and found.missing:
            raise LacksError(found.missing)
    except ExtractError as error:
        if page.is_trial:
            raise
        reading = Reading(links, error, by_rule, asks_not)
    else:
        reading = Reading(links, found, by_rule, asks_not)
    known = reading.known
    if with_words and known and not known.content:
        return replace(reading, words=_words_of(document))
    return reading


def _words_of(document: Document) -> str:
    """Returns all that stands on a page; empty for one that isn't HTML."""
    try:
        return paragraphs(HtmlText().of(document.html.tree))
    except ExtractError:
        return ""
