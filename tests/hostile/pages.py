"""Pages that hostile tests crawl, and a host that serves them."""

from __future__ import annotations

import contextlib
from urllib.parse import urlsplit

from hostile.hostile_wire_bodies import answer
from hostile.hostile_wire_server import Host

ARTICLE = "<article><p>" + "Some words of a page that is long enough to be one. " * 20 + "</p></article>"


def page(title="T", extra=""):
    """Returns the answer for a page with a text."""
    return answer(f"<!doctype html><html><head><title>{title}</title></head><body>{extra}{ARTICLE}</body></html>")


@contextlib.contextmanager
def serving(pages):
    """Runs a host, and proxy to itself, of answers by path; other pages aren't there."""

    def script(path):
        return [pages.get(urlsplit(path).path) or answer(b"", status=b"404 Not Found")]

    with contextlib.closing(Host(script, script)) as host:
        yield host
