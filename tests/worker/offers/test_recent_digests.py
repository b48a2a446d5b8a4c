"""A worker's memory of digests is exact, bounded, and keeps what is asked for."""

from __future__ import annotations

from hashlib import blake2b

from crawler.worker.offers.recent_digests import DIGEST_BYTES, WAYS, RecentDigests


def digests(number, first=0):
    return [blake2b(b"%d" % place, digest_size=DIGEST_BYTES).digest() for place in range(first, first + number)]


def test_it_has_what_was_added_and_nothing_else():
    remembered = RecentDigests(10_000)
    for digest in digests(2_000):
        remembered.add(digest)
    assert all(digest in remembered for digest in digests(2_000))
    assert not any(digest in remembered for digest in digests(20_000, first=2_000))


def test_a_full_bucket_forgets_what_was_asked_for_longest_ago():
    remembered = RecentDigests(WAYS)
    first, *others = digests(WAYS)
    for digest in (first, *others):
        remembered.add(digest)
    assert first in remembered
    remembered.add(*digests(1, first=WAYS))
    assert first in remembered
    assert others[0] not in remembered
    assert all(digest in remembered for digest in others[1:])


def test_a_digest_that_is_added_again_takes_no_second_place():
    remembered = RecentDigests(WAYS)
    for _ in range(2):
        for digest in digests(WAYS):
            remembered.add(digest)
    assert all(digest in remembered for digest in digests(WAYS))
