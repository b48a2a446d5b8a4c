"""Runs a site's `parser`: a Python function for pages that YAML can't describe.

Definitions come from Redis, so a module is imported only if the operator has listed it in the setting PARSER_MODULES.
The function gets the page and the site, and returns `Fields`:

    def read(page: Fetched, site: Site) -> Fields: ...
"""

from __future__ import annotations

from dataclasses import asdict
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

import orjson
from pydantic import TypeAdapter, ValidationError

from crawler.errors import ExtractError
from crawler.extract.field_kinds import Fields

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from crawler.models import Fetched
    from crawler.sites import Site


def run_parser(page: Fetched, site: Site, modules: Collection[str]) -> Fields:
    """Returns what the site's parser makes of a page.

    Args:
        page: As downloaded.
        site: A site with a `parser`.
        modules: Names of the modules that may be imported.

    Raises:
        ExtractError: `parser-refused`, if the parser's module isn't listed; `parser-error`, if the parser can't be
            imported, raises, or returns anything but `Fields` with values of their types; or the parser's own.
    """
    module, _, name = site.parser.partition(":")
    if module not in modules:
        raise ExtractError("parser-refused", f"module {module} isn't in the setting PARSER_MODULES")
    try:
        return _checked(_function(module, name)(page, site))
    except ExtractError:
        raise
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(map(str, first["loc"]))
        raise ExtractError("parser-error", f"{site.parser}: {where}: {first['msg']}") from None
    except Exception as error:  # of code that isn't ours on a hostile page: the page fails, whatever it is
        raise ExtractError("parser-error", f"{site.parser}: {type(error).__name__}: {error}") from error


def _checked(result: Any) -> Fields:
    """Returns the fields as they come out of JSON, so that their values have its types only."""
    if not isinstance(result, Fields):
        raise TypeError(f"returned {type(result).__name__}, expected Fields")
    return _fields_type.validate_json(orjson.dumps(asdict(result)), strict=True)


@cache
def _function(module: str, name: str) -> Callable[[Fetched, Site], Any]:
    function: Callable[[Fetched, Site], Any] = getattr(import_module(module), name)
    return function


_fields_type = TypeAdapter(Fields)
