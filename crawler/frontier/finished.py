"""Reads which seeds are finished. The scripts write them; lua/lib/finished.lua says how they are packed in buckets."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

HEAD_BYTES = 4  # of a group: its size, and its mark
TIMED = 128  # is added to the size of a group whose seeds have times
TIME_BYTES = 3  # when a seed was finished, in units of TIME_UNIT_SECONDS since the epoch
TIME_UNIT_SECONDS = 256  # 3 bytes of a time in seconds, without the fourth


class FinishedGroup(NamedTuple):
    """Finished seeds of one bucket with the same mark.

    Attributes:
        mark: Twice the plan's number, and 1 more where lua/lib/finished.lua says so.
        seeds: Each seed's bytes, and behind them its time, if it has one.
        width: How many bytes of its fingerprint a seed has.
        stride: How many bytes it has with its time.
    """

    mark: int
    seeds: bytes
    width: int
    stride: int


def bucket_of(fingerprint: bytes, buckets: int) -> int:
    """Returns the number of the bucket that holds a fingerprint, if any does.

    Args:
        buckets: How many there are, from 1.

    Source: linear hashing (W. Litwin, 1980).
    """
    whole = 1 << (buckets.bit_length() - 1)
    bits = int.from_bytes(fingerprint[:4], "big")
    bucket = bits % (2 * whole)
    return bucket if bucket < buckets else bits % whole


def groups_of(packed: bytes) -> list[FinishedGroup]:
    """Returns the groups of a bucket by its content; none for junk."""
    width, at, groups = packed[0] if packed else 0, 1, []
    while at < len(packed):
        size, mark = packed[at] % TIMED, int.from_bytes(packed[at + 1 : at + HEAD_BYTES], "big")
        stride = width + (TIME_BYTES if packed[at] >= TIMED else 0)
        end = at + HEAD_BYTES + size * stride
        groups.append(FinishedGroup(mark, packed[at + HEAD_BYTES : end], width, stride))
        at = end
    return groups if at == len(packed) else []


def number_of_records(packed: bytes) -> int:
    """Returns how many seeds a bucket holds by its content, once for each plan."""
    return sum(len(group.seeds) // group.stride for group in groups_of(packed) if group.stride)


def finished_for(packed: bytes, fingerprint: bytes) -> Iterator[tuple[int, int | None]]:
    """Yields for which plans a fingerprint was finished, by its bucket's content, and when; nothing when it wasn't.

    Yields:
        The plan's number; and when that was, in s since the epoch, up to TIME_UNIT_SECONDS too early, or None where
        that isn't kept.
    """
    for mark, seeds, width, stride in groups_of(packed):
        member = fingerprint[: width - 4] + fingerprint[4:8]
        for at in range(0, len(seeds), stride or 1):
            if seeds.startswith(member, at):
                units = int.from_bytes(seeds[at + width : at + stride], "big")
                yield mark // 2, units * TIME_UNIT_SECONDS or None
