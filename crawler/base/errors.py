"""The errors that Headroom raises for the operator, or for several of its parts to catch, as one tree.

A command prints such an error as one line and exits with status 1. Any other exception that reaches it is a bug, and
its traceback is shown. Errors outside this tree are caught near where they are raised, or must be of a class of
Scrapy's, such as `RefusedError`.
"""

from __future__ import annotations

import difflib
import sys
from typing import TYPE_CHECKING

from crawler.base.redaction import HIDDEN, names_secret, without_credentials, without_secrets

if TYPE_CHECKING:
    from collections.abc import Iterable

    from crawler.base.reasons import Reason

MAX_NAMES = 20  # most names of what there is that an error message has: enough to choose from, and still a line
MAX_SHOWN_CHARACTERS = 120  # how much an error message shows of a value, so that it fits on a line
MAX_FILE_CHARACTERS = 255  # how much it shows of a file's path; a name in it has no more on most systems


class HeadroomError(Exception):
    """The root of the tree. The text of an error is one line for the operator."""


class ConfigError(HeadroomError):
    """A setting has a value that it can't have.

    Args:
        place: Where the value stands, such as ` in the environment`; empty: in the settings themselves.
    """

    def __init__(self, key: str, value: object, expected: str, place: str = "") -> None:
        super().__init__(f"setting {key}{place}: got {shown(value)}, expected {expected}")
        self.key = key


class UnknownSettingError(HeadroomError):
    """There is no setting of a name that stands in the settings, and it looks like a misspelt one.

    Args:
        name: The name as it is written.
        meant: The setting whose name is nearest.
        place: As for ConfigError.
    """

    def __init__(self, name: str, meant: str, place: str = "") -> None:
        own = f"; if {name} is a setting of your own, set {meant} as well"
        super().__init__(f"setting {shown(name)}{place}: there is none; did you mean {meant}?{'' if place else own}")
        self.name, self.meant = name, meant


class InputError(HeadroomError):
    """A plan or site file holds something that it can't hold.

    Args:
        file: The file's name as the user gave it.
        line: Line of the wrong key or value, from 1; 0 when the error is about the whole file.
        key: Dotted path of the key (`keywords.event.optional`); empty when the error is about the whole file.
        value: The wrong value; None when a value is missing.
        expected: What is allowed there, in words.

    Attributes:
        further: What else is wrong with the file, in its order.
    """

    further: tuple[InputError, ...] = ()

    def __init__(self, file: str, line: int, key: str, value: object, expected: str) -> None:
        path = short(file, MAX_FILE_CHARACTERS)
        where = f"{path}:{line}" if line else path
        what = f"{short(key)}: " if key else ""
        is_secret = isinstance(value, str) and names_secret(key.rpartition(".")[2])
        got = "nothing" if value is None else HIDDEN if is_secret else shown(without_secrets(value))
        super().__init__(f"{where}: {what}got {got}, expected {expected}")
        self.file, self.line, self.key, self.value, self.expected = file, line, key, value, expected


def existing(name: str, known: Iterable[str], what: str, possible: Iterable[str] = ()) -> str:
    """Returns what an error message says of a name that nothing has: the nearest name that there is, else all of them.

    Args:
        known: The names that there are.
        what: What these name, in plural, such as `submitted plans`.
        possible: Names that there may be; only the nearest is told.
    """
    names = sorted(known)
    by_folded = {known_name.casefold(): known_name for known_name in (*possible, *names)}
    if close := difflib.get_close_matches(name.casefold()[:MAX_SHOWN_CHARACTERS], by_folded, 1):
        return f"did you mean {by_folded[close[0]]}?"
    more = f" and {len(names) - MAX_NAMES} more" if len(names) > MAX_NAMES else ""
    return f"{what}: {', '.join(names[:MAX_NAMES]) or 'none'}{more}"


def shown(value: object) -> str:
    """Returns a value as an error message quotes it: on one line, cut if it is long, without credentials."""
    try:
        text = repr(value)
    except ValueError:  # Python converts no number of so many digits, be it alone or within a list
        text = f"a number of more than {sys.get_int_max_str_digits()} digits"
    return short(text)


def short(text: str, max_characters: int = MAX_SHOWN_CHARACTERS) -> str:
    """Returns a text cut to what an error message can hold of it, without credentials."""
    text = without_credentials(text)
    return text if len(text) <= max_characters else text[:max_characters] + "..."


class UrlError(HeadroomError):
    """A text is no URL that a browser would open, or its scheme is neither http nor https."""

    def __init__(self, text: str) -> None:
        super().__init__(without_credentials(text))


class ScriptRouteError(UrlError):
    """A text is the address of a view that a page's script shows (`#/thread/1`), and no browser renders the page."""


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


class LacksError(HeadroomError):
    """A page that is read on trial lacks something: perhaps it has that once a browser has rendered it.

    Attributes:
        lacked: Names of fields, or `results`.
    """

    def __init__(self, lacked: tuple[str, ...]) -> None:
        super().__init__(f"the page lacks {', '.join(lacked)}")
        self.lacked = lacked


class UnavailableError(HeadroomError):
    """Something can't be done now, though it may succeed later.

    A server (Redis, Kafka, MongoDB, a page's host) can't be reached or refuses to work, or this worker is stopping.
    """


class AccessError(UnavailableError):
    """A server answers and refuses this client: a wrong password, a missing right, no such database, no trust in TLS.

    It ends a start at once, since waiting mends none of these. Once a worker runs it is an outage like others:
    passwords are changed and rights are taken by mistake, and what the worker holds is not lost.
    """


class NodeError(UnavailableError):
    """This node lacks what a request needs, such as file descriptors or memory: no host is at fault, and no page.

    Args:
        lack: What it has none left of, in words for operators.
    """

    def __init__(self, lack: str, detail: str = "") -> None:
        super().__init__(f"no {lack} left: {short(detail)}" if detail else f"no {lack} left")
        self.lack = lack


class FrontierError(HeadroomError):
    """The frontier in Redis can't be worked on as asked.

    What it holds is damaged, doesn't reconcile, or needs another version or other settings; or see the subclass.
    """


class SessionLostError(FrontierError):
    """The session in which something was held is over, or the visit or the worker has ended: it is no longer held."""


class AnswerError(HeadroomError):
    """An HTTP answer can't be read as a page.

    Args:
        reason: For the ledger, such as `reasons.BAD_RESPONSE`.
    """

    def __init__(self, reason: Reason, detail: str = "") -> None:
        super().__init__(f"{reason}: {short(detail)}" if detail else reason)
        self.reason = reason


class PageTimeoutError(HeadroomError):
    """A page, with all that is fetched for it, took longer than PAGE_SECONDS; the rest isn't fetched."""


class PlanError(HeadroomError):
    """A plan can't be submitted or changed as asked: there is no such plan, or the name is taken."""


class ExtractError(HeadroomError):
    """A page yields no item and no links.

    Args:
        reason: For the ledger, such as `reasons.NOT_HTML`; `Reason("no-thread")` is one of your own.
    """

    def __init__(self, reason: Reason, detail: str = "") -> None:
        super().__init__(f"{reason}: {detail}" if detail else reason)
        self.reason = reason


class SinkRejectedError(HeadroomError):
    """A sink refuses an item; out of a batcher: for good, while it takes others.

    Args:
        sink: The sink's name.
        reason: For the ledger, such as `reasons.MESSAGE_TOO_LARGE`.
    """

    def __init__(self, sink: str, reason: Reason, detail: str = "") -> None:
        super().__init__(f"{sink}: {reason}: {detail}" if detail else f"{sink}: {reason}")
        self.sink = sink
        self.reason = reason
