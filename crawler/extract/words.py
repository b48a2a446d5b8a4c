"""Which combinations of a plan's words a text has."""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING

import re2

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

WORDS_MEMORY_BYTES = 32 << 20  # that RE2 may take to look for all words at once; 10,000 take half of it
# What nobody sees within a word, and half of what `İ` becomes in small letters, which is typed as `i`.
_unseen = re.compile("[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff]|(?<=i)\u0307")


class CombinationSearch:
    """Looks for all words of many combinations at once: in usual texts RE2 takes a twentieth of the time for it.

    A thousand texts of some hundred characters take a second with 10,000 combinations, whole articles a minute: the
    event loop is no place for many.

    Args:
        combinations: At most some 10,000.
    """

    def __init__(self, combinations: Sequence[tuple[str, ...]]) -> None:
        self._combinations = combinations
        self._comparable = {word: comparable(word) for words in combinations for word in words}
        options = re2.Options()
        options.literal, options.max_mem, options.log_errors = True, WORDS_MEMORY_BYTES, False
        self._set = re2.Set.SearchSet(options)
        self._always = self._set.Add(b"")  # is in every text; where it isn't found, RE2 had too little memory
        self._numbers = {self._set.Add(_utf8(form)): word for word, form in self._comparable.items()}
        try:
            self._set.Compile()
        except re2.error:  # RE2 had too little memory
            self._set = None

    def found_in(self, text: str) -> list[tuple[str, ...]]:
        """Returns the combinations of which a text has all words, in their order.

        Args:
            text: As `comparable` returned it.
        """
        present = self.words_in(text)
        return [words for words in self._combinations if present.issuperset(words)] if present else []

    def words_in(self, text: str) -> set[str]:
        """Returns the words of the combinations that a text has.

        Args:
            text: As `comparable` returned it.
        """
        matches = self._set.Match(_utf8(text)) if self._set is not None else []
        if self._always in matches:
            return {self._numbers[number] for number in matches if number != self._always}
        return {word for word, form in self._comparable.items() if form in text}


def comparable(text: str) -> str:
    """Returns a text as it is compared: without what nobody sees, in one form of each sign, in small letters."""
    folded = unicodedata.normalize("NFKC", " ".join(text.split())).casefold()
    return folded if folded.isascii() else _unseen.sub("", folded)


def text_of_page(title: str | None, content: str | None, comments: Iterable[str]) -> str:
    """Returns the text of a page in which `match_text` looks for words, as `comparable`."""
    return comparable(" ".join(filter(None, (title, content, *comments))))


def _utf8(text: str) -> bytes:
    return text.encode("utf-8", "replace")  # a lone surrogate isn't UTF-8, which RE2 reads
