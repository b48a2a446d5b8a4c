"""What may stand in a plan file. Plans that come back from Redis, which isn't trusted, pass the same checks."""

from __future__ import annotations

import re
from datetime import date
from functools import cached_property
from typing import Annotated, Any, Literal, Self

from pydantic import (
    BeforeValidator,
    Field,
    StringConstraints,
    ValidationInfo,
    field_validator,
    model_validator,
)

from crawler.models import is_plan_name
from crawler.plans.match import OPERATORS
from crawler.yamlfile import Part

MAX_WORD_CHARACTERS = 200  # of a keyword: search boxes take no more
MAX_SITES = 1_000  # of a plan: each is a file to read
_MAX_INTERVAL_D = 366  # days between two runs of a plan; more is a mistake
_UNITS_S = {"m": 60, "h": 3_600, "d": 86_400}
_SCHEDULE = re.compile(r"every ([1-9][0-9]{0,6}) ?([mhd])")
_CLASS_NAME = re.compile(r"[a-z][a-z0-9_]{0,63}")
_SITE_FORMS = "a site's name, or {use: NAME, name: NEW-NAME, base: https://...}"

Word = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=MAX_WORD_CHARACTERS)]
Words = Annotated[tuple[Word, ...], Field(strict=False)]


class KeywordClass(Part):
    """Words of one kind.

    Attributes:
        required: Words of every combination of the class.
        optional: Words of which each combination has `choose`.
        choose: From 1 to the number of different optional words.
    """

    required: Words = ()
    optional: Words = ()
    choose: int = Field(1, ge=1)

    @field_validator("choose")
    @classmethod
    def _enough(cls, value: int, info: ValidationInfo) -> int:
        different = len(set(info.data.get("optional", ())))
        if "optional" in info.data and value > max(1, different):
            raise ValueError(f"at most {max(1, different)}, as optional has {different} different words")
        return value


class SiteUse(Part):
    """A site of a plan; in a file, its name alone will do.

    Attributes:
        use: Name of a site file.
        name: What the site is called in this plan; empty: as in its file.
        base: Where the site of that name is; only with `name`, and `name` only with it.
    """

    use: str
    name: str = ""
    base: str = ""

    @model_validator(mode="before")
    @classmethod
    def _short_form(cls, value: Any) -> Any:
        if isinstance(value, str):
            return {"use": value}
        if not isinstance(value, dict | SiteUse):
            raise ValueError(_SITE_FORMS)  # noqa: TRY004 -- pydantic collects ValueErrors
        return value

    @model_validator(mode="after")
    def _both(self) -> Self:
        if bool(self.name) != bool(self.base):
            raise ValueError(_SITE_FORMS)
        return self


def _class_name(value: Any) -> Any:
    if not isinstance(value, str) or not _CLASS_NAME.fullmatch(value) or value in OPERATORS:
        raise ValueError("a class name of small letters, digits and _, other than and, or")
    return value


ClassName = Annotated[str, BeforeValidator(_class_name)]


class PlanFile(Part):
    """A plan file.

    Attributes:
        match: How the keyword classes are joined; empty: all that have words, by and.
        pages: Pages of search results, for each combination and site.
        per_page: Results on each page; a site may give fewer.
        since: First day that results may be from, as YYYY-MM-DD; empty for all.
        schedule: `every 30m`, `every 2h`, `every 1d`; empty: once.
    """

    name: str
    sites: tuple[SiteUse, ...] = Field(strict=False, min_length=1, max_length=MAX_SITES)
    keywords: dict[ClassName, KeywordClass] = Field(min_length=1, max_length=100)
    match: str = Field("", max_length=2_000)
    pages: int = Field(5, ge=1, le=1_000)
    per_page: int = Field(20, ge=1, le=500)
    sort: Literal["newest", "relevance"] = "newest"
    since: str = ""
    schedule: str = ""

    @field_validator("name")
    @classmethod
    def _name(cls, value: str) -> str:
        if not is_plan_name(value):
            raise ValueError("1 to 64 of a-z, 0-9 and -")
        return value

    @field_validator("since")
    @classmethod
    def _since(cls, value: str) -> str:
        if value and _day(value) is None:
            raise ValueError("a day such as 2026-11-01")
        return value

    @field_validator("schedule")
    @classmethod
    def _schedule(cls, value: str) -> str:
        if value and not 0 < _seconds(value) <= _MAX_INTERVAL_D * _UNITS_S["d"]:
            raise ValueError(f"every 30m, every 2h or every 1d; from 1m to {_MAX_INTERVAL_D}d")
        return value

    @cached_property
    def since_day(self) -> date | None:
        """`since` as a date; None for all."""
        return _day(self.since)

    @cached_property
    def interval_s(self) -> int:
        """Seconds between two runs; 0: it runs once."""
        return _seconds(self.schedule)


def _day(text: str) -> date | None:
    try:
        return date.fromisoformat(text) if re.fullmatch(r"\d{4}-\d\d-\d\d", text, re.ASCII) else None
    except ValueError:
        return None


def _seconds(schedule: str) -> int:
    found = _SCHEDULE.fullmatch(schedule)
    return int(found[1]) * _UNITS_S[found[2]] if found else 0
