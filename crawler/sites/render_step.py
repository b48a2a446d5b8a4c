"""What is done on a page before it is read: the steps, and how each went."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Action = Literal[
    "goto",
    "wait",
    "click",
    "hover",
    "fill",
    "press",
    "select",
    "check",
    "scroll",
    "dialog",
    "frame",
    "tab",
    "cookie",
    "keep",
    "repeat",
]
TOP = "top"  # what `frame` leads back to: the page that has the frames
DEFAULT_SECONDS = 30.0  # a step's timeout; a request may have to wait for its host's turn meanwhile


@dataclass(frozen=True, slots=True)
class StepTarget:
    """Which element a step is about: the first visible one that matches.

    Attributes:
        css: A selector; empty: `text` says it.
        text: What stands in the element; letters of either case.
    """

    css: str = ""
    text: str = ""

    def __str__(self) -> str:
        return self.css or f"text:{self.text}"


@dataclass(frozen=True, slots=True)
class RenderStep:
    """One step.

    Attributes:
        action: What is done.
        target: What it is done to; None: nothing, or the page.
        text: What is filled in, the key that is pressed, the option that is selected, the address to go to, a cookie's
            value, the answer to a prompt, or which tab; `quiet` where that is waited for.
        name: Of a cookie; or whether dialogs are to `accept` or to `dismiss`.
        seconds: How long to wait, or for how long a page must be quiet.
        is_checked: Whether the box is to be checked.
        times: How often is scrolled, or repeated, at most.
        steps: What is repeated.
        timeout_seconds: How long it may take.
    """

    action: Action
    target: StepTarget | None = None
    text: str = ""
    name: str = ""
    seconds: float = 0.0
    is_checked: bool = True
    times: int = 0
    steps: tuple[RenderStep, ...] = ()
    timeout_seconds: float = DEFAULT_SECONDS

    def __str__(self) -> str:
        """The step in a line, without what is filled in."""
        shown = self.target or (self.text if self.action in ("goto", "press", "tab") else self.name)
        return f"{self.action} {shown}".strip()


@dataclass(frozen=True, slots=True)
class PlayedStep:
    """How a step went.

    Attributes:
        number: From 1; `3.2` is the second step that the third one repeats.
        step: Which one it was, in a line.
        seconds: What it took, with the wait for what it has set off.
        times: How often it was played.
    """

    number: str
    step: str
    seconds: float
    times: int = 1
