"""The operator's database of regions of IP addresses (MaxMind DB), opened anew when its file has changed."""

from __future__ import annotations

import logging
import time
from functools import cache, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from crawler.base import log_events
from crawler.base.errors import ConfigError
from crawler.base.seldom import Seldom

if TYPE_CHECKING:
    from collections.abc import Callable

    from crawler.base.log_events import EventLogger

logger: EventLogger = logging.getLogger(__name__)
LOOK_SECONDS = 10.0  # how often it is looked whether the file has changed, at most: a look takes 2 us
MAX_REMEMBERED = 10_000  # most addresses whose regions are remembered; a look-up takes 10 us
DAY_SECONDS = 86_400


class RegionDb:
    """Regions of addresses. What was opened stays in use while the file that takes its place is no database.

    Args:
        path: The file.
        max_age_days: From which age on it is refused, by the day that it says it was made; 0: never.

    Raises:
        ConfigError: The file is missing, old, or no database; or the package that reads it is.
    """

    def __init__(self, path: str, max_age_days: int, now: Callable[[], float] = time.time) -> None:
        self._path, self._max_age_days, self._now = path, max_age_days, now
        self._warn = Seldom(logger.warning)
        self._looked_s = now()
        self._stamp = self._stamp_of_file()
        self._names = self._open()

    def names_of(self, address: str) -> frozenset[str]:
        """Returns what a plan may call the region of an address: `CN`, `CN-BJ`, `CN/Beijing`; empty: it isn't known."""
        now_s = self._now()
        if not 0 <= now_s - self._looked_s < LOOK_SECONDS:
            self._looked_s = now_s
            self._look()
        return self._names(address)

    def _look(self) -> None:
        """Opens the file anew if it has changed."""
        if (stamp := self._stamp_of_file()) == self._stamp:
            return
        try:
            self._names = self._open()
        except ConfigError as error:
            self._warn(log_events.REGION_DB_KEPT, error)
        else:
            self._stamp = stamp
            logger.info(log_events.REGION_DB_OPENED, self._path)

    def _stamp_of_file(self) -> tuple[int, int, int] | None:
        """Returns what changes with the file; None: it isn't there."""
        try:
            status = Path(self._path).stat()
        except OSError:
            return None
        return status.st_ino, status.st_size, status.st_mtime_ns

    def _open(self) -> Callable[[str], frozenset[str]]:
        """Returns what looks addresses up in the file as it is now.

        Raises:
            ConfigError: As the class.
        """
        try:
            import maxminddb
        except ImportError:
            raise ConfigError(
                "REGION_DB", self._path, "the extra geo, which reads it: pip install headroom[geo]"
            ) from None
        try:
            # In memory (60 MB for all cities): what is written over where it lies would be read half old, half new.
            reader = maxminddb.open_database(self._path, maxminddb.MODE_MEMORY)
            age_days = (self._now() - reader.metadata().build_epoch) / DAY_SECONDS
            reader.get("192.0.2.1")
        except FileNotFoundError:
            raise ConfigError("REGION_DB", self._path, "a file that is there") from None
        except Exception as error:  # noqa: BLE001 -- the package raises anything over a file that is none
            raise ConfigError("REGION_DB", self._path, f"a MaxMind database, but it is none ({error})") from None
        if self._max_age_days and age_days > self._max_age_days:
            expected = (
                f"a database of at most REGION_DB_MAX_AGE_DAYS={self._max_age_days}, but it is {age_days:.0f} days old"
            )
            raise ConfigError("REGION_DB", self._path, expected)
        return lru_cache(MAX_REMEMBERED)(lambda address: names_in(reader.get(address)))


@cache
def shared_region_db(path: str, max_age_days: int) -> RegionDb:
    """Returns the database of a process: all plans ask one.

    Raises:
        ConfigError: As `RegionDb`.
    """
    return RegionDb(path, max_age_days)


def names_in(record: Any) -> frozenset[str]:
    """Returns what a plan may call the region of a record in a database of countries or cities; empty: of none."""
    country = _at(record, "country", "iso_code") or _at(record, "registered_country", "iso_code")
    if not country:
        return frozenset()
    names = {country}
    subdivisions = record.get("subdivisions")
    for subdivision in subdivisions if isinstance(subdivisions, list) else ():
        if code := _at(subdivision, "iso_code"):
            names.add(f"{country}-{code}")
    if city := _at(record, "city", "names", "en"):
        names.add(f"{country}/{city}")
    return frozenset(names)


def _at(record: Any, *keys: str) -> str:
    """Returns the text under some keys; empty: there is none."""
    for key in keys:
        record = record.get(key) if isinstance(record, dict) else None
    return record if isinstance(record, str) else ""
