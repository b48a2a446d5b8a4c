"""Which pages of a site a browser renders, and when a rendered page counts as complete."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, Self

from pydantic import Field, field_validator, model_validator

from crawler.base.yamlfile import Part, ShortPart
from crawler.sites.selector import Selector, SelectorField
from crawler.sites.steps import MAX_STEPS, PageStep

if TYPE_CHECKING:
    from crawler.base.models import Frontier

When = Literal["never", "auto", "always"]
# What a page shows beside its text and its data, by the name that plans and browsers have for it.
Extra = Literal["images", "fonts", "media", "websockets"]


class Settle(Part):
    """When a page counts as complete: by the selector if there is one, else by quiet; in any case at the cap."""

    selector: SelectorField | None = Field(
        None,
        description="A `css:` selector without `::text` or `::attr()`: the page is complete as soon as it finds an "
        "element. Without it, a page is complete when it is quiet.",
        examples=["css:.post"],
    )
    quiet: float = Field(
        0.5,
        ge=0.05,
        le=60,
        description="Seconds for which a page must have no request under way and change nothing, to count as quiet.",
        examples=[1],
    )
    cap: float = Field(
        60,
        ge=1,
        le=600,
        description="Seconds after which a page is read as it is by then; its requests wait for turns of their hosts "
        "meanwhile. The item's `rendered` is then `cap`.",
        examples=[30],
    )

    @field_validator("selector")
    @classmethod
    def _for_browsers(cls, value: Selector | None) -> Selector | None:
        if value and (value.language != "css" or "::" in value.text):
            raise ValueError("a css: selector of elements, without ::text or ::attr()")
        return value


class Rendering(ShortPart):
    """Whether pages of one type are rendered, and how. `when` alone is enough where that is all."""

    when: When = Field(
        "never",
        description="`always`: every page is rendered. It comes by the crawl's own client first, as any other page; a "
        "browser is then given it, runs its scripts, and asks the crawl for all that they want. Pages other than HTML "
        "are read as they come. `auto`: a page is read as it comes, and rendered if it lacks fields or results that "
        "this file names; what that brings decides for further pages of this type. `never`: no browser is needed.",
        examples=["auto"],
    )
    settle: Settle = Field(
        Settle(),
        description="When a rendered page counts as complete.",
        examples=[{"selector": "css:.post", "cap": 30}],
    )
    wants: tuple[Extra, ...] = Field(
        (),
        strict=False,
        description="What is fetched for the page beside documents, scripts, styles and data: `images`, `fonts`, "
        "`media`. What isn't wanted is answered empty at once. With `websockets`, those of the page "
        "and its frames are opened.",
        examples=[["images"]],
    )
    steps: tuple[PageStep, ...] = Field(
        (),
        max_length=MAX_STEPS,
        strict=False,
        description="What is done on the page before it is read, in order.",
        examples=[[{"click": "button.more"}, {"wait": ".post"}]],
    )
    seconds: float | None = Field(
        None,
        ge=1,
        le=3_600,
        description="Seconds that the page may take in the browser, its steps and all that it loads among them; "
        "without it, those of the setting PAGE_SECONDS. A page that isn't ready by then fails as `render-timeout`.",
        examples=[600],
    )

    short_for = "when"

    @model_validator(mode="after")
    def _rendered(self) -> Self:
        if self.when == "never" and (self.steps or self.seconds):
            raise ValueError("`when: always` or `auto` beside steps and seconds")
        return self


class Render(Part):
    """Which pages a browser renders."""

    content: Rendering = Field(Rendering(), description="For content pages.", examples=["always"])
    results: Rendering = Field(Rendering(), description="For search pages.", examples=["always"])

    def of(self, frontier: Frontier) -> Rendering:
        """Returns how pages of a frontier are rendered."""
        return self.content if frontier == "content" else self.results
