"""A page for which a worker gets no memory is handed back, but not for ever."""

from __future__ import annotations

from samples import a_claim

from crawler.frontier.settlement import Settlement
from crawler.worker.settling.hand_backs import MAX_HAND_BACKS, PAUSE_MS, HandBacks


def test_a_page_is_handed_back_a_few_times_before_it_counts_as_tried():
    hand_backs = HandBacks()
    one, other = (Settlement("postpone", a_claim(number=number), reason="out-of-memory") for number in range(2))
    settled = [hand_backs.bounded(one) for _ in range(MAX_HAND_BACKS + 2)]
    assert [one.operation for one in settled] == ["postpone"] * MAX_HAND_BACKS + ["retry"] * 2
    assert {one.amount_ms for one in settled} == {PAUSE_MS}
    assert hand_backs.bounded(other).operation == "postpone"
