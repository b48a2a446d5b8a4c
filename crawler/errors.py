"""Every error Headroom raises on purpose, as one tree.

A command prints such an error as one line and exits with status 1; anything else is a bug and keeps its traceback.
"""

from __future__ import annotations

from crawler.redaction import without_credentials

MAX_SHOWN_CHARACTERS = 120  # a value in an error message is a hint, not a dump


class HeadroomError(Exception):
    """The root. Its text is one line, fit to be shown to an operator."""


class ConfigError(HeadroomError):
    """A setting has a value that it can't have."""

    def __init__(self, key: str, value: object, expected: str) -> None:
        super().__init__(f"setting {key}: got {without_credentials(repr(value))}, expected {expected}")
        self.key = key


class InputError(HeadroomError):
    """A plan or site file says something it can't say.

    Args:
        file: The file's name as the user gave it.
        line: 1-based line of the offending key or value; 0 when the whole file is meant.
        key: Dotted path of the key (`keywords.event.optional`); empty when the whole file is meant.
        value: What stands there; None for nothing.
        expected: What may stand there, in words.
    """

    def __init__(self, file: str, line: int, key: str, value: object, expected: str) -> None:
        where = f"{file}:{line}" if line else file
        what = f"{_short(key)}: " if key else ""
        shown = "nothing" if value is None else _short(repr(value))
        super().__init__(f"{where}: {what}got {shown}, expected {expected}")
        self.file, self.line, self.key, self.value, self.expected = file, line, key, value, expected


def _short(text: str) -> str:
    text = without_credentials(text)
    return text if len(text) <= MAX_SHOWN_CHARACTERS else text[:MAX_SHOWN_CHARACTERS] + "..."


class UrlError(HeadroomError):
    """A URL that no browser would open, or one with a scheme other than http and https."""

    def __init__(self, text: str) -> None:
        super().__init__(without_credentials(text))


class PrivateAddressError(HeadroomError):
    """A name that leads out of the public internet; nothing was sent there."""


class HostBackoffError(HeadroomError):
    """A host has asked for a pause, or keeps failing; nothing was sent there.

    Args:
        wait_s: Seconds until it may be asked again.
    """

    def __init__(self, host: str, wait_s: float) -> None:
        super().__init__(f"{host} has a backoff of {wait_s:.0f} s")
        self.wait_s = wait_s


class UnavailableError(HeadroomError):
    """A server (Redis, Kafka, Mongo) can't be reached or refuses to work; trying again may help."""


class FrontierError(HeadroomError):
    """Redis holds a frontier that this version or these settings can't work on."""


class SessionLostError(FrontierError):
    """This worker's session lapsed and its seeds went to others; it must open a new one."""


class AnswerError(HeadroomError):
    """An answer that no page can be had from.

    Args:
        reason: Short hyphenated word for the ledger, such as `bad-response`.
    """

    def __init__(self, reason: str, detail: str = "") -> None:
        super().__init__(f"{reason}: {_short(detail)}" if detail else reason)
        self.reason = reason


class PageTimeoutError(HeadroomError):
    """A page took longer than PAGE_SECONDS, with all that was fetched for it; the rest isn't fetched."""


class PlanError(HeadroomError):
    """A plan command that can't be carried out (no such plan, name taken)."""


class ExtractError(HeadroomError):
    """A page yields nothing.

    Args:
        reason: Short hyphenated word for the ledger, such as `no-content` or `not-html`.
    """

    def __init__(self, reason: str, detail: str = "") -> None:
        super().__init__(f"{reason}: {detail}" if detail else reason)
        self.reason = reason


class SinkRejectedError(HeadroomError):
    """A sink will never take this item; it stands in none of its batches any more, the others are untouched.

    Args:
        sink: The sink's name.
        reason: Short hyphenated word for the ledger, such as `message-too-large`.
    """

    def __init__(self, sink: str, reason: str, detail: str = "") -> None:
        super().__init__(f"{sink}: {reason}: {detail}" if detail else f"{sink}: {reason}")
        self.sink = sink
        self.reason = reason
