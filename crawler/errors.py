"""Every error that Headroom raises on purpose, as one tree.

A command prints such an error as one line and exits with status 1. Any other exception is a bug, and its traceback is
shown.
"""

from __future__ import annotations

from crawler.redaction import without_credentials

SHOWN_CHARACTERS_MAX = 120  # of a value in an error message, which has to fit on a line


class HeadroomError(Exception):
    """The root of the tree. The text of an error is one line for the operator."""


class ConfigError(HeadroomError):
    """A setting has a value that it can't have."""

    def __init__(self, key: str, value: object, expected: str) -> None:
        super().__init__(f"setting {key}: got {without_credentials(repr(value))}, expected {expected}")
        self.key = key


class InputError(HeadroomError):
    """A plan or site file holds something that it can't hold.

    Args:
        file: The file's name as the user gave it.
        line: Line of the wrong key or value, from 1; 0 when the error is about the whole file.
        key: Dotted path of the key (`keywords.event.optional`); empty when the error is about the whole file.
        value: The wrong value; None when a value is missing.
        expected: What is allowed there, in words.
    """

    def __init__(self, file: str, line: int, key: str, value: object, expected: str) -> None:
        where = f"{file}:{line}" if line else file
        what = f"{_short(key)}: " if key else ""
        shown = "nothing" if value is None else _short(repr(value))
        super().__init__(f"{where}: {what}got {shown}, expected {expected}")
        self.file, self.line, self.key, self.value, self.expected = file, line, key, value, expected


def _short(text: str) -> str:
    text = without_credentials(text)
    return text if len(text) <= SHOWN_CHARACTERS_MAX else text[:SHOWN_CHARACTERS_MAX] + "..."


class UrlError(HeadroomError):
    """A text is no URL that a browser would open, or its scheme is neither http nor https."""

    def __init__(self, text: str) -> None:
        super().__init__(without_credentials(text))


class PrivateAddressError(HeadroomError):
    """A host's name or address leads out of the public internet; nothing was sent there."""


class HostBackoffError(HeadroomError):
    """A host has asked for a pause, or keeps failing; nothing was sent there.

    Args:
        wait_s: Seconds until it may be asked again.
    """

    def __init__(self, host: str, wait_s: float) -> None:
        super().__init__(f"{host} has a backoff of {wait_s:.0f} s")
        self.wait_s = wait_s


class UnavailableError(HeadroomError):
    """A server (Redis, Kafka, MongoDB, a page's host) can't be reached or refuses to work; trying again may help."""


class FrontierError(HeadroomError):
    """Redis holds something that this version or these settings can't work on."""


class SessionLostError(FrontierError):
    """This worker's session has lapsed, and other workers get its seeds; it must open a new session."""


class AnswerError(HeadroomError):
    """An HTTP answer can't be read as a page.

    Args:
        reason: Short hyphenated word for the ledger, such as `bad-response`.
    """

    def __init__(self, reason: str, detail: str = "") -> None:
        super().__init__(f"{reason}: {_short(detail)}" if detail else reason)
        self.reason = reason


class PageTimeoutError(HeadroomError):
    """A page, with all that is fetched for it, took longer than PAGE_SECONDS; the rest isn't fetched."""


class PlanError(HeadroomError):
    """A plan can't be submitted or changed as asked: there is no such plan, or the name is taken."""


class ExtractError(HeadroomError):
    """A page yields no item and no links.

    Args:
        reason: Short hyphenated word for the ledger, such as `no-content` or `not-html`.
    """

    def __init__(self, reason: str, detail: str = "") -> None:
        super().__init__(f"{reason}: {detail}" if detail else reason)
        self.reason = reason


class SinkRejectedError(HeadroomError):
    """A sink will never take this item. The item has left the sink's batches; the other items in them are untouched.

    Args:
        sink: The sink's name.
        reason: Short hyphenated word for the ledger, such as `message-too-large`.
    """

    def __init__(self, sink: str, reason: str, detail: str = "") -> None:
        super().__init__(f"{sink}: {reason}: {detail}" if detail else f"{sink}: {reason}")
        self.sink = sink
        self.reason = reason
