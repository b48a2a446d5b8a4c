"""Filters of answers: of their size and media type, known from their heads, and of the language of their pages."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawler.scope.entries import Entries
from crawler.scope.url_filter import UrlFilter

if TYPE_CHECKING:
    from collections.abc import Sequence

    from crawler.scope.candidate import Candidate


class SizeFilter(UrlFilter):
    """Refuses large answers."""

    name = "max-bytes"
    step = "head"

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes

    def refuses(self, candidate: Candidate) -> bool:
        """Returns whether it is too large."""
        return candidate.size_bytes > self._max_bytes


class ContentTypeFilter(UrlFilter):
    """Refuses answers by the media types that they name."""

    name = "content-types"
    step = "head"

    def __init__(self, types: Sequence[str]) -> None:
        self._types = Entries(types)

    def refuses(self, candidate: Candidate) -> bool:
        """Returns whether the type is out of scope; one that isn't known is in it."""
        if not candidate.content_type:
            return False
        names = {candidate.content_type, f"{candidate.content_type.partition('/')[0]}/*"}
        return self._types.refuse(lambda entries: not names.isdisjoint(entries))


class LanguageFilter(UrlFilter):
    """Refuses pages by their languages."""

    name = "languages"
    step = "page"

    def __init__(self, languages: Sequence[str]) -> None:
        self._languages = Entries(languages)

    def refuses(self, candidate: Candidate) -> bool:
        """Returns whether the language is out of scope; one that isn't known is in it."""
        language = candidate.language.partition("-")[0].lower()
        return bool(language) and self._languages.refuse(lambda entries: language in entries)
