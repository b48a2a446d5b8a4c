"""Answers to requests for metrics: to whom they are shown."""

from __future__ import annotations

import hmac
from dataclasses import dataclass
from http import HTTPStatus
from typing import TYPE_CHECKING

from crawler.telemetry.exposition import TEXT, exposition

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable, Mapping

    from crawler.telemetry.exposition import Metric


@dataclass(frozen=True, slots=True)
class MetricsAnswer:
    """An answer to a request for metrics; `headers` has its content type, and what else belongs to the status."""

    status: HTTPStatus
    headers: Mapping[str, str]
    body: bytes = b""


async def answer(
    method: str, *, authorization: str, accept: str, token: str, read: Callable[[], Awaitable[Iterable[Metric]]]
) -> MetricsAnswer:
    """Answers GET and HEAD with the metrics, or with 401 who doesn't show the token.

    A request from this machine needs the token, too: behind a proxy every request comes from this machine.

    Args:
        authorization: The header, which holds the token as `Bearer TOKEN`.
        accept: The header.
        token: METRICS_TOKEN; empty: nobody may read the metrics.
        read: Returns the metrics. What it raises is the caller's.
    """
    if method not in ("GET", "HEAD"):
        return MetricsAnswer(HTTPStatus.METHOD_NOT_ALLOWED, {"content-type": TEXT, "allow": "GET, HEAD"})
    if not _is_token(authorization, token):
        why = b"give METRICS_TOKEN as a bearer token\n" if token else b"METRICS_TOKEN isn't set\n"
        return MetricsAnswer(HTTPStatus.UNAUTHORIZED, {"content-type": TEXT, "www-authenticate": "Bearer"}, why)
    content_type, body = exposition(await read(), accept)
    return MetricsAnswer(HTTPStatus.OK, {"content-type": content_type, "cache-control": "no-store"}, body)


def _is_token(authorization: str, token: str) -> bool:
    scheme, _, shown = authorization.partition(" ")
    # It takes a time that tells nothing of the token.
    is_same = hmac.compare_digest(shown.strip().encode(), token.encode())
    return bool(token) and scheme.lower() == "bearer" and is_same
