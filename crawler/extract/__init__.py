"""Page + site -> links, or an item's fields. Pure: no network, no Redis, no framework.

    reading.py    a content page's links and fields, from one parse
    results.py    a page of search results becomes links and the request for the next page; links that are followed
    content.py    a content page becomes fields; several pages are joined into one
    document.py   a body becomes an lxml tree or JSON, whatever it claims to be
    encoding.py   bytes become text
    limits.py     what of a page may go into lxml
    apart.py      pages that take long are read in a thread
    prose.py      markup becomes text
    field_kinds.py  the fields, and how each kind is read, cleaned and joined
    dates.py      what people write for a date becomes UTC
    parser.py     runs the Python function of a site that YAML can't describe

Whatever a page holds, the outcome is a result or an `ExtractError` with a reason for the ledger: `empty-body`,
`too-large`, `too-many-tags`, `too-many-attributes`, `too-deep`, `not-html`, `not-json`, `not-results`, `no-content`,
`parser-refused`, `parser-error`. It takes bounded time and memory, and is the same each time.
"""

from crawler.extract.content import fields, join
from crawler.extract.field_kinds import Fields
from crawler.extract.offload import offload
from crawler.extract.reading import Reading, read
from crawler.extract.results import Links, followed, links

__all__ = ["Fields", "Links", "Reading", "fields", "followed", "join", "links", "offload", "read"]
