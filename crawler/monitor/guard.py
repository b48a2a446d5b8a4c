"""What every answer of the monitor carries, and which requests it takes at all."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders

from crawler.monitor.web_errors import RefusedRequestError

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

# Nothing inline, nothing from elsewhere, no frame around it; forms lead back here alone.
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",  # an address may name a page that somebody looks into
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
}
TLS_HEADERS = {"strict-transport-security": "max-age=31536000"}


class SecurityHeaders:
    """Adds the headers to each answer, and `cache-control: no-store` where it says nothing of caches.

    Args:
        secure: Whether browsers reach the monitor by TLS.
    """

    def __init__(self, app: ASGIApp, *, secure: bool) -> None:
        self._app = app
        self._headers = HEADERS | (TLS_HEADERS if secure else {})

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Passes a request on, and its answer with the headers."""

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in self._headers.items():
                    headers.setdefault(name, value)  # a page may be stricter
                headers.setdefault("cache-control", "no-store")
            await send(message)

        await self._app(scope, receive, send_with_headers)


def refuse_other_origins(request: Request) -> None:
    """Refuses a form that another site's page sent.

    Raises:
        RefusedRequestError: The browser says that it comes from elsewhere.
    """
    if not is_from_here(request.headers):
        raise RefusedRequestError(403, "error.other-site")


def is_from_here(headers: Headers) -> bool:
    """Returns whether a browser says that the monitor's own page sent this; old ones name the origin alone."""
    site = headers.get("sec-fetch-site")
    if site is not None:
        return site == "same-origin"
    origin = headers.get("origin")
    return origin is None or urlsplit(origin).netloc == headers.get("host")
