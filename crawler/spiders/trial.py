"""A page of a site that leaves it to the crawl whether its pages are rendered: read as it came, and maybe rendered."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from crawler.base import reasons
from crawler.base.errors import ExtractError, LacksError
from crawler.worker.visits.outcomes import NO_BROWSER, NO_BROWSER_SECONDS, outcome_of_error

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from crawler.base.models import Fetched, Frontier
    from crawler.sites import Site
    from crawler.worker.rendering.render_choice import RenderChoice

# What a page fails as that has nothing before its scripts have run.
EMPTY = frozenset({reasons.NO_CONTENT, reasons.NO_XHR, reasons.NOT_RESULTS})
# What a page itself may have done in the browser: then what came is better than nothing.
PAGE_FAULTS = frozenset({reasons.PAGE_CRASHED, reasons.RENDER_TIMEOUT, reasons.RENDER_ERROR, reasons.NO_DOCUMENT})


class Trial:
    """Finds out whether a page needs a browser, and notes that for further pages of its site.

    Args:
        choice: What is known of the site.
        read: Reads a page for the visit: the page as it came, or rendered.
        page: As it came.
    """

    def __init__(
        self,
        choice: RenderChoice,
        site: Site,
        frontier: Frontier,
        read: Callable[[Fetched], Awaitable[Sequence[Any]]],
        page: Fetched,
    ) -> None:
        self._choice, self._site, self._frontier, self._read, self._page = choice, site, frontier, read, page
        self._lacked: tuple[str, ...] = ()
        self._is_empty = False

    async def as_it_came(self) -> Sequence[Any] | None:
        """Reads the page as it came; returns None if it is to be rendered, for what it lacks.

        Raises:
            ExtractError: It yields nothing, and no browser could help.
            UnavailableError: As the spider's `read`.
        """
        try:
            outputs = await self._read(replace(self._page, is_trial=True))
        except (LacksError, ExtractError) as error:
            self._lacked, self._is_empty = _lacked(error)
        else:
            self._choice.note_whole(self._site, self._frontier, self._page.url)
            return outputs
        if self._choice.may_render(self._site, self._frontier, is_empty=self._is_empty):
            return None
        return await self._read(self._page)

    async def rendered(self, rendered: Fetched) -> Sequence[Any]:
        """Reads the rendered page, or the page as it came if rendering brought nothing.

        Raises:
            ExtractError: It yields nothing.
            UnavailableError: As the spider's `read`.
        """
        outputs, still, is_empty = None, self._lacked[:0], False
        try:
            outputs = await self._read(replace(rendered, is_trial=True))
        except (LacksError, ExtractError) as error:
            still, is_empty = _lacked(error)
        brought = () if is_empty else [name for name in self._lacked if name not in still]
        self._choice.note_rendered(self._site, self._frontier, self._page.url, self._lacked, brought)
        if outputs is not None:
            return outputs
        return await self._read(rendered if brought or self._is_empty else self._page)

    def does_without(self, error: Exception) -> bool:
        """Returns whether the page is read as it came, since it can't be rendered.

        Args:
            error: Why it can't.
        """
        outcome = outcome_of_error(error)
        if outcome != NO_BROWSER:
            return not self._is_empty and outcome.reason in PAGE_FAULTS
        if self._choice.needs_none(self._site, self._frontier):
            return True
        self._choice.leave_to_others(self._site, self._frontier, NO_BROWSER_SECONDS)
        return False


def _lacked(error: LacksError | ExtractError) -> tuple[tuple[str, ...], bool]:
    """Returns what a page lacks, by what reading it raised, and whether that is all that is to be read on it.

    Raises:
        ExtractError: It is nothing that a browser could bring.
    """
    if isinstance(error, LacksError):
        return error.lacked, False
    if error.reason not in EMPTY:
        raise error
    return (error.reason,), True
