"""Extraction: what a page yields. It knows no network, no Redis and no framework.

In: a downloaded page (`Fetched`) and its `Site`.
Out: links, an item's fields, or an `ExtractError` with one of the reasons in `crawler/base/reasons.py`, for the ledger.
Any page takes bounded time and memory, and yields the same each time, but for dates, which are read by the clock:
"3 hours ago" and a day without a year count from now, and what lies ahead is no date of publication.
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
