"""How a page is to be rendered."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from crawler.sites.render_step import RenderStep

# Types of resources of the browser's protocol without which a page may lack text. EventSource has no place here: its
# answer never ends.
NEEDED_TYPES = frozenset({"Document", "Script", "Stylesheet", "XHR", "Fetch", "Preflight", "Other"})


@dataclass(frozen=True, slots=True)
class Wish:
    """How a page is to be rendered, and when it counts as settled.

    Attributes:
        selector: CSS. The page has settled as soon as it matches; empty: when network and DOM are quiet.
        quiet_seconds: So long no request may be on its way, and no node of the DOM may change.
        cap_seconds: From the document's arrival: then the page is taken as it is.
        extra_types: What the page may load beyond NEEDED_TYPES: Image, Font, Media, Manifest, TextTrack.
        steps: What is done on the page before it is read.
        page_seconds: From the page's start in the browser to its HTML; 0: what the renderer has for all pages.
        wants_json: Of which addresses the page's JSON is wanted; None: it is read from its document alone.
    """

    selector: str = ""
    quiet_seconds: float = 0.5
    cap_seconds: float = 15.0
    extra_types: frozenset[str] = frozenset()
    steps: tuple[RenderStep, ...] = ()
    page_seconds: float = 0.0
    wants_json: Callable[[str], bool] | None = None

    @property
    def takes_tabs(self) -> bool:
        """Whether a tab that the page opens is kept, since a step leads there."""
        return any(step.action == "tab" for step in _flat(self.steps))

    def wants(self, resource_type: str) -> bool:
        """Returns whether the page may load resources of this type."""
        return resource_type in NEEDED_TYPES or resource_type in self.extra_types


def _flat(steps: tuple[RenderStep, ...]) -> Iterator[RenderStep]:
    for step in steps:
        yield step
        yield from _flat(step.steps)
