"""Makes the further requests of an item, `content.joined`, for a person at a terminal."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from crawler import extract
from crawler.base.errors import HeadroomError

if TYPE_CHECKING:
    from crawler.base.models import Fetched
    from crawler.cli.page_fetcher import PageFetcher
    from crawler.extract import Fields
    from crawler.sites import Site


async def with_joined(
    fields: Fields, site: Site, fetcher: PageFetcher, page: Fetched
) -> tuple[Fields, list[dict[str, Any]]]:
    """Returns a page's fields with those of its site's `content.joined`, and what each of these requests brought.

    Args:
        fields: As the page has them.
        page: As it came.

    Returns:
        The fields as an item has them; and for each request its `url`, `fails` (why it brings nothing, or empty) and
        `fields`, those that it has. A `url` is empty where the page lacks what the address is made of.
    """
    requests: list[dict[str, Any]] = []
    entries = site.content.joined if site.content else ()
    for url, entry in zip(fields.joined, entries, strict=True):
        request: dict[str, Any] = {"url": url, "fails": "", "fields": {}}
        requests.append(request)
        if not url:
            request["fails"] = "not asked for: the page lacks a value of its address"
            continue
        try:
            further = extract.joined_fields(await fetcher.joined_page(url, page), site, joined=entry)
        except HeadroomError as error:
            request["fails"] = str(error)
            continue
        request["fields"] = {name: value for name, value in asdict(further).items() if value}
        fields = fields.filled(further)
    return fields, requests
