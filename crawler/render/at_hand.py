"""Whether this node can render pages, without a browser being started or Playwright being loaded."""

from __future__ import annotations

from importlib.util import find_spec

from crawler.render import chromium
from crawler.render.errors import BrowserMissingError


def why_no_browser(path: str) -> str:
    """Returns what keeps this node from rendering; empty: nothing that can be seen beforehand.

    Args:
        path: The setting BROWSER_PATH.
    """
    if find_spec("playwright") is None:
        return "no Playwright: install Headroom's extra `browser`"
    try:
        chromium.find(path)
    except BrowserMissingError as error:
        return str(error)
    return ""
