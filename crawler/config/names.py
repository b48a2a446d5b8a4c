"""Which setting a misspelt name was meant to be.

A name resembles a setting of ours when two letters or fewer are wrong, left out, added or swapped in it, or when words
are left out of it (NODE_MEMORY_LIMIT for NODE_MEMORY_LIMIT_PERCENT). A common beginning alone says nothing: KAFKA_TOPIC
may well be a setting of somebody's own pipeline. Names that others are known to use resemble nothing.
"""

from __future__ import annotations

import functools

from scrapy.settings import default_settings

from crawler.config import ALL, BY_NAME

EDITS_MAX = 2
LETTERS_PER_EDIT = 6  # in so many letters at most one is taken for wrong: in a short name, SINKS, it makes another word
WORDS_MIN = 2  # of a shortened name: ADDRESS alone may be anything
# What other software calls settings, though it is as near to one of ours as a misspelling: Scrapy's example of a
# pipeline, scrapy-mongodb, and a Redis client's.
OTHERS = frozenset({"MONGO_URI", "MONGODB_URL", "MONGODB_URI", "MONGODB_DATABASE", "MONGO_DB", "REDIS_URI"})


@functools.cache
def meant_by(name: str) -> str:
    """Returns the name of the setting that a name was probably meant to be; empty: it is one, or resembles none."""
    if name in BY_NAME or name in OTHERS or hasattr(default_settings, name):
        return ""
    for setting in ALL:
        if _is_shortened(name, setting.name):
            return setting.name
    edits, nearest = min((_edits(name, setting.name), setting.name) for setting in ALL)
    return nearest if edits <= min(EDITS_MAX, len(nearest) // LETTERS_PER_EDIT) else ""


def _is_shortened(name: str, full: str) -> bool:
    """Returns whether a name has most words of the full one, in their order, and no others."""
    words, rest = name.split("_"), iter(full.split("_"))
    return len(words) >= WORDS_MIN and 2 * len(words) > full.count("_") + 1 and all(word in rest for word in words)


def _edits(name: str, other: str) -> int:
    """Returns how many letters have to be changed, added, left out, or swapped with the next one."""
    if abs(len(name) - len(other)) > EDITS_MAX:
        return EDITS_MAX + 1
    before: list[int] = []
    row = list(range(len(other) + 1))
    for i, letter in enumerate(name, 1):
        before, last, row = row, before, [i]
        for j, wanted in enumerate(other, 1):
            row.append(min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (letter != wanted)))
            if i > 1 and j > 1 and letter == other[j - 2] and name[i - 2] == wanted:
                row[j] = min(row[j], last[j - 2] + 1)
    return row[-1]
