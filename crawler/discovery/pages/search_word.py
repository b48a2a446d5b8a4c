"""Chooses a word to search for, where the analyst gives none: one that several links of a page have."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from crawler.discovery.pages.page import ParsedPage

NONSENSE = "xqzvwkjqpx"  # no page has it, so a search for it shows what a page without results looks like
_WORD = re.compile(r"[^\W\d_]{4,20}")
_IDEOGRAPHS = re.compile(r"[\u3400-\u9fff]{2,}")
# Words of menus and of every text; one that is missing here only makes a worse guess.
_USUAL = frozenset(
    """about account after also archive author back blog categories category click comment comments contact cookie
    cookies content demo feed first forgot forum from guest have help home hide index last latest license links list
    login logout main menu more news next page pages password popular powered privacy policy post posted posts previous
    privacy read recent register search share show sign site sitemap skip tags term terms that their this thread topic
    topics user users view wiki will with word your""".split()
)


def common(page: ParsedPage) -> str:
    """Returns a word that a search of the page's site should find; empty if no link has any."""
    counts: Counter[str] = Counter()
    texts = list(dict.fromkeys(anchor.text for anchor in page.anchors))
    for text in texts:
        spelt = [word for word in _WORD.findall(text) if word.isascii() and word.casefold() not in _USUAL]
        pairs = [run[at : at + 2] for run in _IDEOGRAPHS.findall(text) for at in range(len(run) - 1)]
        counts.update(list(dict.fromkeys([*spelt, *pairs])))  # in their order, which a set hasn't got
    best = max(counts.values(), default=0)
    # A word that is in nearly all links, such as a site's name, tells nothing. Among equals the first on the page wins.
    usable = [word for word, count in counts.items() if count <= max(2, len(texts) // 2)]
    return max(usable, key=lambda word: (counts[word], len(word)), default="") if best else ""
