"""Every word that the ledger counts pages by, and what it means: for `scrapy ledger --help` and other help texts.

`tests/cli/test_ledger_words.py` holds both tables against the code that says the words, in Python and in Lua.
"""

from __future__ import annotations

import re
import textwrap

# Why a page failed, or why it was tried again: what is said of the page, after the word.
REASONS = {
    # What was asked for isn't allowed, or can't be asked for.
    "robots": "its host's robots.txt forbids it to crawlers",
    "robots-unreachable": "its host's robots.txt can't be read, so nothing there may be fetched",
    "robots-elsewhere": "its host's robots.txt is on another host, which was too busy to be asked for it",
    "private-address": "it is on a private address; ALLOW_PRIVATE_ADDRESSES=1 crawls those",
    "unsupported-scheme": "its address, or that of its proxy, is of a kind that isn't fetched",
    "bad-url": "its address is none that a browser would open",
    "out-of-scope": "a followed link led to it, and it redirects to what its site's `follow` doesn't allow",
    "script-route": "it redirects to an address that only a browser's script can open",
    "bad-redirect": "it redirects to nothing, or to what is no web address",
    "too-many-redirects": "it redirects further and further",
    "unknown-site": "the definition of its site isn't in Redis; submit its plan again",
    "ignored": "code of this crawler's project refused its request (IgnoreRequest)",
    "request-dropped": "code of this crawler's project dropped its request, or sent another in its place",
    # No answer came, or none that is one.
    "dns": "its host's name can't be resolved",
    "connection-refused": "its host takes no connections",
    "connection": "the connection to its host failed, or was cut off before an answer",
    "timeout": "its host took longer than DOWNLOAD_TIMEOUT",
    "tls": "its host's certificate, or what it says in TLS, can't be trusted",
    "left-alone": "its host asked for a pause, or kept failing, while more of the page was to be fetched",
    "page-timeout": "it took longer than PAGE_SECONDS, with all that it fetches",
    "truncated": "the answer ended before its end",
    "bad-response": "what came is no HTTP",
    "bad-headers": "the answer's headers are too many or too long",
    "bad-encoding": "the answer isn't encoded as it says",
    "too-large": "it is larger than DOWNLOAD_MAXSIZE, or than a reader takes",
    "http-206": "its host answers with a part of it, which nobody asked for",
    "download-error": "its download failed by an error that isn't known here; the log has it",
    "out-of-memory": "a worker got no memory for it, again and again",
    # It came, and can't be rendered (docs/rendering.md).
    "browser-died": "the browser that rendered it died, alone with it",
    "page-crashed": "it brought its process in the browser to an end, or took more of it than a page may",
    "render-timeout": "its scripts run on and on, or what they load takes too long",
    "step-failed": "a step of its site's file can't be done on it; scrapy site check --render says which",
    "render-error": "the browser can't show it",
    "no-document": "a browser shows no document for it, such as of a download",
    "not-asked-by-pages": "its scripts lead it on by sending a form, which isn't done",
    "no-turn": "another host that its scripts load from was too busy",
    "incomplete-page": "it lacks data or scripts that couldn't be had, and has no results",
    # What came can't be read.
    "empty-body": "the answer was empty",
    "not-html": "it isn't HTML",
    "not-feed": "it is no RSS, Atom or JSON feed",
    "not-sitemap": "it is neither a sitemap nor an index of sitemaps",
    "not-json": "it isn't JSON",
    "not-text": "it isn't text",
    "not-results": "neither results nor the site's sign for none; scrapy site check SITE URL shows what is read",
    "no-xhr": "it loaded no JSON that the site's `from` names; scrapy site check SITE URL shows what it loads",
    "no-content": "the site's selectors found nothing on it; scrapy site check SITE URL shows what they read",
    "login": "it is a login, or its host sent us on to one; a session in the site's `cookies` may open what is behind",
    "no-page": "the site's parser says that it is none, without a word for why",
    "too-many-tags": "it has more tags than are read",
    "too-many-attributes": "a tag in it has more attributes than are read",
    "too-deep": "its tags are nested deeper than is read",
    "parser-error": "the site's parser raised an error, or returned something else than fields; the log has it",
    "parser-refused": "the module of the site's parser isn't in PARSER_MODULES",
    "callback-error": "the spider's code raised an error; the log has it",
    # What was read can't be delivered.
    "dropped": "a pipeline dropped its item, without a word for why",
    "pipeline-error": "a pipeline raised an error; the log has it",
    "rejected": "a sink refuses its item, without a word for why",
    "bad-site-name": "its item names a site in another way than sites may be called",
    "not-encodable": "its item can't be written as JSON",
    "message-too-large": "its item is larger than Kafka takes",
    "document-too-large": "its item is larger than Mongo takes",
    "no-file": "no file can be made for its item in ITEMS_DIR, though others can; the log has why",
    "refused-by-kafka": "Kafka refuses its item, and takes others",
    "refused-by-mongo": "Mongo refuses its item, and takes others",
    "refused-by-sink": "a sink refuses its item, and takes others; the log has its words",
    # What an operator did, or became of the worker.
    "cancelled": "its plan was cancelled before it was crawled",
    "replaced": "its plan was replaced before it was crawled",
    "deleted": "its plan was deleted",
    "crashed-worker": "worker after worker died with it",
    "damaged": "what Redis holds of it isn't a page",
    "unknown": "Redis has lost why",
}
# What is counted beside the states of pages.
NOTES = {
    "retried": "tried in vain, and ready again",
    "reclaimed": "taken back from a worker whose session had lapsed",
    "redirected": "finished, since the page moved to another host, where it is a page of its own",
    "list-page": "finished, and no item: pages that only lead on, by their sites' `follow.items`",
    "past-the-end": "search pages that weren't asked for, since one before them was the last with anything new",
    "not-asked": "search pages that weren't asked for, since the two before them failed; retried, those lead on",
    "script-route": "links that only a browser's script can open, not offered",
    "over-budget": "followed links beyond what a host takes (`per_host` of its site), not offered",
    "visits": "of a plan with a schedule: times that pages were visited",
    "missed": "of a plan with a schedule: visits whose tries were all in vain",
    "waiting": "of a plan with a schedule: ready pages that wait for their next visit",
    "parked": "ready pages of a plan that is paused",
    "junk": "counts in Redis that are no numbers, and can't be shown",
}
# What `finished` means for whoever wants a page once more.
FINISHED_PAGES = (
    "A finished page isn't fetched again: a further plan that wants it is told of its item, and has it fetched once "
    "more only if it led to further pages, or its item lacks something. To have a page again all the same, give its "
    "site another name (a copy of its file, with that name in it) and offer the page or submit the plan to that: sites "
    "don't share pages, and its item then comes with another `id`. Search pages of a plan with a `schedule` are "
    "visited again by themselves."
)
_STATUS = re.compile(r"http-(\d{3})")
_WORD_CHARACTERS = 22  # width of the column of words; the longest has 19
_SERVER_ERRORS = "5"


def meaning(reason: str) -> str:
    """Returns what a reason says of a page; empty for a word of a user's parser or pipeline."""
    if reason not in REASONS and (status := _STATUS.fullmatch(reason)):
        kind = "its host is in trouble" if status[1].startswith(_SERVER_ERRORS) else "there is no such page for us"
        return f"its host answers with status {status[1]}: {kind}"
    return REASONS.get(reason, "")


def legend(width: int) -> str:
    """Returns all words with their meanings, as lines of at most so many characters."""
    listed = {"http-NNN": "its host answers with this status, such as http-404"} | REASONS
    own = "Other words are those of your own parsers and pipelines. scrapy seeds list --reason WORD shows the pages."
    parts = [
        "Words after `failed`, and why pages are tried again",
        *_lines(listed, width),
        "",
        *textwrap.wrap(own, width),
        "",
        "Words after `besides`",
        *_lines(NOTES, width),
    ]
    return "\n".join(parts)


def _lines(words: dict[str, str], width: int) -> list[str]:
    lines = []
    for word, text in words.items():
        head = f"  {word}".ljust(_WORD_CHARACTERS)
        lines += textwrap.wrap(text, width, initial_indent=head, subsequent_indent=" " * _WORD_CHARACTERS)
    return lines
