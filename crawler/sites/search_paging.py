"""How the pages of a search are asked for: one class for each kind of paging.

A new kind is a subclass of `Paging`, named in `AnyPaging`. The class says what stands in a site file, how that is
checked, which pages are known from the start, and how the next page is asked for where only the page before names it.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal, Protocol, get_args
from urllib.parse import quote

import orjson
from pydantic import Field, JsonValue

from crawler.base.yamlfile import Part

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping


class PagedSearch(Protocol):
    """What of a site's `search` a paging has to know."""

    @property
    def url(self) -> str: ...

    @property
    def body(self) -> Mapping[str, JsonValue]: ...

    @property
    def body_type(self) -> Literal["json", "form"]: ...

    @property
    def encoding(self) -> str: ...

    @property
    def placeholders(self) -> Collection[str]: ...


class Paging(Part):
    """A kind of paging. In a site file, `kind` chooses the subclass."""

    kind: str
    has_placeholder: ClassVar[bool] = True  # whether `url` or `body` holds `{kind}`
    names_next: ClassVar[bool] = False  # whether pages of results name the next one, where `results.next` says
    names_all: ClassVar[bool] = False  # whether the first page names all others at once, likewise

    def check(self, search: PagedSearch) -> None:
        """Looks whether the rest of a site's `search` goes with this paging.

        Raises:
            ValueError: It doesn't; the message says what was expected.
        """
        if self.kind not in search.placeholders:
            raise ValueError(f"{{{self.kind}}} in url or body, for its paging")

    @abstractmethod
    def position(self, page: int, per_page: int) -> int | str:
        """Returns the value of the placeholder for a page that is known from the start, by its number from 1."""

    def next_request(self, search: PagedSearch, url: str, body: str, found: str) -> tuple[str, str] | None:
        """Returns the URL and the body that ask for the next page, where `names_next`.

        Args:
            search: Of the site.
            url: Of the page before.
            body: Of the request for the page before; empty where nobody knows it.
            found: What that page has as `results.next`.

        Returns:
            None where the body for the next page can't be made of this one.
        """
        raise TypeError(f"pages by {self.kind} are known from the start: none names the next")


class PageNumbers(Paging):
    """{page} counts pages."""

    kind: Literal["page"] = Field(
        description="{page} counts pages: 1, 2, 3 with the default `first` and `step`.", examples=["page"]
    )
    first: int = Field(1, ge=0, le=1_000, description="Number of the first page.", examples=[0])
    step: int = Field(1, ge=1, le=1_000, description="What each page adds to the number.", examples=[2])

    def position(self, page: int, per_page: int) -> int | str:
        return self.first + (page - 1) * self.step


class Offsets(Paging):
    """{offset} counts the results before the page."""

    kind: Literal["offset"] = Field(
        description="{offset} counts the results before the page: 0, 20, 40 for 20 results on a page.",
        examples=["offset"],
    )
    first: int = Field(0, ge=0, le=1_000, description="Offset of the first page.", examples=[1])
    step: int | None = Field(
        None,
        ge=1,
        le=1_000,
        description="What each page adds to the offset; when not given, the number of results that a page was asked "
        "for.",
        examples=[10],
    )

    def position(self, page: int, per_page: int) -> int | str:
        return self.first + (page - 1) * (self.step or per_page)


class Cursors(Paging):
    """{cursor} is a value that stands on the page before; the first page is asked for without one.

    It is all of a parameter, so that it can be replaced in the request of the page before.
    """

    kind: Literal["cursor"] = Field(
        description="{cursor} is a value that the page before names (`results.next`), and all of a parameter. The "
        "first page is asked for without one.",
        examples=["cursor"],
    )
    names_next = True

    def check(self, search: PagedSearch) -> None:
        super().check(search)
        if not _parameter(search):
            raise ValueError("{cursor} to be all of one parameter: name={cursor}")

    def position(self, page: int, per_page: int) -> int | str:
        return ""

    def next_request(self, search: PagedSearch, url: str, body: str, found: str) -> tuple[str, str] | None:
        name = _parameter(search)
        if search.body and not body:
            return None
        if search.body and search.body_type == "json":
            try:
                fields = orjson.loads(body)
            except orjson.JSONDecodeError:  # that of a form: the site was defined anew since
                return None
            return (url, orjson.dumps({**fields, name: found}).decode()) if isinstance(fields, dict) else None
        pair = f"{quote(name, safe='')}={quote(found, safe='', encoding=search.encoding)}"
        if search.body:
            return url, _replace_pair(body, pair)
        head, mark, query = url.partition("?")
        return f"{head}?{_replace_pair(query, pair)}" if mark else f"{head}?{pair}", body


class _Links(Paging):
    """Pages of results have links to others."""

    has_placeholder = False
    names_next = True

    def check(self, search: PagedSearch) -> None:
        """Nothing: any search may have links."""

    def position(self, page: int, per_page: int) -> int | str:
        return ""

    def next_request(self, search: PagedSearch, url: str, body: str, found: str) -> tuple[str, str] | None:
        return found, ""  # GET, as browsers do, also where the search was a POST


class NextLinks(_Links):
    """Each page has a link to the next one."""

    kind: Literal["link"] = Field(
        description="`results.next` selects the link to the next page, which must be on the same host; no placeholder "
        "is needed. A search ends where there is none, where it leads back to a page that was read, and after as many "
        "pages as the plan wants.",
        examples=["link"],
    )


class Indexes(_Links):
    """The first page has links to all others, as a sitemap's index and an archive's list of months have."""

    kind: Literal["index"] = Field(
        description="The first page names all others at once: `results.next` selects the links to them, which must be "
        "on the same host. As many of them are read as the plan wants pages; each may name further ones, within the "
        "same number. No placeholder is needed.",
        examples=["index"],
    )
    names_all = True


AnyPaging = Annotated[PageNumbers | Offsets | Cursors | NextLinks | Indexes, Field(discriminator="kind")]
# The names of the placeholders, which are also those of the kinds of paging that have one.
PLACEHOLDERS = frozenset(
    get_args(kind.model_fields["kind"].annotation)[0]
    for kind in get_args(get_args(AnyPaging)[0])
    if kind.has_placeholder
)


def _parameter(search: PagedSearch) -> str:
    """Returns the parameter, or key of the body, that takes the cursor; empty when there is none."""
    query = (pair.partition("=") for pair in search.url.partition("?")[2].split("&"))
    pairs = list(search.body.items()) if search.body else [(name, value) for name, _, value in query]
    return next((name for name, value in pairs if value == "{cursor}"), "")


def _replace_pair(query: str, pair: str) -> str:
    """Returns a query with a parameter replaced by another one of its name, or added."""
    name = pair.partition("=")[0]
    return "&".join([*(old for old in query.split("&") if old and old.partition("=")[0] != name), pair])
