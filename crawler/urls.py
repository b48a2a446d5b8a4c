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
from functools import lru_cache
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
MAX_PLAIN_CHARACTERS = 1_000  # of a link and its page together that go without the parser, far from all limits above
MAX_NAME_REMEMBERED = 64  # characters of a parameter's name; nobody may fill the memory with longer ones
# A link that the parser takes as it is, in parts: where it starts and the path from there, or a path from the page's
# own folder; the query. No segment starts with a dot or is empty, no colon makes a scheme, nothing would be escaped.
_SEGMENT = r"[\w~!$&'()*+,;=@%:-][\w~!$&'()*+,;=@%:.-]*"
_PLAIN_LINK = re.compile(
    rf"(?:(/|(?:\.\./)+)((?:{_SEGMENT}(?:/{_SEGMENT})*/?)?)"
    rf"|([\w~!$&'()*+,;=@%-][\w~!$&'()*+,;=@%.-]*(?:/{_SEGMENT})*/?))"
    r"(?:\?([\w~!$&()*+,;=@%:./?-]+))?(?:#[!-~]*)?",
    re.ASCII,
)
# A host that the parser takes as it is: a name whose last label is no number, or an address; no port that may go.
_NUMBER = r"(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)"
_PLAIN_HOST = re.compile(
    rf"https?://(?![^/]*xn--)((?:[a-z0-9_-]+\.)*[a-z][a-z0-9_-]*|(?:{_NUMBER}\.){{3}}{_NUMBER})"
    r"(?::(?!80/|443/)(?:[1-9]\d{0,3}|[1-5]\d{4}))?/",
    re.ASCII,
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
    if not base and (plain := _plain(url, drop)):
        return plain
    if len(url) > MAX_URL_CHARACTERS:
        raise UrlError(f"URL of {len(url)} characters, expected at most {MAX_URL_CHARACTERS}: {_shown(url)!r}...")
    if len(url) > MAX_WRITTEN_HOST_CHARACTERS and _LONG_HOST.match(url):
        raise UrlError(f"host too long: {_shown(url)!r}...")
    try:
        parsed = ada_url.URL(url, base=base) if base else ada_url.URL(url)
    except (ValueError, UnicodeError):
        raise UrlError(f"not a URL: {url!r}") from None
    result = str(parsed.href)
    if not result.startswith(("http://", "https://")):  # which have a host, or are no URLs
        raise UrlError(f"not an http(s) URL: {url!r}")
    if len(result) > MAX_HOST_CHARACTERS and len(parsed.hostname) > MAX_HOST_CHARACTERS:
        raise UrlError(f"host too long: {_shown(url)!r}...")
    if "@" in result and (parsed.username or parsed.password):
        parsed.username = parsed.password = ""
        result = str(parsed.href)
    result = _stripped(result, drop)
    if len(result) > MAX_URL_CHARACTERS:  # percent-encoding can triple it
        raise UrlError(f"URL of {len(result)} characters, expected at most {MAX_URL_CHARACTERS}: {_shown(url)!r}...")
    return result


def is_plain(url: str) -> bool:
    """Returns whether a URL can be seen to be one, its host and port in canonical form, without being parsed.

    It saves parsing what comes back from Redis, where canonical URLs lie but nothing is trusted.
    """
    return _PLAIN.fullmatch(url) is not None


class Base:
    """The URL of a page whose links are resolved, quickly where they are plain.

    `resolve(link)` is `canonical(link, url)`, for any link: what has nothing in it that a URL parser would change is
    put behind what the parser made of its beginning (`/`, `../`), anything else goes to the parser itself. Of the
    links of most pages all are plain; they take a tenth of the time.
    """

    def __init__(self, url: str) -> None:
        self._url = url
        self._heads: dict[str | None, str] = {}  # what "/", "../" ... lead to, and None: the page's own folder
        self._origin = ""

    def resolve(self, link: str, *, drop: frozenset[str] = frozenset()) -> str:
        """Returns the canonical URL that a link on the page leads to; arguments and errors are those of `canonical`."""
        rest = link[len(self._origin) :] if self._origin and link.startswith(self._origin) else link
        plain = _PLAIN_LINK.fullmatch(rest)
        if plain is None or "%2e" in rest or "%2E" in rest or (rest is not link and plain[1] != "/"):
            return (self._heads and _plain(link, drop)) or canonical(link, self._url, drop=drop)
        start, below, beside, query = plain.groups()
        head = self._heads.get(start) or self._learn(start)
        if len(head) + len(link) > MAX_PLAIN_CHARACTERS:
            return canonical(link, self._url, drop=drop)
        return _with_query(head + (below if start else beside), query, drop)

    def _learn(self, start: str | None) -> str:
        head = self._heads[start] = canonical(start or "./", self._url)
        if start == "/":
            self._origin = head.removesuffix("/")
        return head


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


def _stripped(url: str, drop: frozenset[str]) -> str:
    """Returns a URL as the parser wrote it without its fragment and without parameters that don't name a page."""
    url = url.partition("#")[0]
    head, _, query = url.partition("?")
    return _with_query(head, query, drop) if query else url  # a mark without anything behind it stays


def _plain(url: str, drop: frozenset[str]) -> str:
    """Returns the canonical form of an absolute URL that a parser would take as it is; empty for others."""
    at = _PLAIN_HOST.match(url)
    if at is None or len(at[1]) > MAX_HOST_CHARACTERS or len(url) > MAX_PLAIN_CHARACTERS:
        return ""
    link = _PLAIN_LINK.fullmatch(url, at.end() - 1)
    if link is None or link[1] != "/" or "%2e" in url or "%2E" in url:
        return ""
    return _with_query(url[: link.end(2)], link[4], drop)


def _with_query(head: str, query: str | None, drop: frozenset[str]) -> str:
    kept = _without_tracking(query, drop) if query else ""
    return f"{head}?{kept}" if kept else head


def _without_tracking(query: str, drop: frozenset[str]) -> str:
    return "&".join([pair for pair in query.split("&") if not _is_dropped(pair.partition("=")[0], drop)])


def _is_dropped(name: str, drop: frozenset[str]) -> bool:
    plain = (_plain_name if len(name) <= MAX_NAME_REMEMBERED else _plain_name.__wrapped__)(name)
    return plain in TRACKING_PARAMETERS or plain in drop or plain.startswith(TRACKING_PREFIXES)


@lru_cache(1_000)  # sites have few, and use them again and again
def _plain_name(name: str) -> str:
    return unquote_plus(name).lower()
