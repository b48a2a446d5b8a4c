"""Extraction: what a page yields. It is pure: no network, no Redis, no framework.

In: a downloaded page (`Fetched`) and its `Site`.
Out: links, an item's fields, or an `ExtractError` with a reason for the ledger: `empty-body`, `too-large`,
`too-many-tags`, `too-many-attributes`, `too-deep`, `not-html`, `not-json`, `not-results`, `no-content`,
`parser-refused`, `parser-error`. Any page takes bounded time and memory, and yields the same each time.
Read first: `reading.py` for content pages, `results.py` for pages of search results; both begin at `document.py`.
"""

from crawler.extract.content import fields, join
from crawler.extract.field_kinds import Fields
from crawler.extract.offload import offload
from crawler.extract.reading import Reading, read
from crawler.extract.results import Links, followed, links

__all__ = ["Fields", "Links", "Reading", "fields", "followed", "join", "links", "offload", "read"]
