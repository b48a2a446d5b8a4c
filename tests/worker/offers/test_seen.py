"""What was met, in bounded memory."""

from __future__ import annotations

from crawler.worker.offers import seen as module
from crawler.worker.offers.seen import Seen


def test_what_was_met_is_known_and_next_to_nothing_else():
    met = Seen()
    assert all(met.add(hash(("a", number))) for number in range(2_000))
    assert not any(met.add(hash(("a", number))) for number in range(2_000))
    assert sum(hash(("b", number)) in met for number in range(10_000)) <= 5
    assert 0 not in Seen()


def test_the_older_half_is_forgotten(monkeypatch):
    monkeypatch.setattr(module, "MAX_OF_HALF", 10)
    met = Seen()
    for number in range(25):
        met.add(hash(("a", number)))
    assert [number for number in range(25) if hash(("a", number)) in met] == list(range(10, 25))
