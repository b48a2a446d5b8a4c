"""How the pages of threads may behave, and what a right crawl makes of each.

Most threads are `PLAIN`. The odd ones stand in the search results like any other, so every crawl meets them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Kind:
    """A thread page's behaviour.

    Attributes:
        name: One word, unique.
        path: Where the search results say that the thread is; `{id}` stands for the thread's id.
        ending: How a right crawl ends the seed.
        reason: Why, in the ledger's words; empty for a finish that needs none.
        item: `equal`: an item with the thread's text; `some`: an item whose text nobody can promise; `none`.
    """

    name: str
    path: str
    ending: Literal["finish", "fail"] = "finish"
    reason: str = ""
    item: Literal["equal", "some", "none"] = "equal"


PLAIN = Kind("plain", "/thread/{id}")
API = Kind("api", "/api/thread/{id}")  # the AJAX board: search results name the JSON, which needs no rendering
PRIVATE = Kind("private", "/private/{id}", "fail", "robots", "none")  # robots.txt disallows the folder; it would answer
SLOW = Kind("slow", "/slow/{id}")  # answers after the server's delay
GONE = Kind("gone", "/gone/{id}", "fail", "http-404", "none")
HEALING = Kind("healing", "/healing/{id}")  # 500 on the first request of each server process, then 200
MOVED = Kind("moved", "/old/{id}")  # 301 to /thread/ID on the same host
AWAY = Kind(
    "away", "/away/{id}", "finish", "redirected", "none"
)  # 302 to /thread/ID on another host, with the item there
GBK = Kind("gbk", "/gbk/{id}")  # in GBK, and the Content-Type header says so
GBK_META = Kind("gbk-meta", "/gbk-meta/{id}")  # in GBK, and only <meta> says so
MISLABELLED = Kind("mislabelled", "/mislabelled/{id}", item="some")  # UTF-8, but the header says GBK: mojibake
EMPTY = Kind("empty", "/empty/{id}", "fail", "empty-body", "none")  # 200 with no byte in it
NOT_HTML = Kind("not-html", "/file/{id}.pdf", "fail", "not-html", "none")

ODD = (PRIVATE, SLOW, GONE, HEALING, MOVED, AWAY, GBK, GBK_META, MISLABELLED, EMPTY, NOT_HTML)
