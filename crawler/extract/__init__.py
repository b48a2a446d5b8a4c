"""Extraction: what a page yields. It is pure: no network, no Redis, no framework.

In: a downloaded page (`Fetched`) and its `Site`.
Out: links, an item's fields, or an `ExtractError` with a reason for the ledger: `empty-body`, `too-large`,
`too-many-tags`, `too-many-attributes`, `too-deep`, `not-html`, `not-json`, `not-feed`, `not-sitemap`, `not-text`,
`not-results`, `no-content`, `no-xhr`, `login`, `parser-refused`, `parser-error`. Any page takes bounded time and
memory, and yields the same each time.
Read first: `reading.py` for content pages, `results.py` for pages of search results; both begin at `document.py`.
"""

from crawler.extract.content import fields, join, joined_fields
from crawler.extract.field_kinds import Fields
from crawler.extract.offload import offload
from crawler.extract.reading import Reading, read
from crawler.extract.results import Links, followed, links
from crawler.extract.rows import with_row

__all__ = [
    "Fields",
    "Links",
    "Reading",
    "fields",
    "followed",
    "join",
    "joined_fields",
    "links",
    "offload",
    "read",
    "with_row",
]
