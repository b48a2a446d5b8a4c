"""A site as Redis keeps it, and how it differs from another one of its name. It is checked: Redis isn't trusted."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import orjson
from pydantic import TypeAdapter, ValidationError

from crawler.base.errors import MAX_NAMES, FrontierError, InputError, short
from crawler.sites import Site

if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_KEYS_CHARACTERS = 500  # how much is shown of the keys in an error that says where two sites differ


@dataclass(frozen=True, slots=True)
class StoredSite:
    """A site as Redis keeps it.

    Attributes:
        version: Rises whenever another definition is stored.
        definition: Of JSON's types, as `Site.definition` returned it.
        since_ms: When that was, in ms since the epoch; 0: by a version of Headroom that didn't note it.
    """

    version: int
    definition: Any
    since_ms: int = 0

    @classmethod
    def load(cls, raw: bytes) -> StoredSite:
        """Reads what Redis holds.

        Raises:
            FrontierError: It isn't a site.
        """
        try:
            return _type.validate_json(raw)
        except ValidationError:
            raise FrontierError(f"not a site: {raw[:80]!r}") from None

    @classmethod
    def load_or_none(cls, raw: bytes | None) -> StoredSite:
        """Reads what Redis holds; of nothing, and of a damaged one, which is to be replaced, version 0 of None."""
        with contextlib.suppress(FrontierError):
            if raw is not None:
                return cls.load(raw)
        return cls(0, None)


_type = TypeAdapter(StoredSite)


def compiled(name: str, raw: bytes | None) -> Site:
    """Returns the site of a name, its selectors compiled, by what Redis holds of it.

    Raises:
        FrontierError: That is nothing, or no site.
    """
    if raw is None:
        raise FrontierError(f"Redis has no definition of site {name!r}: submit a plan that uses it")
    try:
        return Site.from_definition(StoredSite.load(raw).definition)
    except (InputError, FrontierError) as error:
        raise FrontierError(f"the definition of site {name!r} in Redis is damaged: {error}") from error


def as_stored(site: Site) -> Any:
    """Returns a site's definition as it comes back from Redis."""
    return orjson.loads(orjson.dumps(site.definition()))


def differences(stored: dict[str, Any], site: Site) -> str:
    """Returns the keys under which a stored definition differs from a site, for people."""
    keys = list(_differences(_in_full(stored), site.model_dump(mode="json")))
    more = f" and {len(keys) - MAX_NAMES} more" if len(keys) > MAX_NAMES else ""
    return short(", ".join(keys[:MAX_NAMES]) + more, MAX_KEYS_CHARACTERS)


def _in_full(stored: dict[str, Any]) -> dict[str, Any]:
    """Returns a stored definition with its defaults; as it is where it isn't a site's."""
    try:
        return Site.from_definition(stored).model_dump(mode="json")
    except InputError:
        return stored


def _differences(old: Any, new: Any, place: str = "") -> Iterator[str]:
    """Yields the dotted keys under which two definitions differ."""
    if isinstance(old, dict) and isinstance(new, dict):
        for key in sorted(old.keys() | new.keys()):
            yield from _differences(old.get(key), new.get(key), f"{place}.{key}" if place else key)
    elif old != new:
        yield place


def origin_of(definition: Any) -> str:
    """Returns the `https://HOST` of a stored definition; empty for one on no host of its own, or damaged."""
    try:
        site = Site.from_definition(definition)
        parts = urlsplit(site.base or site.search.url)
        return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}" if parts.hostname else ""
    except (InputError, ValueError):
        return ""
