"""Settings in scrapy.cfg, in a section of their own:

    [headroom]
    SITES_DIR = sites
    REDIS_URL = redis://redis.example.org:6379/0

Scrapy's own places are looked into, in Scrapy's own order: /etc/scrapy.cfg, then the user's, then that of the project;
the last one that has a name wins. Passwords belong into files of their own (`credentials.py`): many can read this one.
"""  # noqa: D415 -- the example ends the sentence

from __future__ import annotations

import functools
import os
from configparser import (
    ConfigParser,
    DuplicateOptionError,
    DuplicateSectionError,
    MissingSectionHeaderError,
    ParsingError,
)
from typing import TYPE_CHECKING

from scrapy.utils.conf import get_sources

from crawler.base.errors import HeadroomError, short

if TYPE_CHECKING:
    from collections.abc import Mapping

SECTION = "headroom"


def read() -> Mapping[str, tuple[str, str]]:
    """Returns what the section says: name -> value and file.

    Raises:
        HeadroomError: A file can't be read as such.
    """
    values: dict[str, tuple[str, str]] = {}
    for file in get_sources():
        try:
            changed = os.stat(file).st_mtime_ns if file else None  # noqa: PTH116 -- Scrapy gives texts
        except OSError:  # most of them don't exist
            continue
        if changed is not None:
            values |= {name: (value, file) for name, value in _section(file, changed).items()}
    return values


@functools.lru_cache(maxsize=16)
def _section(file: str, _changed: int) -> dict[str, str]:
    """Returns the section of one file, which is read anew after a change.

    No error quotes a line of the file: a password may stand in it.
    """
    # Names keep their case, and a % in a password means itself.
    parser = ConfigParser(interpolation=None)
    parser.optionxform = str  # type: ignore[assignment,method-assign]  # as ConfigParser's documentation says it
    try:
        with open(file, encoding="utf-8") as lines:  # noqa: PTH123 -- Scrapy gives texts
            parser.read_file(lines)
    except OSError as error:
        raise HeadroomError(f"{short(file)}: can't be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise HeadroomError(f"{short(file)}: isn't UTF-8") from None
    except (DuplicateOptionError, DuplicateSectionError) as error:
        raise HeadroomError(f"{short(file)}, line {error.lineno}: a name that stands above already") from None
    except MissingSectionHeaderError as error:
        raise HeadroomError(f"{short(file)}, line {error.lineno}: stands above the first [section]") from None
    except ParsingError as error:
        raise HeadroomError(f"{short(file)}, line {error.errors[0][0]}: neither NAME = VALUE nor [section]") from None
    return dict(parser[SECTION]) if parser.has_section(SECTION) else {}
