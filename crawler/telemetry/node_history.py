"""How each node's load went over time: a sample a minute for three hours, one in ten minutes for two days.

Whichever worker of a node reports first in a step writes the node's sample, of what all of its workers reported last.
A step's sample takes the place of one a few hours, or two days, before. So a node has SAMPLES of them at most, 13 kB of
Redis; 200 nodes have 2.7 MB.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Any, NamedTuple

from crawler.frontier.scripts import even_when_full
from crawler.telemetry.history import RESOLUTIONS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from crawler.frontier.keys import Keys
    from crawler.telemetry.history import Resolution

STEPS = RESOLUTIONS[:2]  # older than two days, a node's load is nobody's business
# How many samples a node has: fewer than 512, since Redis packs so small a hash.
SAMPLES = sum(step.kept_seconds // step.seconds for step in STEPS)
KEPT_SECONDS = STEPS[-1].kept_seconds
# The form of a sample: its step's beginning in minutes since the epoch, and the figures below.
PACKED = struct.Struct(">IHHHHHHH")
PERCENT_SCALE = 100  # percents are kept with two digits behind the point
MAX_NUMBER = 0xFFFF
MAX_REPORTED = 1e9  # a larger number, in Redis by mistake, must not keep a node from its history


class NodeSample(NamedTuple):
    """The load of one node.

    Attributes:
        memory_percent: m, in use on the node.
        cpu_percent: c, likewise.
        own_memory_percent: M, used by its workers together.
        own_cpu_percent: C, likewise.
        room: N, seeds that its workers have room for.
        carrying: W, seeds that they carry.
        pages_per_minute: Of all of them.
    """

    memory_percent: float
    cpu_percent: float
    own_memory_percent: float
    own_cpu_percent: float
    room: int
    carrying: int
    pages_per_minute: int

    @classmethod
    def of(cls, reports: Iterable[Mapping[str, Any]]) -> NodeSample:
        """Returns the sample of a node whose workers report these figures."""
        figures = list(reports)

        def numbers(name: str) -> list[float]:
            values = (report.get(name) for report in figures)
            return [min(max(0, value), MAX_REPORTED) for value in values if isinstance(value, int | float)] or [0]

        return cls(
            memory_percent=max(numbers("memory_percent")),
            cpu_percent=max(numbers("cpu_percent")),
            own_memory_percent=sum(numbers("own_memory_percent")),
            own_cpu_percent=sum(numbers("own_cpu_percent")),
            room=int(sum(numbers("room"))),
            carrying=int(sum(numbers("carrying"))),
            pages_per_minute=int(sum(numbers("pages_per_minute"))),
        )


def add(client: Any, keys: Keys, node: str, now_s: int, sample: NodeSample) -> None:
    """Writes a node's sample of this moment's steps, also when Redis is full. Takes a client or a pipeline.

    Args:
        now_s: By the partitions' clocks.
    """
    percents = [_bounded(value * PERCENT_SCALE) for value in sample[:4]]
    values = [*percents, *map(_bounded, sample[4:])]
    fields: list[Any] = []
    for resolution in STEPS:
        begin_s = resolution.begin(now_s)
        fields += (_field(resolution, begin_s), PACKED.pack(begin_s // 60, *values))
    even_when_full(client, keys.node_history(node), "HSET", *fields)
    client.expire(keys.node_history(node), KEPT_SECONDS)


async def read(
    redis: Any, keys: Keys, node: str, resolution: Resolution, *, last_s: int, seconds: int
) -> list[tuple[int, NodeSample | None]]:
    """Returns the samples of a period, the oldest first: each step's beginning, in s since the epoch, and its sample.

    Args:
        resolution: One of STEPS.
        last_s: A moment within the last step, by Redis's clock.
        seconds: How long the period is.

    Returns:
        None in place of a sample where no worker of the node ran, or junk is in its place.
    """
    begins = resolution.begins(last_s, min(seconds, resolution.kept_seconds - resolution.seconds))
    stored = await redis.hmget(keys.node_history(node), [_field(resolution, begin) for begin in begins])
    return [(begin, _load(raw, begin)) for begin, raw in zip(begins, stored, strict=True)]


def _field(resolution: Resolution, begin_s: int) -> str:
    """Returns the name of a step's place, which later steps get again."""
    place = begin_s // resolution.seconds % (resolution.kept_seconds // resolution.seconds)
    return f"{resolution.seconds}:{place}"


def _bounded(value: float) -> int:
    return max(0, min(round(value), MAX_NUMBER))


def _load(raw: bytes | None, begin_s: int) -> NodeSample | None:
    if raw is None or len(raw) != PACKED.size:
        return None
    minute, *values = PACKED.unpack(raw)
    if minute != begin_s // 60:
        return None  # the sample is of a step long ago
    return NodeSample(*(value / PERCENT_SCALE for value in values[:4]), *values[4:])
