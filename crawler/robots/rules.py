"""Parses robots.txt by RFC 9309: the file's rules for one crawler, and whether they allow a URL. Does no I/O.

Where the RFC is silent, Google's parser (https://github.com/google/robotstxt) is followed: misspelt keys, keys that
only begin like one (`Disallowed`), a missing colon, lines cut at 16,663 bytes, NUL as the end of a line, a part of a
byte order mark, `Allow: /x/index.html` for `/x/` too, and `*` and `$` counting as octets of a pattern. Where the two
differ, the RFC is followed:

- 2.2.2: escapes of unreserved characters are undone on both sides: `/%62` and `/b` are one path (Google: two).
- 2.2.2: octets that no URI may hold are escaped on both sides (Google: in rules, and only those beyond ASCII).
- 2.2.2: reserved octets are equal to their escapes (Google: not): `/a:b` and `/a%3Ab` are one path. Exceptions are
  `?`, `$` and `*`, which have a meaning of their own, and `/` in a path; in a query `/` is equal to its escape, as in
  the RFC's table.
- 2.2.3: `%2A` and `%24` in a rule stand for `*` and `$` in a URL (Google: for themselves only).
- 2.2.2: `/robots.txt` itself is always allowed (Google leaves it to its caller).

Beyond both: a file in UTF-16 with a byte order mark is read. A product token may have digits, dots and letters beyond
ASCII, as real ones do; it must then be a whole word in the file. Crawl-delay, which is in neither, applies to the
agents named above it, up to an earlier rule or Crawl-delay. It doesn't end a list of agents for the rules below it.

Other parsers differ: here a group for `bot` doesn't apply to `bot-news`, rules before any group apply to nobody, a
pattern that begins neither with `/` nor with `*` matches nothing, and only a rule ends a list of agents.

Time and memory are linear in the file's size. Matching doesn't backtrack, so a hostile pattern is no slower than any
other of its length.
"""

from __future__ import annotations

import re
from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from typing import TYPE_CHECKING, Any, NamedTuple

from crawler import config

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

# How much of a file is parsed, by RFC 9309, 2.5 at least so much; lines that begin after it are ignored.
MAX_FILE_BYTES = 500 * 1024
MAX_LINE_BYTES = 2_083 * 8 - 1  # the longest line, by Google's limit: eight of the longest URLs that browsers take
_BOM = "\xef\xbb\xbf"  # UTF-8's mark, read as Latin-1
_WHITE = " \t\n\v\f\r"  # white space in ASCII; str.strip() would take some bytes of UTF-8 characters too
_LINE = re.compile(r"[^\r\n]+")
_WORD = re.compile(r"[^ \t-\r/]*")
_TOKEN = re.compile(r"[A-Za-z_-]*")  # all that a product token may hold, by RFC 9309, 2.2.1
_DELAY = re.compile(r"[0-9]{1,9}(?:\.[0-9]{0,9})?|\.[0-9]{1,9}")
_AGENT_KEYS = ("user-agent", "useragent", "user agent")
_RULE_KEYS = ("allow", "disallow", "dissallow", "dissalow", "disalow", "diasllow", "disallaw")
_NOBODY, _ALL, _US = range(3)  # the agents that a line applies to; more specific ones are greater
# An escape, or an octet that RFC 3986 allows nowhere in a URI.
_ESCAPE = re.compile(r"%[0-9A-Fa-f]{2}|[^A-Za-z0-9\-._~:/?#\[\]@!$&'()*+,;=%]")
# Characters that are equal to their escapes.
_UNESCAPED = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~:@!&'()+,;=[]")
_QUERY_SLASH = "\0"  # stands for a slash in a query, escaped or not, which no path has
_AUTHORITY = re.compile(r"(?://|[^/?;]*?://)?[^/?;]*")


class _Wildcard(NamedTuple):
    """A pattern with `*` or `$`: literal pieces that follow each other at any distance.

    Attributes:
        priority: Length of the pattern, and whether it allows.
        head: What a path must begin with.
        middle: The pieces between two `*`, each in its forms (see `_forms`).
        tail: The piece after the last `*`, in its forms; empty: there is no `*`.
        anchored: Whether the pattern ends with `$`.
    """

    priority: tuple[int, bool]
    head: str
    middle: tuple[tuple[str, ...], ...]
    tail: tuple[str, ...]
    anchored: bool

    def matches(self, path: str) -> bool:
        """Returns whether a path matches.

        The leftmost match of each piece leaves most of the path to the others, so no other match needs to be tried. A
        form of a piece for the path matches before any for the query.
        """
        if not path.startswith(self.head):
            return False
        at = len(self.head)
        if not self.tail:
            return at == len(path)  # a pattern without `*` ends with `$`
        for forms in self.middle:
            at = next((place + len(form) for form in forms if (place := path.find(form, at)) >= 0), -1)
            if at < 0:
                return False
        if self.anchored:
            return any(path.endswith(form, at) for form in self.tail)
        return any(path.find(form, at) >= 0 for form in self.tail)


class Rules:
    """The rules of one robots.txt for one crawler.

    Args:
        rules: For each rule, whether it allows, and its pattern as in the file; in any order. Empty patterns match
            nothing.

    Attributes:
        crawl_delay_s: The file's Crawl-delay in seconds, not bounded; 0: none.
    """

    __slots__ = ("_lengths", "_plain", "_wild", "crawl_delay_s")

    def __init__(self, rules: Iterable[tuple[bool, str]] = (), crawl_delay_s: float = 0.0) -> None:
        self.crawl_delay_s = crawl_delay_s
        self._plain: dict[str, tuple[int, bool]] = {}
        wild: set[_Wildcard] = set()
        for allows, written in rules:
            pattern = _escaped(written)
            self._add(wild, allows, pattern)
            slash = pattern.rfind("/")
            if allows and slash >= 0 and pattern.startswith("/index.htm", slash):
                self._add(wild, allows, pattern[: slash + 1] + "$")
        self._wild = sorted(wild, key=lambda rule: rule.priority, reverse=True)
        self._lengths = sorted({len(text) for text in self._plain})

    def allows(self, url: str) -> bool:
        """Returns whether a URL may be fetched: the longest matching pattern decides, `Allow` among equals.

        Args:
            url: A whole URL, or its path and query. A fragment doesn't count.
        """
        if not self._lengths and not self._wild:
            return True
        path = _target(url)
        if path == "/robots.txt":
            return True
        best = (0, True)
        for length in self._lengths:
            if length > len(path):
                break
            hit = self._plain.get(path[:length])
            if hit is not None and hit > best:
                best = hit
        for rule in self._wild:
            if rule.priority <= best:
                break
            if rule.matches(path):
                return rule.priority[1]
        return best[1]

    def _add(self, wild: set[_Wildcard], allows: bool, pattern: str) -> None:  # noqa: FBT001 -- half of a rule
        if not pattern:
            return
        priority = (len(pattern), allows)
        anchored = pattern.endswith("$")
        body = pattern[:-1] if anchored else pattern
        head, *rest = (_forms(piece.replace("$", "%24")) for piece in body.split("*"))
        if rest or anchored:
            tail = rest.pop() if rest else ()
            wild.add(_Wildcard(priority, head[0], tuple(forms for forms in rest if forms != ("",)), tail, anchored))
        elif self._plain.get(head[0], (0, False)) < priority:
            self._plain[head[0]] = priority


def clip(body: bytes) -> bytes:
    """Returns the part of a file that is parsed: every line that begins in its first 500 KiB.

    A file whose byte order mark says UTF-16, as some editors write it, is returned as UTF-8 (RFC 9309 knows no other).
    """
    if body.startswith((BOM_UTF16_LE, BOM_UTF16_BE)):
        body = body.decode("utf-16", "replace").encode("utf-8", "replace")
    if len(body) <= MAX_FILE_BYTES:
        return body
    rest = body[MAX_FILE_BYTES : MAX_FILE_BYTES + MAX_LINE_BYTES]
    ends = [at for at in (rest.find(b"\n"), rest.find(b"\r")) if at >= 0]
    return body[: MAX_FILE_BYTES + min(ends, default=len(rest))]


class RuleGroup(NamedTuple):
    """What a file says for one crawler.

    Attributes:
        rules: For each rule, whether it allows, and its pattern as in the file, decoded as Latin-1.
        crawl_delay_s: Its Crawl-delay in seconds, not bounded; 0: none.
    """

    rules: list[tuple[bool, str]]
    crawl_delay_s: float

    def lines(self) -> list[str]:
        """Returns its lines as people read them."""
        lines = [f"{'Allow' if allows else 'Disallow'}: {_readable(pattern)}" for allows, pattern in self.rules]
        return [*lines, f"Crawl-delay: {self.crawl_delay_s:g}"] if self.crawl_delay_s else lines


def parse(body: bytes, agent: str) -> Rules:
    """Parses a file's rules for one crawler, as `group_for` finds them; so are the arguments."""
    return Rules(*group_for(body, agent))


def group_for(body: bytes, agent: str) -> RuleGroup:
    """Returns a file's rules for one crawler: those of all groups that name it, else those of all groups for `*`.

    Lines that aren't valid are skipped, whatever bytes they have.

    Args:
        body: The file as received. What `clip` cuts off is ignored.
        agent: The crawler's product token (see `product_token`), in any case.
    """
    token = agent.partition("/")[0].strip().encode("utf-8", "replace").decode("latin-1").lower()
    # A worked file, for the crawler `headroom`; after each line: whom a rule and a Crawl-delay then apply to.
    #   User-agent: *           all, all
    #   Crawl-delay: 5          all, all          5 s for all
    #   User-agent: headroom    us, us            no rule since `*`: still one list for rules, but a new one for delays
    #   Disallow: /a            us, us            /a for us
    #   User-agent: other       nobody, nobody    a rule has ended both lists
    #   Disallow: /b            nobody, nobody
    # The file names us, so what it says for us counts: /a is disallowed, and there is no Crawl-delay.
    rules: tuple[list[tuple[bool, str]], ...] = ([], [], [])  # by the agents that they apply to
    delays_s = [0.0, 0.0, 0.0]  # by the agents that they apply to
    file_agents = _ALL  # the most specific agents that the file names
    rule_agents = delay_agents = _NOBODY  # the agents that a rule and a Crawl-delay at this line apply to
    has_rule = has_delay = False  # whether a rule and a Crawl-delay came since the last user-agent line
    for key, value in _fields(body):
        if key.startswith(_AGENT_KEYS):
            agents = _agents_of(value, token)
            rule_agents = max(_NOBODY if has_rule else rule_agents, agents)
            delay_agents = max(_NOBODY if has_rule or has_delay else delay_agents, agents)
            file_agents = max(file_agents, agents)
            has_rule = has_delay = False
        elif key.startswith(_RULE_KEYS):
            has_rule = True
            rules[rule_agents].append((key.startswith("allow"), value))
        elif key == "crawl-delay":
            has_delay = True
            if _DELAY.fullmatch(value):
                delays_s[delay_agents] = max(delays_s[delay_agents], float(value))
    return RuleGroup(rules[file_agents], delays_s[file_agents])


def product_token(user_agent: str) -> str:
    """Returns the name of a crawler in robots.txt by its User-Agent: `headroom` of `headroom/1.0 (+https://...)`."""
    word = _WORD.match(user_agent.strip())
    return word[0] if word else ""


def robot_name(settings: Mapping[str, Any]) -> str:
    """Returns the name of the crawler with these settings, by which robots.txt files and pages may call it."""
    return product_token(config.ROBOTSTXT_USER_AGENT.of(settings) or config.USER_AGENT.of(settings))


def _readable(pattern: str) -> str:
    return pattern.encode("latin-1").decode("utf-8", "replace")


def _fields(body: bytes) -> Iterator[tuple[str, str]]:
    """Yields the key, in lower case, and the value of each line that has them, decoded as Latin-1."""
    text = clip(body).decode("latin-1")
    start = 0
    while start < len(_BOM) and text[start : start + 1] == _BOM[start]:
        start += 1
    for match in _LINE.finditer(text, start):
        line = match[0][:MAX_LINE_BYTES].partition("\0")[0].partition("#")[0].strip(_WHITE)
        key, colon, value = line.partition(":")
        if not colon:
            words = re.split(r"[ \t]+", line, maxsplit=2)
            if len(words) != 2:  # noqa: PLR2004 -- key and value
                continue
            key, value = words
        yield key.strip(_WHITE).lower(), value.strip(_WHITE)


def _agents_of(value: str, token: str) -> int:
    """Returns the agents that a user-agent line names; the token may be there as a product token or as a whole word."""
    if value.startswith("*") and value[1:2].strip(_WHITE) == "":
        return _ALL
    value = value.lower()
    names = token != "" and token in (_TOKEN.match(value)[0], _WORD.match(value)[0])  # type: ignore[index]  # both match ""
    return _US if names else _NOBODY


def _escaped(text: str) -> str:
    """Returns Latin-1 text with all escapes that are needed, in capitals, and no others."""
    return _ESCAPE.sub(_escape, text)


def _escape(octet: re.Match[str]) -> str:
    if len(octet[0]) == 1:
        return f"%{ord(octet[0]):02X}"
    character = chr(int(octet[0][1:], 16))
    return character if character in _UNESCAPED else octet[0].upper()


def _forms(piece: str) -> tuple[str, ...]:
    """Returns how a piece of a pattern looks if it begins in the path and, if that differs, within the query."""
    path, mark, query = piece.partition("?")
    within = _slashes_marked(piece)
    begins = path + mark + _slashes_marked(query)
    return (within,) if begins == within else (begins, within)


def _slashes_marked(query: str) -> str:
    return query.replace("%2F", "/").replace("/", _QUERY_SLASH)


def _target(url: str) -> str:
    """Returns a URL's path and query in the form that patterns are compared with."""
    authority = _AUTHORITY.match(url)
    assert authority is not None  # it matches the empty text
    before, rest = url[: authority.end()], url[authority.end() :].partition("#")[0]
    if "#" in before or not rest:
        return "/"
    path = rest if rest.startswith("/") else "/" + rest
    escaped = _escaped(path.encode("utf-8", "replace").decode("latin-1"))
    return _forms(escaped.replace("*", "%2A").replace("$", "%24"))[0]
