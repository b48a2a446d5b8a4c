"""A rule: where the value of a field stands on a page, and how it is read."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Any, Self

from pydantic import Field, JsonValue, field_validator, model_validator

from crawler.base.item import READ_FIELDS, ReadAs
from crawler.base.yamlfile import Part, ShortPart
from crawler.sites.page_type import LANGUAGES
from crawler.sites.pattern import PatternField
from crawler.sites.selector import AUTO, Selector, SelectorField, SelectorOrAuto

if TYPE_CHECKING:
    from collections.abc import Iterable

_ANY_DATE = datetime(2026, 11, 23, 14, 5, 6, tzinfo=UTC)  # a format has to write it, and to read what it wrote
ExtraName = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,63}$")]  # the name of a field that only this site has
# What a rule reads for each mark of a field, and an example of one.
_READ: dict[ReadAs, tuple[str, JsonValue]] = {
    ReadAs.LINE: ("text on one line", "css:h1"),
    ReadAs.NAMES: ("text on one line, several matches with commas between them", "css:.author"),
    ReadAs.INSTANT: (
        "a date, of several matches the first that is one; without a zone, in the site's `timezone`",
        "css:time",
    ),
    ReadAs.PARAGRAPHS: (
        "text: a paragraph or a table's row on a line, tabs between cells, `<pre>` as it is; further pages follow",
        {"select": "css:article", "required": True},
    ),
    ReadAs.IMAGES: ("addresses of images, which are fetched where `FILES_STORE` is set", "css:article img"),
    ReadAs.VIDEOS: ("addresses of videos", "css:article video source"),
}


class Rule(ShortPart):
    """Where the value of a field stands, and how it is read. The selector alone is enough where that is all."""

    select: SelectorOrAuto = Field(
        description="Selects the value. Of an element, fields of text take its text (`published` its `datetime`, if it "
        "has one, and a `<meta>` its `content`), images and videos its `src`, `href` or `content`. On HTML pages, what "
        "a page declares about itself may be selected, too: `jsonld:`, `microdata:`, `meta:`. `auto` reads a field of "
        "`content` as pages without selectors are read, and says how sure it is; beside it only `required` and "
        "`first_page_only` may stand.",
        examples=["css:article"],
    )
    all: bool = Field(
        default=False,
        description="Take every match instead of the first; texts are joined, a field of `extra` becomes a list. "
        "Images and videos always take every match.",
        examples=[True],
    )
    remove: tuple[SelectorField, ...] = Field(
        (),
        strict=False,
        max_length=50,
        description="Select elements within the value that are left out of its text, such as signatures.",
        examples=[["css:.signature", "css:.share"]],
    )
    required: bool = Field(
        default=False,
        description="A page that has none of the required fields fails as `no-content`. Where no field is required, "
        "`content` is; where there is no `content`, any field will do.",
        examples=[True],
    )
    html: bool = Field(
        default=False,
        description="The value is HTML inside JSON, JSON-LD too: its text is taken, or the images or videos in it.",
        examples=[True],
    )
    format: str = Field(
        "",
        max_length=200,
        description="The strptime format of a date that could be read in two ways, such as 03/04/2026. It is "
        "tried first; a date in another form is read as without it.",
        examples=["%d/%m/%Y %H:%M"],
    )

    pattern: PatternField | None = Field(
        None,
        description="A regular expression (RE2) that cuts the value out of what is selected, blanks already single: "
        "its first group, or all that it matches if it has none. Matches of `select` in which it finds nothing count "
        "as not found. Of images and videos it cuts the address as it is written.",
        examples=[r"by (.+?) on"],
    )
    keep_whitespace: bool = Field(
        default=False,
        description="Keep lines, empty ones too, and indentation, as of mails; of code in a `<pre>` they are kept "
        "anyway. An element is read as if it was `<pre>`. For `content` and fields of `extra`.",
        examples=[True],
    )
    first_page_only: bool = Field(
        default=False,
        description="Read only on the first page of an item that goes over several (`next_page`): of a value that each "
        "page repeats, such as the post that a thread began with.",
        examples=[True],
    )

    short_for = "select"

    @property
    def is_auto(self) -> bool:
        """Whether the value is read as on pages without selectors."""
        return self.select is AUTO

    @model_validator(mode="after")
    def _auto_alone(self) -> Self:
        if self.is_auto and not self.model_fields_set <= {"select", "required", "first_page_only"}:
            raise ValueError("nothing but required and first_page_only beside select: auto")
        return self

    @field_validator("format")
    @classmethod
    def _format(cls, value: str) -> str:
        """Has a date written and read, as Python reads formats only with one."""
        if not value:
            return value
        if not re.search("%[YyGcx]", value.replace("%%", "")):  # from Python 3.13 on, reading a day without one warns
            raise ValueError("a strptime format with the year, such as %d/%m/%Y")
        try:
            datetime.strptime(_ANY_DATE.strftime(value), value)  # noqa: DTZ007 -- what it reads isn't looked at
        except (ValueError, re.error) as error:  # of a directive given twice comes an error of the expression
            raise ValueError(f"a strptime format such as %d/%m/%Y: {error}") from error
        return value

    @field_validator("remove")
    @classmethod
    def _markup(cls, value: tuple[Selector, ...]) -> tuple[Selector, ...]:
        if any(selector.language not in LANGUAGES["html"] for selector in value):
            raise ValueError("css: or xpath: selectors")
        return value


def given(part: Part, names: Iterable[str]) -> dict[str, Rule]:
    """Returns the rules that a part of a file has under some keys, by key, without those that it leaves out."""
    return {name: rule for name in names if (rule := getattr(part, name))}


def rule_of(name: str, says: str) -> Any:
    """Returns the key of a model that holds the rule of one of an item's fields, as `pydantic.create_model` takes it.

    Args:
        name: Name of the field, and of the key.
        says: What the rule is, for its description; `{}` stands for the name.
    """
    how, example = _READ[READ_FIELDS[name]]
    description = f"{says.format(name)}: {how}. Where it finds nothing, the item has none."
    return Rule | None, Field(None, description=description, examples=[example])
