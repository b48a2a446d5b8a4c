"""Page + site -> links, or an item's fields. Pure: no network, no Redis, no framework.

    results.py    a page of search results becomes links and the request for the next page
    content.py    a content page becomes fields; several pages are joined into one
    document.py   bytes become text, an lxml tree or JSON, whatever they claim to be
    prose.py      markup becomes text
    item.py       the fields
    dates.py      what people write for a date becomes UTC
    parser.py     runs the Python function of a site that YAML can't describe

Whatever a page holds, the outcome is a result or an `ExtractError` with a reason for the ledger: `empty-body`,
`too-large`, `not-html`, `not-json`, `not-results`, `no-content`, `parser-refused`, `parser-error`.
"""

from crawler.extract.content import fields, join
from crawler.extract.item import Fields
from crawler.extract.results import Links, links

__all__ = ["Fields", "Links", "fields", "join", "links"]
