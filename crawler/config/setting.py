"""What a setting is: a name, a type with a range, a default and a reason; and where its value comes from.

The table of all settings is `crawler/config/__init__.py`; docs/settings.md says in which order a value is looked for,
and `Setting.given` does it. Scrapy's settings come first, so that its own order holds within them. The environment
comes next: each node, or container, of one set-up can have its own; then credentials (`credentials.py`).

A setting that is Scrapy's or scrapy-redis's own is looked for in the settings alone: such names (LOG_LEVEL, REDIS_PORT)
stand in many environments for the sake of other programs. An empty variable counts as none: compose files make them.
"""

from __future__ import annotations

import os
import re
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import orjson
from scrapy.settings import SETTINGS_PRIORITIES

from crawler.base.errors import ConfigError
from crawler.base.redaction import HIDDEN, redacted_address
from crawler.config import credentials, scrapy_cfg

if TYPE_CHECKING:
    from collections.abc import Mapping

T = TypeVar("T")

# An address that lacks its scheme: a host with a port, or an address of IPv4, with a database at most.
_is_place = re.compile(r"(?:[\w.-]{1,253}:\d{1,5}|localhost|(?:\d{1,3}\.){3}\d{1,3})(?:/\w{0,64})?", re.ASCII).fullmatch
ESCAPED = "escape the password: %40 for @, %2F for /, %3F for ?, %23 for #, %25 for %, %5B for ["


@dataclass(frozen=True)
class Section:
    """The heading of the settings that follow it in the table, and in the reference."""

    heading: str


@dataclass(frozen=True)
class Given:
    """A value as somebody has written it.

    Attributes:
        value: Not checked.
        place: Where it stands, as errors say it: ` in the environment`; empty for the settings themselves.
    """

    value: Any
    place: str = ""


@dataclass(frozen=True)
class Setting(ABC, Generic[T]):
    """One setting; the subclasses are the types.

    Attributes:
        default: What counts where nobody says anything.
        why: One or two sentences for the reference: what it does, and why the default is what it is.
        unit: Of a number.
        secret: Its value holds, or may hold, a password: it is shown nowhere.
        owner: Whose name it is, `Scrapy` or `scrapy-redis`; empty: ours.
    """

    name: str
    default: T
    why: str
    unit: str = field(default="", kw_only=True)
    secret: bool = field(default=False, kw_only=True)
    owner: str = field(default="", kw_only=True)

    @property
    @abstractmethod
    def expected(self) -> str:
        """Which values it takes, in words: ends the line of an error, and stands in the reference."""

    @abstractmethod
    def parse(self, value: Any) -> T:
        """Returns a value as the type that it stands for.

        Raises:
            ValueError, TypeError, OverflowError: The setting can't have it.
        """

    def of(self, settings: Mapping[str, Any]) -> T:
        """Returns the setting's value. Components ask once, at their start.

        Raises:
            ConfigError: It is one that the setting can't have.
        """
        given = self.given(settings) or Given(self.default)
        try:
            return self.parse(given.value)
        except (ValueError, TypeError, OverflowError):
            raise ConfigError(self.name, self.shown(given.value), self.expected, given.place) from None

    def given(self, settings: Mapping[str, Any]) -> Given | None:
        """Returns the value that counts, unchecked, and where it stands; None: nobody has said anything."""
        if self.is_set(settings):
            return Given(settings[self.name])
        if not self.owner:
            if value := os.environ.get(self.name):
                return Given(value, " in the environment")
            if secret := credentials.read(self.name):
                return Given(secret[0], f" in {secret[1]}")
            if (entry := scrapy_cfg.read().get(self.name)) is not None:
                return Given(self.from_file(*entry), f" in {entry[1]}")
        return None

    def is_set(self, settings: Mapping[str, Any]) -> bool:
        """Returns whether the settings themselves say something, beyond Scrapy's defaults."""
        if settings.get(self.name) is None:
            return False
        priority_of = getattr(settings, "getpriority", None)  # a plain mapping has no priorities
        return priority_of is None or priority_of(self.name) > SETTINGS_PRIORITIES["default"]

    def from_file(self, value: str, file: str) -> str:
        """Returns a value as it is meant in a file."""
        return value

    def shown(self, value: object) -> object:
        """Returns a value as errors and commands may show it."""
        return HIDDEN if self.secret and value else value


@dataclass(frozen=True)
class Number(Setting[float]):
    """A number between `low` and `high`, both included."""

    low: float = field(kw_only=True)
    high: float = field(kw_only=True)

    @property
    def expected(self) -> str:
        return f"a number from {self.low:g} to {self.high:g}"

    def parse(self, value: Any) -> float:
        number = float(value)
        if not self.low <= number <= self.high:
            raise ValueError
        return number


@dataclass(frozen=True)
class Whole(Setting[int]):
    """A whole number between `low` and `high`, both included."""

    low: int = field(kw_only=True)
    high: int = field(kw_only=True)

    @property
    def expected(self) -> str:
        return f"a whole number from {self.low} to {self.high}"

    def parse(self, value: Any) -> int:
        number = float(value)
        if not self.low <= number <= self.high or number != int(number):
            raise ValueError
        return int(number)


@dataclass(frozen=True)
class Flag(Setting[bool]):
    """On or off: 1, true, yes and on, or 0, false, no, off and nothing, in any letter case."""

    @property
    def expected(self) -> str:
        return "1 or 0"

    def parse(self, value: Any) -> bool:
        word = str(value).strip().lower()
        if word in ("1", "true", "yes", "on"):
            return True
        if word in ("0", "false", "no", "off", "", "none"):
            return False
        raise ValueError


@dataclass(frozen=True)
class Words(Setting[tuple[str, ...]]):
    """A list, or a text with commas, as its entries that aren't empty.

    Attributes:
        least: The smallest number of entries.
    """

    least: int = field(default=0, kw_only=True)
    each: str = field(default="words", kw_only=True)

    @property
    def expected(self) -> str:
        return f"{self.each}, several with commas" if self.least else f"a list, or {self.each} with commas between them"

    def parse(self, value: Any) -> tuple[str, ...]:
        if not isinstance(value, str | list | tuple | set | frozenset):
            raise TypeError
        entries = value.split(",") if isinstance(value, str) else value
        words = tuple(str(entry).strip() for entry in entries if str(entry).strip())
        if len(words) < self.least:
            raise ValueError
        return words


@dataclass(frozen=True)
class Line(Setting[str]):
    """Any text, or one of a form.

    Attributes:
        pattern: A regular expression that all of it has to match.
        form: The same in words.
    """

    pattern: str = field(default=r"(?s:.*)", kw_only=True)
    form: str = field(default="any text", kw_only=True)

    @property
    def expected(self) -> str:
        return self.form

    def parse(self, value: Any) -> str:
        text = "" if value is None else str(value).strip()
        if not re.fullmatch(self.pattern, text):
            raise ValueError
        return text


@dataclass(frozen=True)
class Choice(Setting[str]):
    """One of a few words, as they are written."""

    choices: tuple[str, ...] = field(kw_only=True)

    @property
    def expected(self) -> str:
        return " or ".join(choice or "nothing" for choice in self.choices)

    def parse(self, value: Any) -> str:
        if value not in self.choices:
            raise ValueError
        return str(value)


@dataclass(frozen=True)
class Location(Setting[str]):
    """A file or a folder. A relative one is below where the process runs; in scrapy.cfg, below that file's folder."""

    form: str = field(default="a folder", kw_only=True)
    is_read: bool = field(default=False, kw_only=True)  # a folder that must be there, since nothing makes it

    @property
    def expected(self) -> str:
        return f"{self.form} that is there" if self.is_read else self.form

    def parse(self, value: Any) -> str:
        if not isinstance(value, str | os.PathLike) or "\0" in (path := os.fspath(value)):
            raise ValueError
        if self.is_read and path and not Path(path).is_dir():
            raise ValueError
        return path

    def from_file(self, value: str, file: str) -> str:
        """Returns the path as it is meant in a file; addresses such as s3:// stay."""
        return value if not value or "://" in value else os.path.join(os.path.dirname(file), value)  # noqa: PTH118, PTH120 -- a text stays one


@dataclass(frozen=True)
class Address(Setting[str]):
    """A server's URL; it may hold a password, which isn't shown.

    One in which an `@` follows the server's name is refused: it belongs to a password in which something isn't escaped,
    and whose first part the client would take for the server's name.

    Attributes:
        schemes: How it may begin.
        ends: Characters of which the first one, to the client, ends the part with password and server's name.
    """

    schemes: tuple[str, ...] = field(kw_only=True)
    ends: str = field(default="/?#", kw_only=True)

    @property
    def expected(self) -> str:
        return f"a URL that begins with {' or '.join(f'{scheme}://' for scheme in self.schemes)}; {ESCAPED}"

    def parse(self, value: Any) -> str:
        url = str(value).strip()
        scheme, _, rest = url.partition("://")
        if scheme not in self.schemes:
            raise ValueError
        first = re.split(f"[{self.ends}]", rest, maxsplit=1)[0]
        # The part before the path says who logs in, if anybody; the path may have an `@`.
        if scheme == "unix" and first[-1:] in ("", "@"):
            return url
        if scheme == "unix" or "@" in rest[len(first) :]:
            raise ValueError
        return url

    def shown(self, value: object) -> object:
        """Returns it without its password; nothing of what is no address, which may be a password alone."""
        text = str(value)
        return redacted_address(text) if "://" in text else text if _is_place(text) else super().shown(value)


@dataclass(frozen=True)
class Bindings(Setting[dict[str, tuple[str, ...]]]):
    """Names, each with the places that it is bound to: `NAME=PLACE`, several with commas, a name as often as needed.

    Attributes:
        pattern: A regular expression that all of an entry has to match; its groups are the name and the place.
        form: An entry in words.
    """

    pattern: str = field(kw_only=True)
    form: str = field(kw_only=True)

    @property
    def expected(self) -> str:
        return f"{self.form}, several with commas"

    def parse(self, value: Any) -> dict[str, tuple[str, ...]]:
        groups: dict[str, tuple[str, ...]] = {}
        for entry in filter(None, (part.strip() for part in str(value or "").split(","))):
            match = re.fullmatch(self.pattern, entry)
            if match is None:
                raise ValueError
            groups[match[1]] = (*groups.get(match[1], ()), match[2].lower())
        return groups


@dataclass(frozen=True)
class Options(Setting[dict[str, Any]]):
    """A dict, or a JSON object as text; an empty text is an empty dict."""

    form: str = field(kw_only=True)

    @property
    def expected(self) -> str:
        return f"{self.form}, as a dict or as JSON"

    def parse(self, value: Any) -> dict[str, Any]:
        mapping = orjson.loads(value or "{}") if isinstance(value, str) else value
        if not isinstance(mapping, dict) and not hasattr(
            mapping, "items"
        ):  # Scrapy keeps dicts as settings in settings
            raise TypeError
        return dict(mapping)
