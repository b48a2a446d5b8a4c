"""Which setting a misspelt name was meant to be.

A name resembles a setting of ours when nearly all its letters are that one's, in its order, or when words are left out
of it (NODE_MEMORY_LIMIT for NODE_MEMORY_LIMIT_PERCENT). A common beginning alone says nothing: KAFKA_TOPIC may well be
a setting of somebody's own pipeline. Names that others are known to use resemble nothing.
"""

from __future__ import annotations

import difflib
import functools

from scrapy.settings import default_settings

from crawler.config import ALL, BY_NAME

# The share of letters in two names that must match for one to be taken as the other misspelt: in nine letters one may
# be wrong. As many match in SITES_DIR and ITEMS_DIR, but the names of real settings are never taken as misspelt.
ALIKE = 0.88
# The shortest setting that is compared: one wrong letter makes another word of a shorter one, such as SINKS.
MIN_LETTERS = 6
MIN_WORDS = 2  # the fewest words of a shortened name: ADDRESS alone may be anything
# What other software calls settings, though it is as near to one of ours as a misspelling: Scrapy's example of a
# pipeline, scrapy-mongodb, and a Redis client's.
OTHERS = {
    "MONGO_URI": "MONGO_URL",
    "MONGODB_URL": "MONGO_URL",
    "MONGODB_DATABASE": "MONGO_DATABASE",
    "REDIS_URI": "REDIS_URL",
}


@functools.cache
def meant_by(name: str) -> str:
    """Returns the name of the setting that a name was probably meant to be; empty: it is one, or resembles none."""
    if name in BY_NAME or name in OTHERS or hasattr(default_settings, name):
        return ""
    for setting in ALL:
        if _is_shortened(name, setting.name):
            return setting.name
    names = [setting.name for setting in ALL if len(setting.name) >= MIN_LETTERS]
    return next(iter(difflib.get_close_matches(name, names, 1, ALIKE)), "")


def meant_by_file(name: str) -> str:
    """Returns the name of the setting that a file of credentials was probably meant to be called by; or empty.

    Such files are this process's own, and secrets are often called by small letters; so names that others use count.
    """
    upper = name.upper()
    if upper != name and upper in BY_NAME:
        return upper
    return OTHERS.get(upper) or meant_by(upper)


def _is_shortened(name: str, full: str) -> bool:
    """Returns whether a name has most words of the full one, in their order, and no others."""
    words, rest = name.split("_"), iter(full.split("_"))
    return len(words) >= MIN_WORDS and 2 * len(words) > full.count("_") + 1 and all(word in rest for word in words)
