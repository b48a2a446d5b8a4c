"""How long a request was on its way to a host, by how long its answer took.

A busy worker or network holds requests up. If the delay were counted from when such a request was sent, the next one
could reach the host too soon after it. What an answer takes longer than the host's fastest answer therefore counts as
the request's way to the host.
"""

from __future__ import annotations

import math

from scrapy.utils.datatypes import LocalCache

MAX_HOSTS = 10_000  # most hosts whose fastest answer is remembered, in some 200 bytes each
MIN_ANSWERS = 20  # how many answers of a host come before its fastest counts: the first few may all have been late
FASTEST_SMOOTHING = 0.02  # the weight of a slower answer, so that a host that got slower isn't taken for late for ever


class Lateness:
    """What is known of how fast hosts answer."""

    def __init__(self) -> None:
        # By host: how many answers it gave, and how many seconds the fastest took.
        self._fastest: LocalCache[str, tuple[int, float]] = LocalCache(MAX_HOSTS)

    def of_answer(self, host: str, took_s: float) -> float:
        """Returns how many seconds after it was sent a request may have reached its host, and learns from its answer.

        Args:
            took_s: Seconds from when the request was sent to its answer.
        """
        answers, fastest_s = self._fastest.get(host, (0, math.inf))
        late_s = took_s - (fastest_s if answers >= MIN_ANSWERS else 0.0)
        if took_s > fastest_s:
            took_s = fastest_s + FASTEST_SMOOTHING * (took_s - fastest_s)
        self._fastest[host] = (answers + 1, took_s)
        return late_s
