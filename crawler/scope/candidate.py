"""An address that may be asked for, with all that is known of it by then."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, Self

from crawler.base.urls import hostname, without_host_dot

Kind = Literal["page", "media", "redirect"]


@dataclass(slots=True)
class Candidate:
    """What filters judge. More is known of it at each step: at the offer its address, at last its page.

    Attributes:
        url: Canonical.
        host: Its name without a port; an IPv6 address in brackets.
        depth: Links followed from a page that the plan named, or that a search led to.
        page_url: The page that has the link, or that redirects; empty: none does.
        kind: What it is asked for.
        addresses: The IP addresses of its host; empty: they aren't known yet.
        content_type: The media type that its answer names, in lower case and without parameters; empty: not known yet,
            or none.
        size_bytes: How large the answer says it is, or is; 0: not known yet.
        language: BCP 47 tag of its text; empty: not known yet, or too short to tell.
    """

    url: str
    host: str
    depth: int = 0
    page_url: str = ""
    kind: Kind = "page"
    addresses: tuple[str, ...] = ()
    content_type: str = ""
    size_bytes: int = 0
    language: str = ""
    _text: bytes = field(default=b"", init=False, repr=False, compare=False)

    @property
    def text(self) -> bytes:
        """What patterns look through: the address without a dot at its host's end, which they are written without."""
        if not self._text:
            self._text = without_host_dot(self.url).encode("utf-8", "replace")
        return self._text

    @classmethod
    def of(cls, url: str, *, depth: int = 0, page_url: str = "", kind: Kind = "page") -> Self:
        """Returns the candidate of a canonical URL."""
        return cls(url, hostname(url), depth, page_url, kind)
