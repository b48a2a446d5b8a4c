"""What the entries of a start list ask for: URLs, plain or in JSON, as scrapy-redis's spiders take them.

An entry becomes the seed for which scrapy-redis would send the same request, or it is refused with the reason. A seed
is a page that anybody can ask for by its URL alone. So of JSON count:

- `url`, which must be there;
- `method`, if it is GET;
- `meta`, if it is empty: no callback would read it;
- any other name with a text or a list of texts: a field of a form, which makes the URL's query, as in scrapy-redis.

What an entry may have beyond that, its list's `ignore` can say.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

import orjson

from crawler import config
from crawler.base import urls
from crawler.base.errors import ConfigError, HeadroomError, shown
from crawler.base.item import is_site_name
from crawler.base.models import Seed, is_plan_name

if TYPE_CHECKING:
    from collections.abc import Mapping

    from crawler.sites import Site

# The longest entry that is read: eight times the longest URL, so there is room for each character as a JSON escape of
# six, and for what `ignore` drops.
MAX_ENTRY_BYTES = 1 << 16
REFUSED = ":refused"  # the end of the key under which a hash keeps a list's refused entries
DEFAULT_SITE = "web"


class StartEntryError(HeadroomError):
    """An entry of a start list asks for something that a seed can't."""


@dataclass(frozen=True, slots=True)
class StartList:
    """A list of start URLs in Redis, and what its entries are for.

    Attributes:
        key: Its key in Redis: a list, a set or a sorted set.
        plan: The plan that asks for the pages, submitted or not.
        site: The site that reads them.
        ignore: Names in JSON entries that are dropped, with their values.
    """

    key: str
    plan: str
    site: str = DEFAULT_SITE
    ignore: frozenset[str] = frozenset()

    @property
    def refused_key(self) -> str:
        """The key of the hash of its refused entries, each with the reason."""
        return self.key + REFUSED

    def seed(self, entry: bytes, site: Site) -> Seed:
        """Returns the seed that an entry asks for.

        Raises:
            StartEntryError: It asks for something that a seed can't.
            UrlError: Its URL is none.
        """
        url = self._url(entry)
        url = urls.canonical(url, drop=site.drop, routes=site.has_routes("content"))
        return Seed(url, self.plan, site.name, exact=site.exact)

    def _url(self, entry: bytes) -> str:
        if len(entry) > MAX_ENTRY_BYTES:
            raise StartEntryError(f"longer than {MAX_ENTRY_BYTES:,} bytes")
        try:
            text = entry.decode()
        except UnicodeDecodeError:
            raise StartEntryError("not UTF-8") from None
        if not text.lstrip().startswith("{"):
            return text
        try:
            fields: dict[str, Any] = orjson.loads(entry)
        except ValueError:
            raise StartEntryError("it begins as JSON, but is none") from None
        form = {name: value for name, value in fields.items() if name not in self.ignore}
        url, method, meta = form.pop("url", None), form.pop("method", "GET"), form.pop("meta", None)
        if not isinstance(url, str):
            raise StartEntryError("url: expected a text")
        if not isinstance(method, str) or method.upper() != "GET":
            raise StartEntryError(f"method: got {shown(method)}, expected GET")
        if meta:
            raise StartEntryError("meta: a seed has none; `ignore` in START_LISTS drops it")
        return _with_query(url, form) if form else url


def _with_query(url: str, form: dict[str, Any]) -> str:
    """Returns a URL whose query is a form's fields; refuses what is no text or list of texts, such as cookies."""
    for name, value in form.items():
        if not all(isinstance(text, str) for text in (value if isinstance(value, list) else [value])):
            raise StartEntryError(
                f"{shown(name)}: expected a text or a list of texts; `ignore` in START_LISTS drops it"
            )
    address = url.partition("#")[0].partition("?")[0]
    return f"{address}?{urlencode(form, doseq=True)}"


def start_lists(settings: Mapping[str, Any], key_prefix: str) -> tuple[StartList, ...]:
    """Reads START_LISTS.

    Args:
        key_prefix: Of the frontier's keys, of which none can be a start list.

    Raises:
        ConfigError: It has a value that the table of settings (`crawler/config/__init__.py`) doesn't allow.
    """
    chosen = config.START_LISTS.of(settings)
    try:
        return tuple(_start_list(key, target, key_prefix) for key, target in chosen.items())
    except (TypeError, ValueError, AttributeError):
        raise ConfigError(config.START_LISTS.name, chosen, config.START_LISTS.expected) from None


def _start_list(key: str, target: dict[str, Any], key_prefix: str) -> StartList:
    """Returns one list of the setting."""
    if not isinstance(key, str) or not key or key.endswith(REFUSED) or key.startswith(f"{key_prefix}:"):
        raise ConfigError(
            config.START_LISTS.name, key, f"a key of Redis that neither ends in {REFUSED} nor begins with {key_prefix}:"
        )
    start_list = StartList(key, **{**target, "ignore": frozenset(target.get("ignore", ()))})
    if not is_plan_name(start_list.plan) or not is_site_name(start_list.site) or isinstance(target.get("ignore"), str):
        raise ValueError(target)
    return start_list
