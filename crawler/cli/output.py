"""What commands print beside tables: JSON, errors, times and quantities. No text can act on the terminal."""

from __future__ import annotations

import json
import sys
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, TypeVar

import orjson

from crawler.base.errors import InputError
from crawler.base.text import one_line
from crawler.config.check import redaction_of

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Mapping

T = TypeVar("T")
MAX_ERRORS = 50  # most errors of a file that are shown; whoever has mended so many looks again
MAX_ERROR_CHARACTERS = 2_000  # how much is shown of an error, which is one line to read: what it quotes is much shorter
UNITS = ("B", "kB", "MB", "GB", "TB", "PB")
UNIT = 1000
WHOLE_FROM = 100  # smaller numbers have decimals


def print_error(error: Exception, settings: Mapping[str, Any]) -> None:
    """Prints an error as one line on stderr, without the secrets of the settings and the environment.

    Of a file, whatever is wrong with it has a line, the first `MAX_ERRORS` of them.
    """
    errors = [error, *error.further] if isinstance(error, InputError) else [error]
    for part in errors[:MAX_ERRORS]:
        text = one_line(redaction_of(settings)(str(part)))
        short = text if len(text) <= MAX_ERROR_CHARACTERS else text[:MAX_ERROR_CHARACTERS] + "..."
        print("error:", short, file=sys.stderr)
    if len(errors) > MAX_ERRORS:
        print(f"error: and {len(errors) - MAX_ERRORS} more", file=sys.stderr)


def print_answer(opts: argparse.Namespace, answer: T, print_text: Callable[[T], object]) -> None:
    """Prints a command's answer, as JSON where `--json` asks for that, else with `print_text`."""
    if opts.json:
        print_json(answer)
    else:
        print_text(answer)


def print_json(value: object) -> None:
    """Prints a value of JSON types or dataclasses, indented, in UTF-8 whatever the terminal's locale is."""
    sys.stdout.flush()
    sys.stdout.buffer.write(to_json(value, orjson.OPT_INDENT_2) + b"\n")
    sys.stdout.buffer.flush()


def to_json(value: object, option: int = 0) -> bytes:
    r"""Returns a value as JSON in UTF-8. Characters that don't show are escaped (`\u001b`), which means the same."""
    encoded = orjson.dumps(value, option=option)
    text = encoded.decode()
    if text.replace("\n", "").isprintable():  # line breaks stand between values; JSON has none within strings
        return encoded
    return "".join(char if char.isprintable() or char == "\n" else json.dumps(char)[1:-1] for char in text).encode()


def format_time(at_ms: int, *, to_minutes: bool = False) -> str:
    """Returns a time, given in ms since the epoch, as people read it, in UTC."""
    try:
        return datetime.fromtimestamp(at_ms / 1000, UTC).strftime(f"%Y-%m-%d %H:%M{'' if to_minutes else ':%S'} UTC")
    except (ValueError, OverflowError, OSError):  # Redis isn't trusted to hold a time
        return f"{at_ms} ms"


def duration(seconds: float) -> str:
    """Returns a time as people say it: 40 s, 12 min, 3.5 h, 4.2 days."""
    for unit, unit_s, least_s in (("days", 86_400, 172_800), ("h", 3_600, 3_600), ("min", 60, 60)):
        if seconds >= least_s:
            return f"{seconds / unit_s:.3g} {unit}"
    return f"{seconds:.0f} s"


def quantity(number: int, noun: str) -> str:
    """Returns a number with its noun: `1 seed`, `2,000 seeds`."""
    return f"{number:,} {noun}{'s' * (number != 1)}"


def shown_count(name: str, number: float) -> str:
    """Returns a number as people read it, bytes with a unit."""
    if name == "bytes":
        return bytes_text(number)
    return f"{number:,.4g}" if isinstance(number, float) else f"{number:,}"


def bytes_text(number: float) -> str:
    """Returns a number of bytes in the unit of which it has up to three digits before the point."""
    place = 0
    while number >= UNIT and place < len(UNITS) - 1:
        number, place = number / UNIT, place + 1
    return f"{number:,.0f} {UNITS[place]}" if number >= WHOLE_FROM else f"{number:.3g} {UNITS[place]}"
