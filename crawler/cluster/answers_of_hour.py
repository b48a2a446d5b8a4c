"""What came back in an hour, as rows for all who show it: by status, host, plan or node, and in all."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, NamedTuple

from crawler.base.errors import HeadroomError, shown
from crawler.telemetry import hour_answers
from crawler.telemetry.history import HOUR
from crawler.telemetry.hour_answers import BY, NOTHING, AnswerCounts

if TYPE_CHECKING:
    from crawler.plans.operator import Operator
    from crawler.telemetry.hour_answers import By

FORM = "%Y-%m-%dT%H"  # an hour as it is named, in UTC
ALL = "all"  # the kind and the name of the row that sums an hour
COLUMNS = (
    "by", "name", "requests", "ok", "redirects", "refused", "errors", "timeouts", "lost", "too_many_redirects",
    "bytes_in", "bytes_out", "in_per_second", "out_per_second", "mean_answer_ms", "mean_delay_ms",
)  # fmt: skip
OF_BYTES = ("bytes_in", "bytes_out", "in_per_second", "out_per_second")


class Hour(NamedTuple):
    """What came back in one hour.

    Attributes:
        name: Such as `2026-11-28T11`, in UTC.
        rows: With `COLUMNS`: one of all, then those by status, host, plan and node, or of one of these alone.
    """

    name: str
    rows: list[dict[str, Any]]


async def read_hour(operator: Operator, hour: str, by: By | None = None) -> Hour:
    """Returns what came back in an hour; a row of all with zeros where nothing did, or it isn't kept any more.

    Args:
        hour: Its name; empty: the one that goes on.
        by: What alone is wanted beside the row of all; None: all four.

    Raises:
        HeadroomError: It is no hour.
    """
    now_s = await operator.registry.now_ms() // 1000
    begin_s = parse_hour(hour) if hour else now_s // HOUR * HOUR
    seconds = max(1, min(HOUR, now_s - begin_s))
    of_status = await hour_answers.read(operator.redis, operator.keys, "status", begin_s)
    rows = [_row(ALL, ALL, sum(of_status.values(), NOTHING), seconds)]
    for kind in (by,) if by else BY:
        names = of_status if kind == "status" else await hour_answers.read(operator.redis, operator.keys, kind, begin_s)
        rows += [_row(kind, name, counts, seconds) for name, counts in names.items()]
    return Hour(datetime.fromtimestamp(begin_s, UTC).strftime(FORM), rows)


def parse_hour(text: str) -> int:
    """Returns when an hour begins, in s since the epoch.

    Raises:
        HeadroomError: It is no hour.
    """
    try:
        return int(datetime.strptime(text, FORM).replace(tzinfo=UTC).timestamp())
    except ValueError:
        raise HeadroomError(f"{shown(text)} is no hour; expected one in UTC, such as 2026-11-28T11") from None


def _row(by: str, name: str, counts: AnswerCounts, seconds: int) -> dict[str, Any]:
    """Returns a row.

    Args:
        seconds: How much of the hour has passed.
    """
    numbers = counts._asdict()
    answer_ms, delay_ms = numbers.pop("answer_ms"), numbers.pop("delay_ms")
    return {
        "by": by,
        "name": name,
        **numbers,
        "in_per_second": round(counts.bytes_in / seconds),
        "out_per_second": round(counts.bytes_out / seconds),
        "mean_answer_ms": round(answer_ms / max(1, counts.answers)),
        "mean_delay_ms": round(delay_ms / max(1, counts.requests)),
    }
