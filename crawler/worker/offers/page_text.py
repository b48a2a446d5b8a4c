"""What a page says, as hashes of its clauses: enough to tell whether it says anything that others haven't said."""

from __future__ import annotations

import re
from hashlib import blake2b

MAX_BYTES = 100_000  # of a page that are looked at
MAX_TEXT_BYTES = 10_000  # of its text likewise: what is new on it comes early, and this takes some 0.3 ms
MIN_CLAUSE_BYTES = 20  # shorter ones are names of buttons, months and columns
MAX_CLAUSES = 100  # of a page, for as many are looked up in one call: the first ones
MIN_URL_WORD_BYTES = 4
MAX_URL_WORDS = 20
# What is no text, or a link's: elements that aren't shown, comments, links with all in them, and other tags.
_NO_TEXT = re.compile(
    rb"<(?:(script|style|noscript|template|head)\b.*?(?:</\1|\Z)|!--.*?(?:-->|\Z)|a\b[^<]*(?:<(?!/?a\b)[^<]*)*|[^<>]*>?)",
    re.DOTALL | re.IGNORECASE,
)
_CLAUSE = re.compile(rb"[^\n.,;:!?()|\"]{%d,}" % MIN_CLAUSE_BYTES)
# Words with digits or slashes: numbers, dates, ids, addresses. They differ where nothing else does.
_VARYING = re.compile(rb"(?<![!-;=?-~])[!-.:;=?-~]*+[0-9/][!-;=?-~]*+")
_MAY_VARY = re.compile(rb"[0-9/]")
_URL_WORD = re.compile(rb"[a-z]{%d,}" % MIN_URL_WORD_BYTES)


def clauses_of(body: bytes, url: str) -> dict[int, int]:
    """Returns hashes of 64 bits of a page's clauses with their lengths in bytes; empty where it says next to nothing.

    Links are left out, which traps have as many of as they like; and numbers, dates and ids, and words of its own
    address, which pages of errors repeat.
    """
    lines = _NO_TEXT.sub(b"\n", body[:MAX_BYTES]).split(b"\n")
    text = b"\n".join(stripped for line in lines if (stripped := line.strip()))[:MAX_TEXT_BYTES]
    for word in _URL_WORD.findall(url.encode())[:MAX_URL_WORDS]:
        text = text.replace(word, b"")
    clauses: dict[int, int] = {}
    for found in _CLAUSE.findall(text):
        clause = b" ".join((_VARYING.sub(b"", found) if _MAY_VARY.search(found) else found).split())
        if len(clause) >= MIN_CLAUSE_BYTES:
            clauses[int.from_bytes(blake2b(clause, digest_size=8).digest(), "big")] = len(clause)
            if len(clauses) == MAX_CLAUSES:
                break
    return clauses
