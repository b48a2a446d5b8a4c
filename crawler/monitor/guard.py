"""What every answer of the monitor carries, and which requests it takes at all."""

from __future__ import annotations

import contextlib
import ipaddress
import re
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse

if TYPE_CHECKING:
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


class RefusedRequestError(Exception):
    """A request is refused.

    Args:
        status: The answer's.
        message: A key of the messages, which says why.
        values: Of the message.
    """

    def __init__(self, status: int, message: str, **values: Any) -> None:
        super().__init__(message)
        self.status, self.message, self.values_of_message = status, message, values


class SecurityHeaders:
    """Adds the headers to each answer, and `cache-control: no-store` where it says nothing of caches.

    Args:
        secure: Whether browsers reach the monitor by TLS.
    """

    def __init__(self, app: ASGIApp, *, secure: bool) -> None:
        self._app = app
        self._secure = secure
        self._headers = HEADERS | (TLS_HEADERS if secure else {})

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Passes a request on, and its answer with the headers; what may be no browser's own wish is refused."""

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in self._headers.items():
                    headers.setdefault(name, value)  # a page may be stricter
                headers.setdefault("cache-control", "no-store")
            await send(message)

        app = self._app if scope["type"] != "http" else self._refused(Headers(scope=scope)) or self._app
        await app(scope, receive, send_with_headers)

    def _refused(self, headers: Headers) -> ASGIApp | None:
        """Returns the answer to a request that isn't taken; None: it is.

        Without TLS the monitor is reached by this machine's own names alone. By another name a page of somebody else's
        asks, whose name was made to lead here (DNS rebinding). And of a request with two lengths, a proxy in front may
        have read another one than is read here.
        """
        if not self._secure and not is_this_machine(_name_in(headers.get("host", ""))):
            return PlainTextResponse("The monitor isn't reached by this name.\n", 421)
        if "transfer-encoding" in headers and "content-length" in headers:
            return PlainTextResponse("The request has two lengths.\n", 400, {"connection": "close"})
        return None


def is_this_machine(host: str) -> bool:
    """Returns whether a name or an address leads to this machine alone."""
    with contextlib.suppress(ValueError):
        return ipaddress.ip_address(host).is_loopback
    return host == "localhost"


def _name_in(host: str) -> str:
    """Returns the name in a Host header, without its port and an address's brackets."""
    name = host.rpartition(":")[0] if re.fullmatch(r".*:\d{1,5}", host) else host
    return name.lower().removeprefix("[").removesuffix("]")


def is_from_here(headers: Headers) -> bool:
    """Returns whether a browser says that the monitor's own page sent this; old ones name the origin alone."""
    site = headers.get("sec-fetch-site")
    if site is not None:
        return site == "same-origin"
    origin = headers.get("origin")
    return origin is None or urlsplit(origin).netloc == headers.get("host")
