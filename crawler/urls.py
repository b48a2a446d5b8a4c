r"""Canonical URL, fingerprint and host: what makes two links the same page.

The canonical form is what the crawler stores and fetches. A link comes to it in these steps, and stays in it
(`canonical(canonical(x)) == canonical(x)`, for any x that is accepted):

1. Parsed and resolved by the WHATWG URL Standard (https://url.spec.whatwg.org/), as browsers do, through ada-url: white
   space around it and line breaks within go, `\` becomes `/`, scheme and host become lower case, the host IDNA's ASCII
   form or a plain address (`0x7f.1` is 127.0.0.1), the default port and dot segments go, octets that may not stand are
   escaped. Escapes that stand there stay, in their case: servers may tell `%7E` from `~`. A host in ASCII stays even
   where its `xn--` decodes to nothing, as the Standard says since 2026. One thing ada doesn't check: whether the labels
   of a host that isn't ASCII go together by the Bidi rule (`0à.א`); what it lets pass no DNS has.
2. http and https only, no longer than `MAX_URL_CHARACTERS`, the host no longer than DNS can hold; or it is refused.
3. Fragment and credentials go.
4. Tracking parameters go (`TRACKING_PARAMETERS`, `TRACKING_PREFIXES`), and those that the site's `drop_parameters`
   name; names are compared unescaped and in lower case. All other parameters stay as they are, in their order.

The fingerprint sorts the parameters first, since most sites don't care about their order.
"""

from __future__ import annotations

import re
from hashlib import blake2b
from urllib.parse import unquote_plus

import ada_url

from crawler.errors import UrlError
from crawler.redaction import without_credentials

# Parameters that say where a visitor came from, never which page is meant. A name that some site uses for a page's own
# sake (`ref`, `source`, `from`, `id`) is not here: a site file's `drop_parameters` is the place for those.
TRACKING_PARAMETERS = frozenset(
    {
        *(
            "gclid",
            "gclsrc",
            "dclid",
            "gbraid",
            "wbraid",
            "gad_source",
            "gad_campaignid",
            "srsltid",
            "_ga",
            "_gl",
        ),  # Google
        *("fbclid", "igshid", "igsh"),  # Meta
        *(
            "msclkid",
            "twclid",
            "ttclid",
            "li_fat_id",
            "rdt_cid",
            "epik",
        ),  # Microsoft, X, TikTok, LinkedIn, Reddit, Pinterest
        *("yclid", "ysclid", "_openstat"),  # Yandex
        *("spm", "share_source", "share_medium"),  # Alibaba, Bilibili
        *("mc_cid", "mc_eid", "_hsenc", "_hsmi", "__hstc", "__hssc", "__hsfp", "hsctatracking"),  # Mailchimp, HubSpot
        *("mkt_tok", "oly_anon_id", "oly_enc_id", "vero_id", "wickedid", "s_cid", "_branch_match_id"),  # other mailers
    }
)
TRACKING_PREFIXES = ("utm_", "pk_", "mtm_")  # Google Analytics, Piwik, Matomo
MAX_URL_CHARACTERS = 8_192  # servers refuse longer ones; a longer link is a trap
MAX_HOST_CHARACTERS = 254  # what DNS can say, and a dot at its end
MAX_WRITTEN_HOST_CHARACTERS = 1_024  # with escapes and credentials; IDNA takes quadratic time: 20 ms for 8,000 marks
FINGERPRINT_BYTES = 16
# What a site's own software makes without end when it takes `b/` for `/b/`, or adds a parameter to each link.
MAX_SEGMENTS = 30  # of a path; deep archives have 15
MAX_PARAMETERS = 50  # searches with all their filters have 30
MAX_REPEATS = 3  # of a part of a path in a row: /11/11/11 is a date, /a/b/a/b/a/b/a/b/ a trap
_LONG_HOST = re.compile(
    r"[\x00-\x20]*+(?:[a-zA-Z\t\r\n]++:[\t\r\n/\\]*+|[\t\r\n]*+[/\\][\t\r\n]*+[/\\][\t\r\n/\\]*+)"
    rf"[^/\\?#]{{{MAX_WRITTEN_HOST_CHARACTERS + 1}}}"
)
_PLAIN = re.compile(
    r"https?://(?:(?:[a-z0-9-]+\.)*[a-z][a-z0-9-]*|(?:(?:0|[1-9]\d{0,2})\.){3}(?:0|[1-9]\d{0,2}))"
    r"(?::(?!(?:80|443)/)[1-9]\d{0,4})?/[!-~]*"
)


def canonical(url: str, base: str = "", *, drop: frozenset[str] = frozenset()) -> str:
    """Resolves a link as a browser would and strips what doesn't name the page. Idempotent.

    Args:
        url: Absolute, or relative to `base`.
        base: Absolute URL of the page that the link stands on; empty for none.
        drop: More parameter names to drop, in lower case (a site's own session ids).

    Raises:
        UrlError: Not a URL, not http(s), without a host, longer than `MAX_URL_CHARACTERS`, or with a host that no DNS
            can hold.
    """
    if len(url) > MAX_URL_CHARACTERS:
        raise UrlError(f"URL of {len(url)} characters, expected at most {MAX_URL_CHARACTERS}: {_shown(url)!r}...")
    if len(url) > MAX_WRITTEN_HOST_CHARACTERS and _LONG_HOST.match(url):
        raise UrlError(f"host too long: {_shown(url)!r}...")
    try:
        parsed = ada_url.URL(url, base=base) if base else ada_url.URL(url)
    except (ValueError, UnicodeError):
        raise UrlError(f"not a URL: {url!r}") from None
    if parsed.protocol not in ("http:", "https:") or not parsed.hostname:
        raise UrlError(f"not an http(s) URL: {url!r}")
    if len(parsed.hostname) > MAX_HOST_CHARACTERS:
        raise UrlError(f"host too long: {_shown(url)!r}...")
    parsed.hash = ""
    if parsed.username or parsed.password:
        parsed.username = parsed.password = ""
    if parsed.search:
        query = _without_tracking(parsed.search[1:], drop)
        parsed.search = f"?{query}" if query else ""  # with its mark: the setter takes one away
    result = str(parsed.href)
    if len(result) > MAX_URL_CHARACTERS:  # percent-encoding can triple it
        raise UrlError(f"URL of {len(result)} characters, expected at most {MAX_URL_CHARACTERS}: {_shown(url)!r}...")
    return result


def is_plain(url: str) -> bool:
    """Returns whether a URL can be seen to be one, its host and port in canonical form, without being parsed.

    It saves parsing what comes back from Redis, where canonical URLs lie but nothing is trusted.
    """
    return _PLAIN.fullmatch(url) is not None


def trap(url: str) -> str:
    """Returns what makes a canonical URL look like one of infinitely many, in a word; empty when nothing does."""
    path, _, query = url.partition("?")
    segments = path.split("/")[3:]
    if len(segments) > MAX_SEGMENTS:
        return "too-many-segments"
    if query.count("&") >= MAX_PARAMETERS:
        return "too-many-parameters"
    segments = segments if not segments or segments[-1] else segments[:-1]
    for period in range(1, len(segments) // (MAX_REPEATS + 1) + 1):
        same = 0  # segments in a row that stand there one period before as well
        for index in range(period, len(segments)):
            same = same + 1 if segments[index] == segments[index - period] else 0
            if same >= period * MAX_REPEATS:
                return "repeated-segments"
    return ""


def host(url: str) -> str:
    """Returns the lower-case punycode host of a canonical URL, with `:port` where it isn't the scheme's own."""
    return url.split("/", 3)[2]


def origin(url: str) -> str:
    """Returns scheme, host and non-default port of a canonical URL: what one robots.txt is for."""
    return url[: url.index("/", len("https://"))]


def hostname(url: str) -> str:
    """Returns the host of a canonical URL without its port; an IPv6 address keeps its brackets."""
    written = host(url)
    return written if written.endswith("]") else written.rsplit(":", 1)[0]  # [::1] has colons of its own


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


def _shown(url: str) -> str:
    return without_credentials(url)[:60]  # in this order: half a password is one, too


def _without_tracking(query: str, drop: frozenset[str]) -> str:
    kept = []
    for pair in query.split("&"):
        name = unquote_plus(pair.partition("=")[0]).lower()
        if name in TRACKING_PARAMETERS or name in drop or name.startswith(TRACKING_PREFIXES):
            continue
        kept.append(pair)
    return "&".join(kept)
