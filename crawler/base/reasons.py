"""The words that the ledger and the statistics count pages by, each with what it says of a page.

Workers and Lua say them; Redis, statistics and JSON hold the words alone. `scrapy ledger --help` explains those of the
ledger (`crawler/cli/ledger_words.py:legend`).
"""

from __future__ import annotations

import re
from typing import Self

MAX_REASON_CHARACTERS = 40  # a reason is the name of a field in the ledger
_NOT_OF_A_WORD = re.compile(r"[^a-z0-9-]+")
SCOPE = "scope-"  # before the name of a filter
TRAP = "trap-"  # with which the names of traps begin
BUDGET = "budget-"  # before the name of a bound of a plan's budget
_FIRST_SERVER_ERROR = 500


class _Word(str):
    """A short hyphenated word that knows what it means.

    Attributes:
        meaning: What is said of the page, or of the pages that are counted; empty for a user's own word.
    """

    __slots__ = ("meaning",)
    meaning: str

    def __new__(cls, word: str, meaning: str = "") -> Self:
        """Makes a word of what its attribute is."""
        self = super().__new__(cls, word)
        self.meaning = meaning
        return self


class Reason(_Word):
    """Why a page failed, or why it was tried again."""

    __slots__ = ()


class HandBack(Reason):
    """Why a seed is given back untried: a word for statistics, which the ledger doesn't count."""

    __slots__ = ()


class Note(_Word):
    """What the ledger counts beside the states of pages."""

    __slots__ = ()


# What was asked for isn't allowed, or can't be asked for.
ROBOTS = Reason("robots", "its host's robots.txt forbids it to crawlers")
ROBOTS_UNREACHABLE = Reason(
    "robots-unreachable", "its host's robots.txt can't be read, so nothing there may be fetched"
)
ROBOTS_ELSEWHERE = Reason(
    "robots-elsewhere", "its host's robots.txt is on another host, which was too busy to be asked for it"
)
PRIVATE_ADDRESS = Reason("private-address", "it is on a private address; ALLOW_PRIVATE_ADDRESSES=1 crawls those")
UNSUPPORTED_SCHEME = Reason("unsupported-scheme", "its address, or that of its proxy, is of a kind that isn't fetched")
BAD_URL = Reason("bad-url", "its address is none that a browser would open")
OUT_OF_SCOPE = Reason(
    "out-of-scope", "a followed link led to it, and it redirects to what its site's `follow` doesn't allow"
)
SCRIPT_ROUTE = Reason("script-route", "it redirects to an address that only a browser's script can open")
BAD_REDIRECT = Reason("bad-redirect", "it redirects to nothing, or to what is no web address")
TOO_MANY_REDIRECTS = Reason("too-many-redirects", "it redirects further and further")
ALL_TO_ONE = Reason("all-to-one", "it redirects, not for good, to a page to which many others do, such as a notice")
UNKNOWN_SITE = Reason("unknown-site", "the definition of its site isn't in Redis; submit its plan again")
IGNORED = Reason("ignored", "code of this crawler's project refused its request (IgnoreRequest)")
REQUEST_DROPPED = Reason(
    "request-dropped", "code of this crawler's project dropped its request, or sent another in its place"
)

# It may be part of a trap (docs/analyst.md), beyond what `TRAP_LINKS` allows. `scrapy seeds retry` tries it
# again, after its plan was submitted with `--replace` or with a larger `TRAP_LINKS`.
TRAP_DUPLICATE = Reason(
    "trap-duplicate", "its address has `//` or `index.html`, as others have whose pages say nothing new"
)
TRAP_VARIANT = Reason("trap-variant", "it is for printing, sorting, sharing or answering another page, as too many are")
TRAP_SESSION = Reason("trap-session", "its address has the id of a session, as too many have")
TRAP_CALENDAR = Reason("trap-calendar", "its address has a date, as others have whose pages say nothing new")
TRAP_FACETS = Reason("trap-facets", "its address has several parameters, as others have whose pages say nothing new")
TRAP_TEMPLATE = Reason("trap-template", "it has a kind of address whose pages say nothing new")
TRAP_SAME_TEXT = Reason("trap-same-text", "it was linked from pages that say the same as others, as soft 404s do")
TRAP_MIRROR = Reason("trap-mirror", "its host says the same as another one")

# A budget has no room for it; other words are those of `budget_reason`.
BUDGET_FOLLOW = Reason(
    "budget-follow", "a followed link led to it, and `per_host` of its plan's or site's `follow` has no room for it"
)

# No answer came, or none that is one.
DNS = Reason("dns", "its host's name can't be resolved")
CONNECTION_REFUSED = Reason("connection-refused", "its host takes no connections")
CONNECTION = Reason("connection", "the connection to its host failed, or was cut off before an answer")
TIMEOUT = Reason("timeout", "its host took longer than DOWNLOAD_TIMEOUT")
TLS = Reason("tls", "its host's certificate, or what it says in TLS, can't be trusted")
LEFT_ALONE = Reason(
    "left-alone", "its host asked for a pause, or kept failing, while more of the page was to be fetched"
)
PAGE_TIMEOUT = Reason("page-timeout", "it took longer than PAGE_SECONDS, with all that it fetches")
TRUNCATED = Reason("truncated", "the answer ended before its end")
BAD_RESPONSE = Reason("bad-response", "what came is no HTTP")
BAD_HEADERS = Reason("bad-headers", "the answer's headers are too many or too long")
BAD_ENCODING = Reason("bad-encoding", "the answer isn't encoded as it says")
TOO_LARGE = Reason("too-large", "it is larger than DOWNLOAD_MAXSIZE, or than a reader takes")
PARTIAL_CONTENT = Reason("http-206", "its host answers with a part of it, which nobody asked for")
DOWNLOAD_ERROR = Reason("download-error", "its download failed by an error that isn't known here; the log has it")
OUT_OF_MEMORY = Reason("out-of-memory", "a worker got no memory for it, again and again")

# It came, and can't be rendered (docs/rendering.md).
BROWSER_DIED = Reason("browser-died", "the browser that rendered it died, alone with it")
PAGE_CRASHED = Reason(
    "page-crashed", "it brought its process in the browser to an end, or took more of it than a page may"
)
RENDER_TIMEOUT = Reason("render-timeout", "its scripts run on and on, or what they load takes too long")
STEP_FAILED = Reason(
    "step-failed", "a step of its site's file can't be done on it; scrapy site check --render says which"
)
RENDER_ERROR = Reason("render-error", "the browser can't show it")
NO_DOCUMENT = Reason("no-document", "a browser shows no document for it, such as of a download")
NOT_ASKED_BY_PAGES = Reason("not-asked-by-pages", "its scripts lead it on by sending a form, which isn't done")
NO_TURN = Reason("no-turn", "another host that its scripts load from was too busy")
INCOMPLETE_PAGE = Reason("incomplete-page", "it lacks data or scripts that couldn't be had, and has no results")

# What came can't be read.
EMPTY_BODY = Reason("empty-body", "the answer was empty")
NOT_HTML = Reason("not-html", "it isn't HTML")
NOT_FEED = Reason("not-feed", "it is no RSS, Atom or JSON feed")
NOT_SITEMAP = Reason("not-sitemap", "it is neither a sitemap nor an index of sitemaps")
NOT_JSON = Reason("not-json", "it isn't JSON")
NOT_TEXT = Reason("not-text", "it isn't text")
NOT_RESULTS = Reason(
    "not-results", "neither results nor the site's sign for none; scrapy site check SITE URL shows what is read"
)
NO_XHR = Reason(
    "no-xhr", "it loaded no JSON that the site's `from` names; scrapy site check SITE URL shows what it loads"
)
NO_CONTENT = Reason(
    "no-content", "the site's selectors found nothing on it; scrapy site check SITE URL shows what they read"
)
LOGIN = Reason(
    "login", "it is a login, or its host sent us on to one; a session in the site's `cookies` may open what is behind"
)
NAMES_ANOTHER = Reason(
    "names-another",
    "it names another page as the one to index, which is to be crawled before; at its last try it is taken",
)
NOINDEX = Reason(
    "noindex",
    "it asks robots not to index it, which plans with `start` or `follow` heed, others by the setting ROBOTS_META_OBEY",
)
LACKS_WORDS = Reason("lacks-words", "its text has all words of no combination of the plan, which `match_text` asks for")
NO_PAGE = Reason("no-page", "the site's parser says that it is none, without a word for why")
TOO_MANY_TAGS = Reason("too-many-tags", "it has more tags than are read")
TOO_MANY_ATTRIBUTES = Reason("too-many-attributes", "a tag in it has more attributes than are read")
TOO_DEEP = Reason("too-deep", "its tags are nested deeper than is read")
PARSER_ERROR = Reason(
    "parser-error", "the site's parser raised an error, or returned something else than fields; the log has it"
)
PARSER_REFUSED = Reason("parser-refused", "the module of the site's parser isn't in PARSER_MODULES")
CALLBACK_ERROR = Reason("callback-error", "the spider's code raised an error; the log has it")

# What was read can't be delivered.
DROPPED = Reason("dropped", "a pipeline dropped its item, without a word for why")
PIPELINE_ERROR = Reason("pipeline-error", "a pipeline raised an error; the log has it")
REJECTED = Reason("rejected", "a sink refuses its item, without a word for why")
BAD_SITE_NAME = Reason("bad-site-name", "its item names a site in another way than sites may be called")
NOT_ENCODABLE = Reason("not-encodable", "its item can't be written as JSON")
MESSAGE_TOO_LARGE = Reason("message-too-large", "its item is larger than Kafka takes")
DOCUMENT_TOO_LARGE = Reason("document-too-large", "its item is larger than Mongo takes")
NO_FILE = Reason("no-file", "no file can be made for its item in ITEMS_DIR, though others can; the log has why")
REFUSED_BY_KAFKA = Reason("refused-by-kafka", "Kafka refuses its item, and takes others")
REFUSED_BY_MONGO = Reason("refused-by-mongo", "Mongo refuses its item, and takes others")
REFUSED_BY_SINK = Reason("refused-by-sink", "a sink refuses its item, and takes others; the log has its words")

# What an operator did, or became of the worker.
CANCELLED = Reason("cancelled", "its plan was cancelled before it was crawled")
REPLACED = Reason("replaced", "its plan was replaced before it was crawled")
DELETED = Reason("deleted", "its plan was deleted")
CRASHED_WORKER = Reason("crashed-worker", "worker after worker died with it")
DAMAGED = Reason("damaged", "what Redis holds of it isn't a page")
LOW_YIELD = Reason("low-yield", "a search page that wasn't asked for: it would bring less than `least_new` of its plan")
UNKNOWN = Reason("unknown", "Redis has lost why")

# Why seeds are given back untried.
BETTER_FIRST = HandBack("better-first", "a search page that comes later, since others are expected to bring more")
STOPPED = HandBack("stopped", "its worker stops, or need not hold it now")
FOLLOWS = HandBack("follows", "a delivered page leads on, so that it is fetched instead of told of")
MATCHES_TEXT = HandBack(
    "matches-text", "a delivered page is fetched instead of told of, since its plan looks for words"
)
NO_SESSION = HandBack("no-session", "the session of its worker has lapsed")
UNAVAILABLE = HandBack("unavailable", "a server that its worker needs, such as Redis, was away")
SINK_UNAVAILABLE = HandBack("sink-unavailable", "a sink was away while its worker stopped, or for long")
UNREAD_SITE = HandBack("unread-site", "Redis didn't say what its site is")
SURPLUS_TURN = HandBack("surplus-turn", "its host had no turn left that counts; nothing was sent")
ROBOTS_NOT_ASKED = HandBack("robots-not-asked", "an error of its worker kept robots.txt from being asked for")
NODE_LACKS = HandBack("node-lacks", "its node has none left of what the request needs, such as file descriptors")
NO_EGRESS = HandBack("no-egress", "no host at all answers its node")
NETWORK_LOGIN = HandBack("network-login", "the network of its node asks for a login; other hosts may answer")
PROXY_REFUSES = HandBack("proxy-refuses", "its node's proxy refused it; another node may get it")
TLS_DOUBTED = HandBack(
    "tls-doubted", "its node has no TLS with the host, maybe by its own clock or authorities; another node may"
)
NO_BROWSER = HandBack("no-browser", "its worker has no browser; another one may")
NO_SECRET = HandBack("no-secret", "its worker lacks a secret of the site; another one may have it")

# What is counted beside the states of pages.
RETRIED = Note("retried", "tried in vain, and ready again")
RECLAIMED = Note("reclaimed", "taken back from a worker whose session had lapsed")
REDIRECTED = Note("redirected", "finished, since the page moved to another host, where it is a page of its own")
MOVED = Note("moved", "finished, since the page redirects to another one of its host, which is crawled in its place")
CHANGED_TARGET = Note(
    "changed-target", "finished again, as another plan asks for them: pages that led elsewhere the last time"
)
LIST_PAGE = Note(
    "list-page",
    "finished, and no item: pages that only lead on, by their site's `follow.items` or their plan's `follow`",
)
PAST_THE_END = Note(
    "past-the-end", "search pages that weren't asked for, since one before them was the last with anything new"
)
NOT_ASKED = Note(
    "not-asked", "search pages that weren't asked for, since the two before them failed; retried, those lead on"
)
LOW_YIELD_PAGES = Note("low-yield-pages", "search pages that weren't asked for, since one before them is `low-yield`")
CANONICAL = Note(
    "canonical", "finished, and no item: pages that name another one of the plan as the page to index, offered instead"
)
NOFOLLOW = Note("nofollow", "links that pages ask robots not to follow, not offered")
UNOPENED_SCRIPT_ROUTES = Note("script-route", "links that only a browser's script can open, not offered")
OVER_BUDGET = Note("over-budget", "followed links beyond those that fail as `budget-follow`, not offered")
OVER_ERROR_BUDGET = Note(
    "over-error-budget",
    "links of which only filters of finished pages could tell, which err more often than DEDUP_ERROR_RATE, not offered",
)
TRAP_LONG = Note("trap-long", "links with addresses of over 2,000 characters, not offered")
TRAP_DEEP = Note("trap-deep", "links with paths of over 20 segments, not offered")
TRAP_REPEATED = Note("trap-repeated", "links with paths that repeat themselves, such as /a/b/a/b/a/b/, not offered")
VISITS = Note("visits", "of a plan with a schedule: times that pages were visited")
MISSED = Note("missed", "of a plan with a schedule: visits whose tries were all in vain")
WAITING = Note("waiting", "of a plan with a schedule: ready pages that wait for their next visit")
PARKED = Note("parked", "ready pages of a plan that is paused")
JUNK = Note("junk", "counts in Redis that are no numbers, and can't be shown")

_WORDS = tuple(value for value in list(globals().values()) if isinstance(value, _Word))
REASONS: dict[str, Reason] = {word: word for word in _WORDS if type(word) is Reason}  # those of the ledger
NOTES: dict[str, Note] = {word: word for word in _WORDS if isinstance(word, Note)}


def status_reason(status: int) -> Reason:
    """Returns the reason of a page whose host answers with an HTTP status that brings none, such as `http-404`."""
    kind = "its host is in trouble" if status >= _FIRST_SERVER_ERROR else "there is no such page for us"
    reason = Reason(f"http-{status}", f"its host answers with status {status}: {kind}")
    return REASONS.get(reason, reason)


def scope_note(name: str) -> Note:
    """Returns what pages are counted by that weren't offered, since a filter of their plan's scope refuses them."""
    return Note(f"{SCOPE}{name}", f"addresses that `{name}` of their plan's scope refuses, not offered")


def scope_reason(name: str) -> Reason:
    """Returns the reason of a page that a filter of its plan's scope refuses once more is known of it."""
    return Reason(f"{SCOPE}{name}", f"`{name}` of its plan's scope refuses it")


def budget_reason(name: str) -> Reason:
    """Returns the reason of a page for which a bound of its plan's budget has no room."""
    return Reason(f"{BUDGET}{name.replace('_', '-')}", f"`{name}` of its plan's budget has no room for it")


def own_reason(text: str, default: Reason) -> Reason:
    """Returns a text of a user's parser, sink or pipeline as a reason; `default` if nothing is left of it."""
    word = _NOT_OF_A_WORD.sub("-", text.lower()).strip("-")[:MAX_REASON_CHARACTERS].strip("-")
    return REASONS.get(word) or (Reason(word) if word else default)
