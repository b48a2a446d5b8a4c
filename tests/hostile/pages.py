"""Pages that hostile tests crawl, and a host that serves them."""

from __future__ import annotations

import contextlib
from urllib.parse import urlsplit

from hostile.hostile_wire_server import Host

ARTICLE = "<article><p>" + "Some words of a page that is long enough to be one. " * 20 + "</p></article>"


def page(title="T", extra=""):
    """Returns the answer for a page with a text."""
    html = f"<!doctype html><html><head><title>{title}</title></head><body>{extra}{ARTICLE}</body></html>"
    return 200, [("Content-Type", "text/html; charset=utf-8")], html.encode("utf-8", "surrogatepass")


@contextlib.contextmanager
def serving(pages):
    """Runs a host, and proxy to itself, of (status, [(header, value)], body) by path; other pages aren't there."""

    def script(path):
        status, headers, body = pages.get(urlsplit(path).path, (404, [], b""))
        lines = [f"HTTP/1.1 {status} Fine", *(f"{name}: {value}" for name, value in headers)]
        lines += [f"Content-Length: {len(body)}", "Connection: close", "", ""]
        return ["\r\n".join(lines).encode("utf-8", "surrogateescape") + body]

    with contextlib.closing(Host(script, script)) as host:
        yield host
