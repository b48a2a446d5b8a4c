"""Reads settings as plain values.

Components read their settings through these functions, once, at start. A value that a setting can't have raises a
ConfigError, which names the setting and stops the process with one line.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from crawler.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


def number(settings: Mapping[str, Any], key: str, low: float, high: float) -> float:
    """Returns the setting as a float between `low` and `high`, both included.

    Raises:
        ConfigError: It isn't a number, or is out of range.
    """
    value = settings.get(key)
    try:
        result = float(value)  # type: ignore[arg-type]  # a wrong type is what the except clause is for
    except (TypeError, ValueError):
        raise ConfigError(key, value, f"a number from {low:g} to {high:g}") from None
    if not low <= result <= high:
        raise ConfigError(key, value, f"a number from {low:g} to {high:g}")
    return result


def whole(settings: Mapping[str, Any], key: str, low: int, high: int) -> int:
    """Returns the setting as an int between `low` and `high`, both included.

    Raises:
        ConfigError: It isn't a whole number, or is out of range.
    """
    result = number(settings, key, low, high)
    if result != int(result):
        raise ConfigError(key, settings.get(key), f"a whole number from {low} to {high}")
    return int(result)


def flag(settings: Mapping[str, Any], key: str) -> bool:
    """Returns the setting as a bool: 1, true, yes and on, or 0, false, no, off and nothing, in any letter case.

    Raises:
        ConfigError: It is anything else.
    """
    value = settings.get(key)
    word = str(value).strip().lower()
    if word in ("1", "true", "yes", "on"):
        return True
    if word in ("0", "false", "no", "off", "", "none"):
        return False
    raise ConfigError(key, value, "1 or 0")


def words(settings: Mapping[str, Any], key: str, allowed: Iterable[str] = ()) -> tuple[str, ...]:
    """Returns a setting that is a list, or a string with commas, as a tuple of its entries that aren't empty.

    Raises:
        ConfigError: It is neither a list nor a string, or has an entry that isn't among `allowed` (if any).
    """
    value = settings.get(key) or ()
    if not isinstance(value, str | list | tuple | set | frozenset):
        raise ConfigError(key, value, "a list, or words with commas between them")
    entries = value.split(",") if isinstance(value, str) else value
    result = tuple(str(entry).strip() for entry in entries if str(entry).strip())
    choices = tuple(allowed)
    for entry in result:
        if choices and entry not in choices:
            raise ConfigError(key, entry, "any of " + ", ".join(choices))
    return result


def word(settings: Mapping[str, Any], key: str) -> str:
    """Returns the setting as a name of letters, digits, `-`, `_` and `.`.

    Raises:
        ConfigError: It is empty, or has other characters.
    """
    value = str(settings.get(key) or "")
    if not value or not all(letter.isalnum() or letter in "-_." for letter in value):
        raise ConfigError(key, value, "letters, digits, '-', '_' and '.'")
    return value
