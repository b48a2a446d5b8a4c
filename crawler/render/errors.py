"""Why a page was not rendered, and whose fault it is."""

from __future__ import annotations

from crawler.base.errors import HeadroomError


class RenderError(HeadroomError):
    """A page was not rendered. What becomes of its seed, crawler/worker/visits/outcomes.py says for each of these."""


class BrowserMissingError(RenderError):
    """This node can't start a browser: there is none, or what it needs is missing. Other nodes may."""


class BrowserDiedError(RenderError):
    """The browser ended, or answers no more, while it rendered this page and maybe others."""


class PageCrashedError(RenderError):
    """The page brought its own process to an end: it crashed, or took more memory than a page may."""


class RenderTimeoutError(RenderError):
    """The page wasn't ready in time, though the browser answers: its scripts run on and on, or its host is slow."""


class NoDocumentError(RenderError):
    """The answer is none that a browser shows as a document: a download, or no content at all."""


class StepFailedError(RenderError):
    """A step that the site's file says could not be done on the page.

    Attributes:
        number: The step's, such as `3`, or `3.2` for the second one that the third one repeats.
        screenshot: What the page looked like, as a JPEG; empty: no picture could be taken.
    """

    def __init__(self, number: str, message: str, screenshot: bytes) -> None:
        super().__init__(f"step {number}, {message}")
        self.number = number
        self.screenshot = screenshot
