"""What hosts answered for pages that this worker has seen fail, on its way to where people look at it."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from redis.exceptions import RedisError

from crawler.base.redaction import HIDDEN, names_secret, without_secret_values
from crawler.base.text import inert
from crawler.frontier.session import SessionEnding, SessionRenewed
from crawler.telemetry import failed_answers
from crawler.telemetry.failed_answers import FailedAnswer
from crawler.worker.visits.visit import VisitEnded

if TYPE_CHECKING:
    from redis import Redis

    from crawler.base.events import Events
    from crawler.base.redaction import Redaction
    from crawler.frontier.keys import Keys
    from crawler.worker.visits.visit import AnswerHead

# The most that is told of a body: enough to tell an error page, a login and a captcha apart.
MAX_BODY_CHARACTERS = 2_000
MAX_HEADER_CHARACTERS = 2_000  # the most that is told of all headers together
MAX_UNSENT = 20  # most answers of one site and reason that wait to be told; some seconds' worth
MAX_PAIRS = 100  # most pairs of site and reason that have answers unsent
KEPT_FOR = ("fail", "retry")  # the outcomes whose answers are told; Redis makes a failure of the last retry
# Headers that are never told, as those with a secret's name aren't.
HIDDEN_HEADERS = ("set-cookie", "www-authenticate", "proxy-authenticate")


class AnswerOutbox:
    """Keeps answers of pages that failed, and tells them after a renewal of the session, in the session's thread.

    Args:
        bytes_max: Of all workers' answers in Redis; 0: none are kept.
        redaction: Hides the secrets of this process, which a page may repeat.
    """

    def __init__(self, keys: Keys, events: Events, bytes_max: int, redaction: Redaction) -> None:
        self._keys = keys
        self._bytes_max = bytes_max
        self._redaction = redaction
        self._lock = threading.Lock()
        self._unsent: dict[tuple[str, str], dict[str, AnswerHead]] = {}  # by site and reason, then by fingerprint
        events.subscribe(VisitEnded, self._visit_ended)
        events.subscribe(SessionRenewed, lambda event: self._tell(event.redis, event.now_s))
        events.subscribe(SessionEnding, lambda event: self._tell(event.redis, event.now_s))

    def _visit_ended(self, event: VisitEnded) -> None:
        visit, settlement = event.visit, event.settlement
        if settlement.operation not in KEPT_FOR or visit.answer is None or not self._bytes_max:
            return
        pair = visit.seed.site, settlement.reason
        with self._lock:
            if pair in self._unsent or len(self._unsent) < MAX_PAIRS:
                unsent = self._unsent.setdefault(pair, {})
                if len(unsent) < MAX_UNSENT:
                    unsent[visit.claimed.fingerprint.hex()] = visit.answer

    def _tell(self, redis: Redis, now_s: int) -> None:
        """Adds what waits to Redis; what Redis doesn't get of it is lost. Blocking."""
        with self._lock:
            unsent, self._unsent = self._unsent, {}
        for (site, reason), heads in unsent.items():
            answers = [(fingerprint, self._shown(head)) for fingerprint, head in heads.items()]
            try:
                failed_answers.add(redis, self._keys, site, reason, answers, now_s=now_s, bytes_max=self._bytes_max)
            except RedisError:  # away, or full: the ledger has the reasons
                return

    def _shown(self, head: AnswerHead) -> FailedAnswer:
        """Returns an answer as text, without secrets and what acts on a screen."""
        lines = []
        for name, values in head.headers.items():
            shown = name.decode("latin-1")
            is_hidden = shown.lower() in HIDDEN_HEADERS or names_secret(shown)
            lines += [f"{shown}: {HIDDEN if is_hidden else value.decode('latin-1')}" for value in values]
        headers = self._hidden("\n".join(lines))[:MAX_HEADER_CHARACTERS]
        body = self._hidden(head.body.decode("utf-8", "replace"))[:MAX_BODY_CHARACTERS]
        body = body.replace("\r", "").expandtabs(4)
        return FailedAnswer(self._hidden(head.url), head.status, inert(headers), inert(body))

    def _hidden(self, text: str) -> str:
        """Returns a text without this process's secrets, and without what the host calls one."""
        return without_secret_values(self._redaction(text))
