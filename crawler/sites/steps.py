"""What a site's file has done on a page before it is read: steps, each a key and what it is about."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Annotated, Literal, Self, get_args
from urllib.parse import quote

from pydantic import AfterValidator, Field, WithJsonSchema, model_validator

from crawler.base.yamlfile import Part, ShortPart
from crawler.sites.css import Css
from crawler.sites.render_step import DEFAULT_SECONDS, TOP, Action, RenderStep, StepTarget

MAX_STEPS = 50  # a list of steps has no more; a person writes five
MAX_TIMES = 1_000  # what `repeat` and `scroll` do at most; the page's deadline comes first
MAX_TEXT_CHARACTERS = 1_000
BASE, KEYWORDS = "{base}", "{keywords}"
_TEXT = "text:"
_NAMED_KEYS = frozenset(
    """Enter Tab Escape Backspace Delete Insert Space Home End PageUp PageDown
    ArrowUp ArrowDown ArrowLeft ArrowRight F1 F2 F3 F4 F5 F6 F7 F8 F9 F10 F11 F12""".split()
)
_HELD_KEYS = frozenset({"Control", "Shift", "Alt", "Meta"})
_COOKIE_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}")  # RFC 9110 calls it a token
_COOKIE_VALUE = re.compile(r"[\x21\x23-\x2b\x2d-\x3a\x3c-\x5b\x5d-\x7e]{0,1000}")  # as RFC 6265 has it, in 4.1.1


def _element(text: str) -> str:
    """Returns a text that says which element is meant."""
    if text.startswith(_TEXT) and text.removeprefix(_TEXT).strip():
        return text
    return _css(text)


def _css(text: str) -> str:
    expected = "a CSS selector, such as button.more"
    if len(text) > MAX_TEXT_CHARACTERS or ">>" in text or "::" in text:  # the browser's driver reads >> as its own
        raise ValueError(expected)
    try:
        Css.parse(text.removeprefix("css:").strip())
    except ValueError as error:
        raise ValueError(f"{expected} ({error})") from None
    return text


def _key(text: str) -> str:
    *held, key = text.split("+") if len(text) > 1 else [text]
    if not set(held) <= _HELD_KEYS or not (len(key) == 1 or key in _NAMED_KEYS):
        raise ValueError("a key such as Enter, PageDown, a or Control+a")
    return text


def _cookie_name(text: str) -> str:
    if not _COOKIE_NAME.fullmatch(text):
        raise ValueError("a cookie's name")
    return text


def _cookie_value(text: str) -> str:
    if not _COOKIE_VALUE.fullmatch(text):
        raise ValueError("a cookie's value, without blanks, quotes, commas, semicolons and backslashes")
    return text


ElementText = Annotated[
    str, AfterValidator(_element), WithJsonSchema({"type": "string", "format": "CSS selector, or `text:` and words"})
]
CssText = Annotated[str, AfterValidator(_css), WithJsonSchema({"type": "string", "format": "CSS selector"})]
_Text = Annotated[str, Field(max_length=MAX_TEXT_CHARACTERS)]
_ELEMENT = "Which element: the first visible one that matches, or in which these words stand."


def _target(text: str | None) -> StepTarget | None:
    if text is None:
        return None
    if text.startswith(_TEXT):
        return StepTarget(text=" ".join(text.removeprefix(_TEXT).split()))
    return StepTarget(css=text.removeprefix("css:").strip())


@dataclass(frozen=True, slots=True)
class StepValues:
    """What stands for the placeholders of steps.

    Attributes:
        base: The site's.
        keywords: The words that the page is searched for, with spaces between.
    """

    base: str
    keywords: str


# What each kind of step says; `step` of these classes returns it as it is played.
class Wait(ShortPart):
    """What is waited for: one of these."""

    selector: ElementText | None = Field(None, description=f"{_ELEMENT} It must be visible.", examples=[".results li"])
    seconds: float | None = Field(None, ge=0, le=600, description="Seconds that pass in any case.", examples=[2])
    quiet: float | None = Field(
        None,
        ge=0.05,
        le=60,
        description="Seconds for which no request may be under way, and nothing change. After each step a page has "
        "its time to become quiet anyway.",
        examples=[3],
    )

    short_for = "selector"

    @model_validator(mode="after")
    def _one(self) -> Self:
        if sum(value is not None for value in (self.selector, self.seconds, self.quiet)) != 1:
            raise ValueError("one of selector, seconds, quiet")
        return self

    def step(self, given: StepValues) -> RenderStep:
        text = "" if self.quiet is None else "quiet"
        return RenderStep("wait", _target(self.selector), text=text, seconds=self.seconds or self.quiet or 0.0)


class Fill(Part):
    """A field of a form, and what is written into it, in place of what stands there."""

    selector: ElementText = Field(description=f"The field. {_ELEMENT}", examples=["input[name=q]"])
    text: _Text = Field(
        description=f"The text. `{KEYWORDS}` stands for the words that the page is searched for, with spaces between.",
        examples=[KEYWORDS],
    )

    def step(self, given: StepValues) -> RenderStep:
        return RenderStep("fill", _target(self.selector), text=self.text.replace(KEYWORDS, given.keywords))


class Press(ShortPart):
    """A key, pressed and let go; on an element if one is named, else wherever the page has its cursor."""

    key: Annotated[str, AfterValidator(_key)] = Field(
        description="A letter or a name: `Enter`, `Tab`, `Escape`, `PageDown`, `ArrowDown`, `Control+a` ...",
        examples=["Enter"],
    )
    selector: ElementText | None = Field(
        None, description=f"What has the cursor. {_ELEMENT}", examples=["input[name=q]"]
    )

    short_for = "key"

    def step(self, given: StepValues) -> RenderStep:
        return RenderStep("press", _target(self.selector), text=self.key)


class Select(Part):
    """A list of options, and the one that is selected."""

    selector: ElementText = Field(description=f"The list. {_ELEMENT}", examples=["select.year"])
    option: _Text = Field(description="The option's value, or what it shows.", examples=["2026"])

    def step(self, given: StepValues) -> RenderStep:
        return RenderStep("select", _target(self.selector), text=self.option)


class CheckBox(ShortPart):
    """A box, checked or unchecked."""

    selector: ElementText = Field(description=f"The box. {_ELEMENT}", examples=["#archived"])
    checked: bool = Field(default=True, description="`false`: the box is unchecked.", examples=[False])

    short_for = "selector"

    def step(self, given: StepValues) -> RenderStep:
        return RenderStep("check", _target(self.selector), is_checked=self.checked)


class Scroll(ShortPart):
    """How far the page is scrolled down; `{}`: until that brings nothing new."""

    until: ElementText | None = Field(
        None,
        description="Until this element is there; if it never is, the step fails. Without it, until a scroll brings no "
        "new text and no new link.",
        examples=[".end-of-list"],
    )
    times: int = Field(50, ge=1, le=MAX_TIMES, description="Scrolled is so often at most.", examples=[100])

    short_for = "until"

    def step(self, given: StepValues) -> RenderStep:
        return RenderStep("scroll", _target(self.until), times=self.times)


class DialogAnswer(ShortPart):
    """How dialogs are answered from here on; before, they are dismissed."""

    answer: Literal["accept", "dismiss"] = Field(
        description="`accept`, as by their OK, or `dismiss`.", examples=["accept"]
    )
    text: _Text = Field("", description="What is written into a dialog that asks for a text.", examples=["yes"])

    short_for = "answer"

    def step(self, given: StepValues) -> RenderStep:
        return RenderStep("dialog", text=self.text, name=self.answer)


class SetCookie(Part):
    """A cookie for the page's host, which goes with the page's next requests. It is no place for secrets."""

    name: Annotated[str, AfterValidator(_cookie_name)] = Field(description="Its name.", examples=["layout"])
    value: Annotated[str, AfterValidator(_cookie_value)] = Field(description="Its value.", examples=["list"])

    def step(self, given: StepValues) -> RenderStep:
        return RenderStep("cookie", text=self.value, name=self.name)


class Repeat(Part):
    """Steps that are done again and again, at most `times` times.

    It ends, too, as soon as a round brings no new text and no new link, or what one of its steps clicks, fills or
    presses is gone or disabled, as "more" and "next" are at the end.
    """

    steps: tuple[PageStep, ...] = Field(
        min_length=1,
        max_length=MAX_STEPS,
        strict=False,
        description="What is repeated: steps as above, but for `repeat`.",
        examples=[[{"click": "button.more"}]],
    )
    times: int = Field(50, ge=1, le=MAX_TIMES, description="How often at most.", examples=[20])

    @model_validator(mode="after")
    def _flat(self) -> Self:
        if any(step.repeat for step in self.steps):
            raise ValueError("no repeat within repeat")
        return self

    def step(self, given: StepValues) -> RenderStep:
        return RenderStep("repeat", times=self.times, steps=tuple(step.played(given) for step in self.steps))


class PageStep(Part):
    """One step: one of these keys, and `timeout` where it needs another one.

    An element that isn't there yet is waited for. Afterwards the page has time to become quiet, at most as long as the
    timeout.
    """

    goto: _Text | None = Field(
        None,
        description="Goes to an address, relative to the page's own, under all rules of the crawl. `{base}` stands for "
        f"the site's base, `{KEYWORDS}` for the words that the page is searched for, percent-encoded.",
        examples=["?view=all"],
    )
    wait: Wait | None = Field(None, description="Waits.", examples=[".results li"])
    click: ElementText | None = Field(None, description=f"Clicks. {_ELEMENT}", examples=["button.more"])
    hover: ElementText | None = Field(None, description=f"Moves the mouse there. {_ELEMENT}", examples=[".menu"])
    fill: Fill | None = Field(
        None, description="Fills a field of a form.", examples=[{"selector": "input[name=q]", "text": KEYWORDS}]
    )
    press: Press | None = Field(None, description="Presses a key.", examples=["Enter"])
    select: Select | None = Field(
        None, description="Selects an option of a list.", examples=[{"selector": "select.year", "option": "2026"}]
    )
    check: CheckBox | None = Field(None, description="Checks a box.", examples=["#archived"])
    scroll: Scroll | None = Field(None, description="Scrolls down.", examples=[".end-of-list"])
    dialog: DialogAnswer | None = Field(
        None, description="Says how the page's dialogs are answered from here on.", examples=["accept"]
    )
    frame: CssText | None = Field(
        None,
        description=f"Enters a frame, by a CSS selector: what follows is about it, and it is what is read at last. "
        f"`{TOP}` leads back to the page.",
        examples=["iframe.board"],
    )
    tab: Literal["new", "first"] | None = Field(
        None,
        description="`new`: goes on in the tab or window that the page has opened; it is what is read at last. "
        "`first` leads back.",
        examples=["new"],
    )
    cookie: SetCookie | None = Field(None, description="Sets a cookie.", examples=[{"name": "layout", "value": "list"}])
    keep: CssText | None = Field(
        None,
        description="Keeps what a CSS selector finds now. When the page is read, it stands in front of what the "
        "selector finds then: so pages that replace each other are read together.",
        examples=[".results li"],
    )
    repeat: Repeat | None = Field(
        None,
        description="Repeats steps until nothing new comes; each of them has a timeout of its own.",
        examples=[{"steps": [{"click": "button.more"}]}],
    )
    timeout: float = Field(
        DEFAULT_SECONDS,
        ge=0.1,
        le=600,
        description="Seconds after which the step fails, and the page with it as `step-failed`; on top of what `wait` "
        "waits for.",
        examples=[10],
    )

    @model_validator(mode="after")
    def _one_action(self) -> Self:
        actions = get_args(Action)
        if sum(getattr(self, name) is not None for name in actions) != 1:
            raise ValueError(f"one of {', '.join(actions)}, and perhaps timeout")
        return self

    @property
    def action(self) -> Action:
        """The key that says what is done."""
        return next(name for name in get_args(Action) if getattr(self, name) is not None)

    def played(self, given: StepValues) -> RenderStep:
        """Returns the step as it is played on a page."""
        about = getattr(self, self.action)
        step = self._of_text(about, given) if isinstance(about, str) else about.step(given)
        return replace(step, timeout_seconds=self.timeout + step.seconds)

    def _of_text(self, text: str, given: StepValues) -> RenderStep:
        """Returns the step where all that it is about is a text."""
        if self.action == "goto":
            words = quote(given.keywords, safe="")
            return RenderStep("goto", text=text.replace(BASE, given.base).replace(KEYWORDS, words))
        if self.action == "tab":
            return RenderStep("tab", text=text)
        return RenderStep(self.action, None if self.action == "frame" and text == TOP else _target(text))
