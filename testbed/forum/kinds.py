"""How the pages of threads behave, and what a right crawl makes of them.

Most threads are `PLAIN`. Search results list the odd ones like any other, so that every crawl meets them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Kind:
    """A thread page's behaviour.

    Attributes:
        name: One word, unique.
        path: The path that search results link to; `{id}` stands for the thread's id.
        ending: How a right crawl ends the page's seed.
        reason: What the ledger says of that ending; empty where it says nothing.
        item: `equal`: an item with the thread's text; `some`: an item with some other text; `none`: no item.
    """

    name: str
    path: str
    ending: Literal["finish", "fail"] = "finish"
    reason: str = ""
    item: Literal["equal", "some", "none"] = "equal"


PLAIN = Kind("plain", "/thread/{id}")
API = Kind("api", "/api/thread/{id}")  # on the AJAX board results link to JSON, which needs no browser
PRIVATE = Kind("private", "/private/{id}", "fail", "robots", "none")  # answers, but robots.txt disallows it
SLOW = Kind("slow", "/slow/{id}")  # answers after a delay
GONE = Kind("gone", "/gone/{id}", "fail", "http-404", "none")
HEALING = Kind("healing", "/healing/{id}")  # 500 at its first request since the server's start, then 200
MOVED = Kind("moved", "/old/{id}", "finish", "moved", "none")  # 301 to /thread/ID on the same host, likewise
AWAY = Kind(
    "away", "/away/{id}", "finish", "redirected", "none"
)  # 302 to /thread/ID on another host, with the item there
GBK = Kind("gbk", "/gbk/{id}")  # in GBK, and the Content-Type header says so
GBK_META = Kind("gbk-meta", "/gbk-meta/{id}")  # in GBK, and only <meta> says so
MISLABELLED = Kind("mislabelled", "/mislabelled/{id}", item="some")  # UTF-8, but the header says GBK: mojibake
EMPTY = Kind("empty", "/empty/{id}", "fail", "empty-body", "none")  # 204: an empty answer, and meant
NOT_HTML = Kind("not-html", "/file/{id}.pdf", "fail", "not-html", "none")

ODD = (PRIVATE, SLOW, GONE, HEALING, MOVED, AWAY, GBK, GBK_META, MISLABELLED, EMPTY, NOT_HTML)
