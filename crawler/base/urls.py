r"""Canonical URLs and fingerprints: which links lead to the same page.

The canonical form is what the crawler stores and fetches. A link gets it in four steps, after which a second pass
changes nothing (`canonical(canonical(x)) == canonical(x)` for any accepted x):

1. The link is parsed and resolved by the WHATWG URL Standard (https://url.spec.whatwg.org/), as in browsers, through
   ada-url. White space around the link and line breaks in it go, `\` becomes `/`, scheme and host become lower case,
   the host becomes IDNA's ASCII form or a plain address (`0x7f.1` is 127.0.0.1), the default port and dot segments go,
   and characters that may not stand are escaped. Existing escapes stay as they are, in their case, since servers may
   tell `%7E` from `~`. A host in ASCII stays even where its `xn--` label decodes to nothing (so the Standard since
   2026). Deviation: ada doesn't check the Bidi rule for the labels of a host (`0à.א`); DNS has no host that this lets
   pass.
2. A URL is refused unless it is http or https, has at most `MAX_URL_CHARACTERS` and a host that DNS can hold.
3. Fragment and credentials go. A fragment that is a script's route (`#/...`, `#!...`) stays where a browser renders the
   page: no server gets to see it, but a script shows another page by it. Elsewhere a URL with a route is refused: all
   of them would become one page, which holds none of what they stand for.
4. Parameters that say who visits go (`VISITOR_PARAMETERS`, `VISITOR_PREFIXES`), and those that the site's
   `drop_parameters` name, be they of the query, of the path (`/a;jsessionid=1`) or of a route (`#/a?id=1`); names are
   compared unescaped and in lower case. All other parameters stay as they are, in their order.

A page has many spellings, of which the crawler fetches the one that it found first. The fingerprint is the same for
those that are equal by RFC 3986, 6.2.2 (`%e4` and `%E4`, `%7E` and `~`), and for those that hardly ever make another
page: the order of the parameters, empty ones (`?a=1&`), an empty query, a dot at the host's end. Where they do, a site
says `identity: exact`.

Pacing, robots.txt and scope go by the host without its last dot, since both names lead to the same server.
"""

from __future__ import annotations

import re
import string
from contextlib import suppress
from functools import lru_cache
from hashlib import blake2b
from urllib.parse import unquote_plus, urlsplit

import ada_url

from crawler.base.errors import ScriptRouteError, UrlError, shown
from crawler.base.redaction import without_credentials

# Parameters that say who a visitor is or where he came from, never which page is meant. Names that some sites use for a
# page of its own (`ref`, `source`, `from`, `id`, `sid`) aren't here; a site's `drop_parameters` can name them.
VISITOR_PARAMETERS = frozenset(
    # Google; Meta; Microsoft, X, TikTok, LinkedIn, Reddit, Pinterest; Yandex; Alibaba, Bilibili; mailing services;
    # Webtrekk; sessions of Java's and PHP's servers, which begin a new one where there is none
    """gclid gclsrc dclid gbraid wbraid gad_source gad_campaignid srsltid _ga _gl
    fbclid igshid igsh
    msclkid twclid ttclid li_fat_id rdt_cid epik
    yclid ysclid _openstat
    spm share_source share_medium vd_source
    mc_cid mc_eid _hsenc _hsmi __hstc __hssc __hsfp hsctatracking
    mkt_tok oly_anon_id oly_enc_id vero_id wickedid s_cid _branch_match_id
    wt_mc
    jsessionid phpsessid""".split()
)
# Parameters of Google Analytics, Matomo and HubSpot's ads begin with these.
VISITOR_PREFIXES = ("utm_", "pk_", "mtm_", "piwik_", "matomo_", "hsa_")
MAX_URL_CHARACTERS = 8_192  # the longest URL: servers refuse longer ones, and a longer link is a trap
MAX_HOST_CHARACTERS = 254  # the longest host: the longest name in DNS, and a dot at its end
MAX_LABEL_CHARACTERS = 63  # the longest label of a name in DNS, which is what stands between two dots
# The longest host as written, with escapes and credentials; IDNA takes 20 ms for 8,000 accents.
MAX_WRITTEN_HOST_CHARACTERS = 1_024
FINGERPRINT_BYTES = 16
# A crawler trap is a part of a site that makes new links for ever, for example by taking `b/` for `/b/`.
MAX_SEGMENTS = 30  # most segments of a path; deep archives have 15
MAX_PARAMETERS = 50  # most parameters of a query; searches with all their filters have 30
MAX_REPEATS = 3  # how often the same segments may follow each other: /11/11/11 is a date, /a/b/a/b/a/b/a/b/ a trap
# A scheme or slashes as the parser accepts them, then a host that is too long to be parsed.
_LONG_HOST = re.compile(
    r"[\x00-\x20]*+(?:[a-zA-Z\t\r\n]++:[\t\r\n/\\]*+|[\t\r\n]*+[/\\][\t\r\n]*+[/\\][\t\r\n/\\]*+)"
    rf"[^/\\?#]{{{MAX_WRITTEN_HOST_CHARACTERS + 1}}}"
)
# A relative link that the parser would only append, in groups: a start (`/` or `../`) and the path after it, or a path
# in the page's own folder; then the query. No segment is empty or starts with a dot, no colon ends a scheme, and no
# character would be escaped.
_SEGMENT = r"[\w~!$&'()*+,;=@%:-][\w~!$&'()*+,;=@%:.-]*"
_SIMPLE_LINK = re.compile(
    rf"(?:(/|(?:\.\./)+)((?:{_SEGMENT}(?:/{_SEGMENT})*/?)?)"
    rf"|([\w~!$&'()*+,;=@%-][\w~!$&'()*+,;=@%.-]*(?:/{_SEGMENT})*/?))"
    r"(?:\?([\w~!$&()*+,;=@%:./?-]+))?(?:#(?![/!])[!-~]*)?",
    re.ASCII,
)
# The simplest of those, which needs no look at its parts: without a query, an escape, or a parameter in its path.
_PLAIN_LINK = re.compile(r"(/|(?:\.\./)+)[\w~:@-][\w~:@.-]*(?:/[\w~:@-][\w~:@.-]*)*/?", re.ASCII)
# A page's URL whose folder the parser would leave as it is, in groups: origin and folder.
_SIMPLE_PAGE = re.compile(
    rf"(https?://[a-z0-9.-]+(?::[0-9]+)?)((?:/{_SEGMENT})*/)(?:{_SEGMENT})?(?:[?#].*)?", re.ASCII | re.DOTALL
)
# The beginning of an absolute URL up to its path, as nearly all that the crawler meets have it.
_SIMPLE_ORIGIN = re.compile(r"https?://[a-z0-9.-]+(?::[0-9]+)?(?=/)")
ORIGINS_REMEMBERED = 1_000  # most origins that are remembered, in some 500 bytes each
_NO_ROUTES = frozenset({"/", "!", "!/"})  # these lead to the page that scripts begin with, or nowhere
_ESCAPE = re.compile("%[0-9A-Fa-f]{2}")
_NO_ESCAPE = re.compile("%(?![0-9A-Fa-f]{2})")
_UNRESERVED = frozenset(f"{string.ascii_letters}{string.digits}-._~")  # RFC 3986, 2.3 names these characters unreserved
_FOLDED_ESCAPES = {
    f"%{high}{low}": character if (character := chr(int(high + low, 16))) in _UNRESERVED else f"%{high}{low}".upper()
    for high in string.hexdigits
    for low in string.hexdigits
}
_DOT_SEGMENTS = frozenset({".", "..", "%2e", ".%2e", "%2e.", "%2e%2e"})
# The longest of such a link and of its page's URL, so short that they meet none of the limits above.
MAX_SIMPLE_CHARACTERS = 1_000


def canonical(url: str, base: str = "", *, drop: frozenset[str] = frozenset(), routes: bool = False) -> str:
    """Returns the canonical form of a link.

    An absolute one whose origin was met before takes 2 us instead of 7, since the parser isn't asked (`LinkResolver`).

    Args:
        url: Absolute, or relative to `base`.
        base: Absolute URL of the page that the link stands on; empty for none.
        drop: More parameter names to drop, in lower case (a site's own session ids).
        routes: Keeps a fragment that is a script's route, since a browser renders the page.

    Raises:
        UrlError: Not an http(s) URL, longer than `MAX_URL_CHARACTERS`, or with a host that DNS can't hold.
        ScriptRouteError: Its fragment is a script's route, and `routes` is off.
    """
    if len(url) > MAX_URL_CHARACTERS:
        raise UrlError(f"URL of {len(url)} characters, expected at most {MAX_URL_CHARACTERS}: {_shown(url)!r}...")
    if len(url) > MAX_WRITTEN_HOST_CHARACTERS and _LONG_HOST.match(url):
        raise UrlError(f"host too long: {_shown(url)!r}...")
    if not base and (origin_of_url := _SIMPLE_ORIGIN.match(url)):
        return _resolver_of(origin_of_url[0]).resolve(url, drop=drop, routes=routes)
    try:
        parsed = ada_url.URL(url, base=base) if base else ada_url.URL(url)
    except (ValueError, UnicodeError):
        raise UrlError(f"not a URL: {shown(url)}") from None
    result = str(parsed.href)
    if not result.startswith(("http://", "https://")):  # a parsed URL of these schemes has a host
        raise UrlError(f"not an http(s) URL: {shown(url)}")
    if len(result) > MAX_HOST_CHARACTERS and len(parsed.hostname) > MAX_HOST_CHARACTERS:
        raise UrlError(f"host too long: {_shown(url)!r}...")
    if "@" in result and (parsed.username or parsed.password):
        parsed.username = parsed.password = ""
        result = str(parsed.href)
    if not _fits_dns(result.split("/", 3)[2]):
        raise UrlError(f"a host with a part of no or over {MAX_LABEL_CHARACTERS} characters: {_shown(url)!r}")
    result = _stripped(result, drop, routes=routes)
    if len(result) > MAX_URL_CHARACTERS:  # percent-encoding can triple it
        raise UrlError(f"URL of {len(result)} characters, expected at most {MAX_URL_CHARACTERS}: {_shown(url)!r}...")
    return result


def is_script_route(fragment: str) -> bool:
    """Returns whether a URL's fragment names a view that a script shows, and not a place on the page."""
    return fragment.startswith(("/", "!"))


def split_route(url: str) -> tuple[str, str]:
    """Returns of a canonical URL what a server is asked for, and the route, with its `#`, that a script then shows.

    The route is empty for nearly all pages.
    """
    place, mark, route = url.partition("#")
    return place, mark + route


def dropped_fragment(url: str) -> str:
    """Returns the fragment of a URL, with its `#`, that is no part of its canonical form; empty: it has none.

    Raises:
        UrlError: As `canonical`.
    """
    fragment = split_route(url)[1]
    return "" if split_route(canonical(url, routes=True))[1] else fragment


def redirect_target(location: str, url: str, *, routes: bool = False) -> str:
    """Returns the canonical URL that a page redirects to.

    A location without a fragment keeps the page's own (RFC 9110, 10.2.2), and so its route.

    Args:
        location: As the page says it.
        url: Canonical URL of the page, with its route.
        routes: As of `canonical`.

    Raises:
        UrlError: As `canonical`.
    """
    target = canonical(location, url, routes=routes)
    return target if "#" in location else target + split_route(url)[1]


def is_canonical(url: str) -> bool:
    """Returns whether a URL is its own canonical form without a route; those from Redis aren't trusted to be."""
    try:
        return canonical(url) == url
    except UrlError:
        return False


class LinkResolver:
    """Resolves the links of one page: `resolve(link)` is `canonical(link, url)` in a fifth of the time.

    What `/`, `../` and the page's own folder stand for is found out once, as a rule without the parser, and a link that
    the parser would only append to one of them (`_SIMPLE_LINK`) is appended. All other links go to the parser. 20 links
    of a page take 27 us (`.venv/bin/python -m benchmarks.extraction`), where the parser took 129 in the same minute.

    Args:
        url: Absolute URL of the page.

    Attributes:
        origin: The page's, if that is known to be canonical; empty if not.
    """

    def __init__(self, url: str) -> None:
        self._url = url
        # By a link's start, such as "/" or "../": what its URL begins with; None: the page's own folder.
        self._prefixes: dict[str | None, str] = {}
        self.origin = ""

    def resolve(self, link: str, *, drop: frozenset[str] = frozenset(), routes: bool = False) -> str:
        """Returns the canonical URL that a link leads to; arguments and errors are those of `canonical`."""
        if plain := _PLAIN_LINK.fullmatch(link):
            start = plain[1]
            prefix = self._prefixes.get(start) or self._found_prefix(start)
            if len(prefix) + len(link) <= MAX_SIMPLE_CHARACTERS and ";" not in prefix:
                return prefix + link[plain.end(1) :]
        relative = link[len(self.origin) :] if self.origin and link.startswith(self.origin) else link
        simple = _SIMPLE_LINK.fullmatch(relative)
        if simple is None or (relative is not link and simple[1] != "/"):
            return canonical(link, self._url, drop=drop, routes=routes)
        start, path, path_in_folder, query = simple.groups()
        prefix = self._prefixes.get(start) or self._found_prefix(start)
        if len(prefix) + len(link) > MAX_SIMPLE_CHARACTERS or ("%" in link and "%2e" in link.lower()):
            return canonical(link, self._url, drop=drop, routes=routes)
        return _with_query(prefix + (path if start else path_in_folder), query, drop)

    def know_origin(self, root: str) -> None:
        """Notes the canonical URL of `/`, so that a URL of this origin needs no parser."""
        self._prefixes["/"] = root
        self.origin = root.removesuffix("/")

    def _found_prefix(self, start: str | None) -> str:
        page = _SIMPLE_PAGE.fullmatch(self._url)
        if page is None or "%2e" in self._url.lower():
            prefix = canonical(start or "./", self._url)
        else:
            folders = [""] if start == "/" else page[2].split("/")[: -1 - (start or "").count("../")]
            path = f"{'/'.join(folders)}/"
            root = _resolver_of(page[1]).origin  # empty: the parser has to look at it
            prefix = f"{root}{path}" if root == page[1] and ";" not in path else canonical(page[1] + path)
        if start == "/":
            self.know_origin(prefix)
        else:
            self._prefixes[start] = prefix
        return prefix


@lru_cache(ORIGINS_REMEMBERED)
def _resolver_of(written_origin: str) -> LinkResolver:
    """Returns a resolver that knows its own origin, if that is valid and canonical."""
    resolver = LinkResolver(f"{written_origin}/")
    with suppress(UrlError):
        resolver.know_origin(canonical("/", f"{written_origin}/"))
    return resolver


def trap(url: str) -> str:
    """Returns in one word why a canonical URL looks like part of a crawler trap; empty if it doesn't."""
    path, _, query = url.partition("?")
    segments = path.split("/")[3:]
    if len(segments) > MAX_SEGMENTS:
        return "too-many-segments"
    if query.count("&") >= MAX_PARAMETERS:
        return "too-many-parameters"
    segments = segments if not segments or segments[-1] else segments[:-1]
    for period in range(1, len(segments) // (MAX_REPEATS + 1) + 1):
        same = 0  # segments in a row that are equal to the one a period before
        for index in range(period, len(segments)):
            same = same + 1 if segments[index] == segments[index - period] else 0
            if same >= period * MAX_REPEATS:
                return "repeated-segments"
    return ""


def host(url: str) -> str:
    """Returns the lower-case punycode host of a canonical URL, with `:port` where it isn't the scheme's own.

    A dot at the end of its name is left out.
    """
    written = url.split("/", 3)[2]
    if written.endswith("."):
        return written[:-1]
    return written.replace(".:", ":") if ".:" in written else written


def origin(url: str) -> str:
    """Returns scheme, host and non-default port of a canonical URL: what one robots.txt applies to."""
    return f"{url[: url.index('/')]}//{host(url)}"


def origin_as_written(url: str) -> str:
    """Returns the origin of a canonical URL as browsers have it: one with a dot at its host's end is another one."""
    return "/".join(url.split("/", 3)[:3])


def hostname(url: str) -> str:
    """Returns the host of a canonical URL without its port; an IPv6 address keeps its brackets."""
    written = host(url)
    return written if written.endswith("]") else written.rsplit(":", 1)[0]  # [::1] has colons of its own


def host_and_port(address: str, default_port: int) -> tuple[str, int]:
    """Returns the two parts of a server's address, `HOST:PORT` or `HOST`.

    Raises:
        ValueError: It is no address.
    """
    parts = urlsplit(f"//{address}")
    if not parts.hostname:
        raise ValueError("an address without a host")
    return parts.hostname, parts.port or default_port


def fingerprint(url: str, *, method: str = "GET", body: str = "", scope: str = "", exact: bool = False) -> bytes:
    """Returns the 16 bytes that identify a seed.

    Args:
        url: Canonical URL.
        method: Upper-case HTTP method.
        body: Request body.
        scope: For content seeds the site, since another site reads the page in its own way; for nav seeds the plan and
            its edition, so that two plans may search the same.
        exact: Whether each spelling of a URL is a page of its own, as the site's `identity` says.
    """
    parts = "\0".join((method, url if exact else folded(url), body, scope))
    return blake2b(parts.encode(), digest_size=FINGERPRINT_BYTES).digest()


def folded(url: str) -> str:
    """Returns the one spelling that stands for all those of a canonical URL that lead to the same page."""
    if "%" in url and not _NO_ESCAPE.search(url):  # beside a stray %, an escape that is decoded might make another one
        url = _ESCAPE.sub(_folded_escape, url)
    place, route = split_route(without_host_dot(url))
    return _with_sorted_query(place) + _with_sorted_query(route)


def _with_sorted_query(address: str) -> str:
    """Returns a URL, or a route, with its parameters in order and without empty ones."""
    head, _, query = address.partition("?")
    if "&" in query:
        query = "&".join(sorted(filter(None, query.split("&"))))
    return f"{head}?{query}" if query else head


def without_host_dot(url: str) -> str:
    """Returns a canonical URL without a dot at its host's end."""
    return origin(url) + url[url.index("/", len("https://")) :] if "./" in url or ".:" in url else url


def _folded_escape(escape: re.Match[str]) -> str:
    return _FOLDED_ESCAPES[escape[0]]


def _fits_dns(written: str) -> bool:
    """Returns whether no label of a host is empty, but for the last one's dot, nor too long."""
    if ".." in written or written.startswith("."):
        return False
    return len(written) <= MAX_LABEL_CHARACTERS or all(
        len(label) <= MAX_LABEL_CHARACTERS for label in written.rsplit(":", 1)[0].split(".")
    )


def _shown(url: str) -> str:
    return without_credentials(url)[:60]  # in this order: half a password must not be shown either


def _stripped(url: str, drop: frozenset[str], *, routes: bool) -> str:
    """Returns a parsed URL without its fragment, but for a route that is kept, and without parameters to be dropped."""
    url, _, fragment = url.partition("#")
    route = ""
    if is_script_route(fragment):
        if not routes:
            raise ScriptRouteError(
                f"only a browser's script knows what is at {_shown(url)}#{_shown(fragment)}; `render` in its site's "
                "file has a browser run it"
            )
        view, _, query = fragment.partition("?")
        kept = _kept_parameters(query, drop)
        fragment = f"{view}?{kept}" if kept else view
        route = "" if fragment in _NO_ROUTES else f"#{fragment}"
    head, mark, query = url.partition("?")
    stripped = _with_query(head, query, drop)
    return (stripped + mark if mark and not query else stripped) + route  # an empty query keeps its `?`


def _with_query(head: str, query: str | None, drop: frozenset[str]) -> str:
    if ";" in head:
        head = _without_path_parameters(head, drop)
    if not query:
        return head
    kept = _kept_parameters(query, drop)
    return f"{head}?{kept}" if kept else head


def _kept_parameters(query: str, drop: frozenset[str]) -> str:
    return "&".join([pair for pair in query.split("&") if not _is_dropped(pair.partition("=")[0], drop)])


def _without_path_parameters(head: str, drop: frozenset[str]) -> str:
    """Returns a URL without its query with the parameters dropped from its path (RFC 3986, 3.3), such as Java's."""
    start = head.index("/", len("https://"))
    segments = []
    for segment in head[start:].split("/"):
        name, *parameters = segment.split(";")
        kept = [parameter for parameter in parameters if not _is_dropped(parameter.partition("=")[0], drop)]
        # A segment of dots alone would lead elsewhere: `/a/..;jsessionid=1` isn't `/`.
        drops = len(kept) < len(parameters) and (kept or name.lower() not in _DOT_SEGMENTS)
        segments.append(";".join((name, *kept)) if drops else segment)
    return head[:start] + "/".join(segments)


def _is_dropped(name: str, drop: frozenset[str]) -> bool:
    name = _comparable(name)
    return name in VISITOR_PARAMETERS or name in drop or name.startswith(VISITOR_PREFIXES)


@lru_cache(1_000)  # names; a site has few and has them in every link. No name is longer than MAX_URL_CHARACTERS
def _comparable(name: str) -> str:
    return unquote_plus(name).lower()
