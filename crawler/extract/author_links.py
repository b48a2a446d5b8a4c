"""Names in links to all that one author wrote, told by the addresses of these links from other words.

Such a link may say `View all posts` just as well, and what an icon of a person stands before may be `My account`.
"""

from __future__ import annotations

import re
import unicodedata
from itertools import permutations
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from crawler.extract.declared import folded

if TYPE_CHECKING:
    from collections.abc import Iterator

    from turbohtml import Element

MAX_SLUG_CHARACTERS = 200  # of the end of an address
MAX_WIDE_CHARACTERS = 12  # of a name in Chinese, Japanese or Korean

# The path of all that one author wrote, with the author's name at its end.
_is_author_page = re.compile(
    r"(?:/.*)?/(?:authors?|auteurs?|autore?s?|autor(?:in|en))/([^/]+)/?", re.IGNORECASE
).fullmatch
# Words of links and labels that stand where a name might, folded; a name with one of them is none.
_NOT_OF_NAMES = frozenset(
    """about account accounts adults all alle archive archives article articles artikel author authors autor autoren
    autores beginners beitr\u00e4ge biography by children compte contact contributors cuenta everyone families follow
    for from guests guideline guidelines instructions kids konto login mehr member members membership membres miembros
    mitglied mitglieder more only posts profil profile profiles public register stories students submission submissions
    submit subscribers subscribe todas todos tous toutes users view visitors voir website""".split()
)
# Likewise where texts aren't split into words: see, all, more, article, page, submission, member, account, list.
_is_wide_label = re.compile(
    "\u67e5\u770b|\u5168\u90e8|\u6240\u6709|\u66f4\u591a|\u6587\u7ae0|\u4e3b\u9875|\u4e3b\u9801|\u6295\u7a3f|\u5e16\u5b50"
    "|\u6307\u5357|\u987b\u77e5|\u9808\u77e5|\u4e13\u680f|\u5c08\u6b04|\u4f1a\u5458|\u6703\u54e1|\u4f1a\u54e1|\u8d26\u53f7|\u5e33\u865f"
    "|\u6211\u7684|\u4e2d\u5fc3|\u8d44\u6599|\u8cc7\u6599|\u8bb0\u4e8b|\u8a18\u4e8b|\u4e00\u89a7|\u898b\u308b|\u898f\u7d04"
    "|\u30d7\u30ed\u30d5\u30a3\u30fc\u30eb|\u30de\u30a4\u30da\u30fc\u30b8|\ub354\ubcf4\uae30|\ubaa9\ub85d|\uae00|\ud504\ub85c\ud544|\ud68c\uc6d0"
).search
_VISITORS_WORDS = frozenset({"my", "our", "your"})  # with which a label begins
# Words in small letters within names.
_PARTICLES = frozenset(
    """af al and av ben bin d da das de dei del della den der di do dos du e el en et i ibn l la le och of og ten ter
    und van vom von y zu zum zur""".split()
)
_words = re.compile(r"[^\W\d_]+").findall
_has_wide = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3]").search
_UMLAUTS = str.maketrans({"\u00e4": "ae", "\u00f6": "oe", "\u00fc": "ue"})  # as addresses have them
_PLAIN_LETTERS = str.maketrans(
    {"\u00f8": "o", "\u0142": "l", "\u0111": "d", "\u00e6": "ae", "\u0153": "oe", "\u0131": "i"}
)


def slug_of_author(link: Element) -> str:
    """Returns the end of the address of all that one author wrote, to which a link with a text leads; else nothing."""
    try:
        path = urlsplit(link.attr("href") or "").path
    except ValueError:
        return ""
    page = _is_author_page(path) if link.text.strip() else None
    slug = unquote(page[1])[:MAX_SLUG_CHARACTERS].casefold() if page is not None else ""
    words = _words(slug)
    return "" if words and _NOT_OF_NAMES.issuperset(words) else slug


def is_named_by(name: str, slug: str) -> bool:
    """Returns whether the words of a link are a name by the end of the address to which it leads.

    That has one of them, or several together as in `dnguyen`; of a name in other letters, it may have none.
    """
    words, own = _words(name.casefold()), set(_words(slug))
    if not words or not _NOT_OF_NAMES.isdisjoint(words) or _is_wide_label(name) is not None:
        return False
    has_all = folded(_plain(name)) == folded(_plain(slug))
    if not has_all and not own.issuperset(_small_words(name)):
        return False
    plain_slug = {*own, *_words(_plain(slug))}
    variants = (_words(_plain(one)) for one in (name.casefold(), name.casefold().translate(_UMLAUTS)))
    if has_all or not own.isdisjoint(words) or any(not plain_slug.isdisjoint(_together(one)) for one in variants):
        return True
    if any(map(str.isascii, words)) or any(map(str.isascii, _words(_plain(name)))) or not slug.isascii():
        return False
    if _has_wide(name) is not None:
        return len(name) <= MAX_WIDE_CHARACTERS
    return len(words) > 1 and any(map(str.isupper, name))


def _small_words(name: str) -> list[str]:
    """Returns the words of a name in small letters, but for those that names have, such as `van`."""
    words = (_words(one) for one in name.split())
    return [one[0] for one in words if one and one[0][0].islower() and one[0] not in _PARTICLES]


def _together(words: list[str]) -> Iterator[str]:
    """Yields what the address of somebody may have of a name: its words, two of them, or one with an initial."""
    yield from (one for one in words if len(one) > 1 and one not in _PARTICLES)
    for one, other in permutations(words, 2):
        yield from (one + other, one[0] + other, one + other[0])


def _plain(words: str) -> str:
    """Returns words in small letters without accents, as addresses have them."""
    parts = unicodedata.normalize("NFKD", words.casefold().translate(_PLAIN_LETTERS))
    return unicodedata.normalize("NFC", "".join(one for one in parts if not unicodedata.combining(one)))


def looks_like_name(name: str) -> bool:
    """Returns whether what an icon stands before is a name by its looks, and not `My account` or `For beginners`."""
    words = _words(name)
    folded_words = [one.casefold() for one in words]
    if not words or not _NOT_OF_NAMES.isdisjoint(folded_words) or _is_wide_label(name) is not None:
        return False
    is_phrase = len(words) > 1 and bool(_small_words(name))
    return not is_phrase and folded_words[0] not in _VISITORS_WORDS
