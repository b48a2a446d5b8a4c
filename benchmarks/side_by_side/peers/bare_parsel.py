"""aiohttp and parsel: `bare_parsel.py URLS OUTPUT CONCURRENCY`."""

from __future__ import annotations

from functools import partial
from typing import Any
from urllib.parse import urljoin

import bare
from fields import read
from parsel import Selector


def read_page(body: bytes, encoding: str, url: str) -> dict[str, Any]:
    """Returns a page's item."""
    return read(Selector(body=body, encoding=encoding), url, partial(urljoin, url))


if __name__ == "__main__":
    bare.main(read_page)
