"""The words of dates in twenty languages, from `vocabulary.yaml`, which says what each kind is for."""

from __future__ import annotations

import re
import unicodedata
from importlib import resources
from typing import TYPE_CHECKING, Any, TypeVar

import yaml

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

Key = TypeVar("Key")

FOLDER = resources.files(__package__)  # also in a zipped egg, from which scrapyd runs projects

# A word in a text; `is_cjk` tells whether one begins in Chinese, Japanese or Korean, which need no spaces between them.
WORD = r"[^\W\d](?:[^\W\d]|['\u0300-\u036f\u0900-\u0963\u0e31-\u0e4e]|\.(?=[^\W\d]))*"
words_in = re.compile(WORD).findall
is_cjk = re.compile("[\u3005-\u9fff\uac00-\ud7a3]").match
_INVISIBLE = "\u200b\u200c\u200d\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
_TRANSLATION = str.maketrans(
    {"\u2019": "'", "İ": "i", "॰": None, "\u2212": "-", "\u25cb": "\u3007"} | dict.fromkeys(_INVISIBLE)
)


def normal(text: str) -> str:
    """Returns a text in Unicode's compatible form, without what shows nothing."""
    return unicodedata.normalize("NFKC", text).translate(_TRANSLATION)


def spelt(name: str) -> str:
    """Returns a name or a phrase as the tables have it."""
    return re.sub(r"[\s\-]", "_", normal(name).lower().strip(" ."))


def any_of(names: Iterable[str]) -> str:
    """Returns a regular expression for any of some names, the longest first."""
    listed = sorted(names, key=len, reverse=True)
    return "(?:" + "|".join(re.escape(name).replace("_", r"[\s_\-]") for name in listed) + ")"


def by_word(rows: Mapping[Key, str]) -> dict[str, Key]:
    """Returns the key of each word's row."""
    return {word: key for key, row in rows.items() for word in row.split()}


def _words(key: str) -> frozenset[str]:
    return frozenset(TABLES[key].split())


TABLES: dict[str, Any] = yaml.load(FOLDER.joinpath("vocabulary.yaml").read_text("utf-8"), yaml.CSafeLoader)
HALVES: dict[str, str] = by_word(TABLES["halves"])
ZONES: dict[str, float] = by_word(TABLES["zones"])
SEASONAL_ZONES: dict[str, str] = TABLES["seasonal_zones"]
COUNTS = by_word(dict(enumerate(TABLES["counts"], start=1)))
NEAR_DAYS = by_word(dict(enumerate(TABLES["near_days"])))
NO_ZONES = _words("no_zones")
SINCE = _words("since")
AGO = _words("ago")
ABOUT = _words("about")
AND = _words("and")
PART = _words("part")
HALF_AN_HOUR_AGO = _words("half_an_hour_ago")
NOW = _words("now")
CHANGED = _words("changed")
WRITTEN = _words("written")
BESIDE = _words("beside")
LABELS_OF_TIME = _words("labels_of_time")
RANGES = _words("ranges")
CLOCK = _words("clock")
CJK_WEEKDAYS = {
    mark: number
    for number, marks in enumerate(("一月월", "二火화", "三水수", "四木목", "五金금", "六土토", "日天일"))
    for mark in marks
}
