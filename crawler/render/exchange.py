"""What a page asks for while it is rendered, and what it is answered."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from contextlib import AbstractAsyncContextManager


@dataclass(frozen=True, slots=True)
class PageRequest:
    """One request of a page. Each hop of a redirect is a request of its own.

    Attributes:
        url: Of http or https, without a fragment.
        fragment: With its `#`, of what the page itself shows; empty for nearly all.
        headers: As the browser would send them, its cookies among them.
        resource_type: Of the browser's protocol: Document, Script, Stylesheet, XHR, Fetch, Image, Font ...
            `WebSocket` is for one that the page wants opened at the address.
        is_page: Whether it is for what the page itself shows: its document, a redirect of it, or where the page leads
            itself by a script or a `meta refresh`. What can't be had of these is not rendered.
    """

    url: str
    method: str
    headers: tuple[tuple[str, str], ...]
    body: bytes
    resource_type: str
    is_page: bool
    fragment: str = ""

    def header(self, name: str) -> str:
        """Returns the value of a header, by its name in lower case; empty: it has none."""
        return next((value for own, value in self.headers if own.lower() == name), "")


@dataclass(frozen=True, slots=True)
class PageAnswer:
    """An answer. Of a redirect it is the redirect itself, which the browser follows by a further request.

    Attributes:
        body: Decoded: headers that say how it was encoded, or how long it was, are left out on the way to the browser.
    """

    status: int
    headers: tuple[tuple[bytes, bytes], ...]
    body: bytes


class Fetch(Protocol):
    """The crawl's HTTP client, for one page.

    What it raises for the page itself (`is_page`) is what `Renderer.render` raises. For anything else of the page it
    may raise whatever it likes: the page sees a failed request. It is cancelled when nobody waits for the answer.
    """

    async def __call__(self, request: PageRequest) -> PageAnswer:
        """Returns the answer to one request."""


class PageSocket(Protocol):
    """An open WebSocket."""

    async def receive(self) -> str | bytes | None:
        """Returns the next message; None: it has ended."""

    async def send(self, message: str | bytes) -> None:
        """Sends a message; where the socket has ended, nothing happens."""


class Connect(Protocol):
    """Opens WebSockets for one page, by the crawl's HTTP client. It may raise whatever it likes: the page's fails."""

    def __call__(self, request: PageRequest) -> AbstractAsyncContextManager[PageSocket]:
        """Gives a socket, and closes it."""
