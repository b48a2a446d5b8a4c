"""Runs a site's `parser`: a Python function for pages that YAML can't describe.

Definitions come from Redis, so a module is imported only if the operator has listed it in the setting PARSER_MODULES.
The function gets the page and the site, and returns `Fields`:

    def read(page: Page, site: Site) -> Fields:
        heading = page.tree.select_one("h1")
        return Fields(title=heading.text if heading else "", content=page.selector.css("article::text").get() or "")
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from functools import cache, cached_property
from importlib import import_module
from typing import TYPE_CHECKING, Any

import orjson
from pydantic import TypeAdapter, ValidationError

from crawler.base import reasons
from crawler.base.errors import ExtractError
from crawler.base.models import Fetched
from crawler.extract.document import Document, html_of
from crawler.extract.field_kinds import Fields
from crawler.extract.lxml_tree import parse_by_lxml

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    import turbohtml
    from parsel import Selector

    from crawler.sites import Site


@dataclass(frozen=True)
class Page(Fetched):
    """A page for a parser: as downloaded, and parsed when it is first asked for.

    Each of its properties raises an `ExtractError` that names why the page can't be parsed so.
    """

    document: Document = field(repr=False, compare=False)

    @property
    def tree(self) -> turbohtml.Document:
        """The page as browsers see it, with `select(css)`, `select_one(css).text`, `xpath(path)`."""
        return self.document.html.tree

    @property
    def base(self) -> str:
        """The URL to which its links are relative."""
        return self.document.html.base

    @property
    def json(self) -> Any:
        """The JSON value of the page."""
        return self.document.json

    @cached_property
    def selector(self) -> Selector:
        """The page for parsel, by libxml2: slower, with the trees and the XPath that Scrapy's users know."""
        from parsel import Selector  # late, since few parsers ask for it

        return Selector(root=parse_by_lxml(html_of(self)[0]), type="html", base_url=self.base)


def run_parser(document: Document, site: Site, modules: Collection[str]) -> Fields:
    """Returns what the site's parser makes of a page.

    Args:
        document: The page.
        site: A site with a `parser`.
        modules: Names of the modules that may be imported.

    Raises:
        ExtractError: `parser-refused`, if the parser's module isn't listed; `parser-error`, if the parser can't be
            imported, raises, or returns anything but `Fields` with values of their types; or the parser's own.
    """
    module, _, name = site.parser.partition(":")
    if module not in modules:
        raise ExtractError(reasons.PARSER_REFUSED, f"module {module} isn't in the setting PARSER_MODULES")
    page = document.page
    given = Page(page.url, page.status, page.content_type, page.body, document, rendered=page.rendered, gaps=page.gaps)
    try:
        return _checked(_function(module, name)(given, site))
    except (ExtractError, MemoryError):  # the latter is the node's fault
        raise
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(map(str, first["loc"]))
        raise ExtractError(reasons.PARSER_ERROR, f"{site.parser}: {where}: {first['msg']}") from None
    except Exception as error:  # of code that isn't ours on a hostile page: the page fails, whatever it is
        raise ExtractError(reasons.PARSER_ERROR, f"{site.parser}: {type(error).__name__}: {error}") from error


def _checked(result: Any) -> Fields:
    """Returns the fields as they come out of JSON, so that their values have its types only."""
    if not isinstance(result, Fields):
        raise TypeError(f"returned {type(result).__name__}, expected Fields")
    return _fields_type.validate_json(orjson.dumps(asdict(result)), strict=True)


@cache
def _function(module: str, name: str) -> Callable[[Page, Site], Any]:
    function: Callable[[Page, Site], Any] = getattr(import_module(module), name)
    return function


_fields_type = TypeAdapter(Fields)
