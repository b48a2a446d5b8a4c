"""Canonical URL, fingerprint and host: what makes two links the same page.

URLs are parsed and resolved by the WHATWG URL Standard, as browsers do (https://url.spec.whatwg.org/), through ada-url.
The canonical form is what the crawler stores and fetches: no fragment, no credentials, no tracking parameters,
parameter order kept. The fingerprint sorts the parameters first, since most sites don't care about their order.
"""

from __future__ import annotations

from hashlib import blake2b
from urllib.parse import unquote_plus

import ada_url

from crawler.errors import UrlError

# Parameters that say where a visitor came from, never which page is meant.
TRACKING_PARAMETERS = frozenset(
    {
        "fbclid",
        "gclid",
        "dclid",
        "gbraid",
        "wbraid",
        "msclkid",
        "yclid",
        "twclid",
        "igshid",
        "mc_cid",
        "mc_eid",
        "_hsenc",
        "_hsmi",
        "mkt_tok",
        "oly_anon_id",
        "oly_enc_id",
        "spm",
        "share_source",
        "share_medium",
        "vero_id",
        "wickedid",
    }
)
TRACKING_PREFIXES = ("utm_", "pk_", "mtm_")
MAX_URL_CHARACTERS = 8_192  # servers refuse longer ones; a longer link is a trap
FINGERPRINT_BYTES = 16


def canonical(url: str, base: str = "", *, drop: frozenset[str] = frozenset()) -> str:
    """Resolves a link as a browser would and strips what doesn't name the page. Idempotent.

    Args:
        url: Absolute, or relative to `base`.
        base: Absolute URL of the page that the link stands on; empty for none.
        drop: More parameter names to drop, in lower case (a site's own session ids).

    Raises:
        UrlError: Not a URL, not http(s), without a host, or longer than `MAX_URL_CHARACTERS`.
    """
    if len(url) > MAX_URL_CHARACTERS:
        raise UrlError(f"URL of {len(url)} characters, expected at most {MAX_URL_CHARACTERS}: {url[:60]!r}...")
    try:
        parsed = ada_url.URL(url, base=base) if base else ada_url.URL(url)
    except (ValueError, UnicodeError):
        raise UrlError(f"not a URL: {url!r}") from None
    if parsed.protocol not in ("http:", "https:") or not parsed.hostname:
        raise UrlError(f"not an http(s) URL: {url!r}")
    parsed.hash = ""
    if parsed.username or parsed.password:
        parsed.username = parsed.password = ""
    if parsed.search:
        query = _without_tracking(parsed.search[1:], drop)
        parsed.search = f"?{query}" if query else ""  # with its mark: the setter takes one away
    result = str(parsed.href)
    if len(result) > MAX_URL_CHARACTERS:  # percent-encoding can triple it
        raise UrlError(f"URL of {len(result)} characters, expected at most {MAX_URL_CHARACTERS}: {url[:60]!r}...")
    return result


def host(url: str) -> str:
    """Returns the lower-case punycode host of a canonical URL, with `:port` where it isn't the scheme's own."""
    return str(ada_url.URL(url).host)


def hostname(url: str) -> str:
    """Returns the host of a canonical URL without its port; an IPv6 address keeps its brackets."""
    return str(ada_url.URL(url).hostname)


def fingerprint(url: str, *, method: str = "GET", body: str = "", scope: str = "") -> bytes:
    """Returns the 16 bytes that identify a seed.

    Args:
        url: Canonical URL.
        method: Upper-case HTTP method.
        body: Request body.
        scope: Empty for content seeds; for nav seeds the plan and its edition, so that two plans may ask the same.
    """
    head, mark, query = url.partition("?")
    if mark:
        query = "&".join(sorted(query.split("&")))
    parts = "\0".join((method, head + mark + query, body, scope))
    return blake2b(parts.encode(), digest_size=FINGERPRINT_BYTES).digest()


def _without_tracking(query: str, drop: frozenset[str]) -> str:
    kept = []
    for pair in query.split("&"):
        name = unquote_plus(pair.partition("=")[0]).lower()
        if name in TRACKING_PARAMETERS or name in drop or name.startswith(TRACKING_PREFIXES):
            continue
        kept.append(pair)
    return "&".join(kept)
