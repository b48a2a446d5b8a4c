"""What the log says of a worker's claims: that nothing is claimed and why, or that claims go on."""

from __future__ import annotations

import logging
import time
from typing import TYPE_CHECKING

from crawler.base import log_events

if TYPE_CHECKING:
    from crawler.base.log_events import EventLogger

logger: EventLogger = logging.getLogger(__name__)
# Least time between two lines of one kind: a node at the edge of its headroom changes every few seconds.
SILENT_SECONDS = 600.0
LASTING_SECONDS = 30.0  # what lasts this long is logged sooner: whoever reads the log would take the worker to hang


class ClaimsLog:
    """Logs changes, each kind seldom, and in the end always the state that lasts. `scrapy nodes` shows it at any time.

    A change within the silence of its kind is said once it has lasted, or the silence is over, if it holds by then and
    isn't what the last line says. So the last line of a lasting outage tells of the outage.
    """

    def __init__(self) -> None:
        self._logged = ""  # the reason of the last line; empty: claims go on, as is taken for granted at the start
        # By kind of reason, of which there are few: until when no line of it is due.
        self._silent_until_s: dict[str, float] = {}
        self._kind, self._since_s = "", time.monotonic()  # the present kind of reason, and since when it is that

    def tick(self, why_not: str) -> None:
        """Notes the present state, and says it if that is due; to be called about once a second.

        Args:
            why_not: Why nothing is claimed; empty: seeds are claimed. What follows its first parenthesis may be any
                text, such as the message of an error, and makes no kind of its own.
        """
        now_s, kind = time.monotonic(), why_not.partition(" (")[0]
        if kind != self._kind:
            self._kind, self._since_s = kind, now_s
        lasts = now_s - self._since_s >= LASTING_SECONDS and kind != self._logged.partition(" (")[0]
        if why_not == self._logged or (now_s < self._silent_until_s.get(kind, now_s) and not lasts):
            return
        self._logged = why_not
        self._silent_until_s[kind] = now_s + SILENT_SECONDS
        if why_not:
            logger.info(log_events.CLAIMS_STOPPED, why_not)
        else:
            logger.info(log_events.CLAIMS_RESUMED)
