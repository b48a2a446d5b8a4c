"""The start pages of a plan: its `start` addresses, and those of its files, which are read line by line.

A file may have any number of lines: none is kept, and of one that is too long no more than the longest address.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from crawler.base import urls
from crawler.base.errors import InputError, UrlError, shown
from crawler.base.models import Seed
from crawler.plans.plan_follow import PlanFollow

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from crawler.plans.plan import Plan

COMMENT = b"#"
MAX_EXAMPLES = 5  # lines that are left out and named: they show what is wrong with a file, and a screen holds them
MAX_LINE_BYTES = 4 * urls.MAX_URL_CHARACTERS  # as many bytes as the longest address may have in UTF-8
_BOM = b"\xef\xbb\xbf"
_WIDE_BOMS = (b"\xff\xfe", b"\xfe\xff")
TOO_LONG = f"more than {MAX_LINE_BYTES:,} bytes"
NOT_UTF8 = "no UTF-8"
NO_ADDRESS = "no http(s) address"
NO_SITE = "on a host that no site of the plan reads, or never asked for by its follow"


@dataclass(slots=True)
class Skipped:
    """Lines of start files that are left out.

    Attributes:
        why: How many, by the reason.
        examples: The first few, each as `FILE:LINE: REASON: WHAT IT SAYS`.
    """

    why: Counter[str] = field(default_factory=Counter)
    examples: list[str] = field(default_factory=list)

    def note(self, file: str, line: int, why: str, value: str) -> None:
        """Counts a line, and keeps the first few."""
        self.why[why] += 1
        if len(self.examples) < MAX_EXAMPLES:
            self.examples.append(f"{file}:{line}: {why}: {shown(value)}")

    def lines(self) -> list[str]:
        """Returns what is said of them, a line each; empty where there are none."""
        reasons = ", ".join(f"{number:,} {why}" for why, number in self.why.most_common())
        summary = f"{self.why.total():,} lines of start files are left out: {reasons}; the first:"
        return [summary, *(f"  {example}" for example in self.examples)] if self.why else []


def start_pages(plan: Plan, skipped: Skipped) -> Iterator[Seed]:
    """Yields the seed of each start page, in the order of the plan; one that is named twice comes twice.

    Args:
        skipped: Told of lines that are left out.

    Raises:
        InputError: A start file can't be read.
    """
    for address in plan.file.start:
        yield seed_of(plan, address)
    for name in plan.file.start_file:
        yield from _of_file(plan, name, skipped)


def seed_of(plan: Plan, address: str) -> Seed:
    """Returns the seed of a start page.

    Raises:
        UrlError: The address is none.
        LookupError: No site of the plan reads it, or its `follow.never` names it.
    """
    # A route is another page only where the site's pages are rendered, which is known once the site is.
    name = plan.site_choice.of(urls.canonical(address, routes=True))
    site = plan.sites_by_name[name]
    url = urls.canonical(address, drop=site.drop, routes=site.has_routes("content"))
    follow = plan.file.follow or PlanFollow()
    if follow.refuses(url):
        raise LookupError(url)
    return Seed(
        url,
        plan.name,
        name,
        priority=plan.file.priority,
        # A page that makes an item is asked for once; any other leads to what is new there.
        interval_s=0 if follow.detail and not follow.only_leads_on(url) else plan.file.interval_s,
        exact=site.exact,
        match_text=plan.file.match_text,
        general=True,
    )


def start_file(folder: Path | None, name: str) -> Path:
    """Returns the path of a start file.

    Args:
        folder: The plan's own, which the file must be in or below: a plan may be somebody else's. None: it has none.

    Raises:
        ValueError: It isn't there; the message says what was expected.
    """
    if folder is None:
        raise ValueError("a plan that is read from a file")
    path = folder / name
    try:
        is_inside = path.resolve().is_relative_to(folder.resolve())
    except (OSError, ValueError):
        is_inside = False
    if not is_inside:
        raise ValueError("a file in the plan's folder, or below it")
    if not path.is_file():
        raise ValueError(f"a file that exists in {folder}")
    return path


def _of_file(plan: Plan, name: str, skipped: Skipped) -> Iterator[Seed]:
    try:
        with start_file(plan.folder, name).open("rb") as file:
            if file.peek(len(_BOM))[: len(_WIDE_BOMS[0])] in _WIDE_BOMS:
                raise InputError(name, 0, "", "UTF-16", "UTF-8")
            number = 0
            while line := file.readline(MAX_LINE_BYTES + 1):
                number += 1
                is_whole = line.endswith(b"\n") or len(line) <= MAX_LINE_BYTES
                rest = line
                while not (rest.endswith(b"\n") or len(rest) <= MAX_LINE_BYTES):
                    rest = file.readline(MAX_LINE_BYTES + 1)
                text = line.removeprefix(_BOM).strip() if number == 1 else line.strip()
                if not text or text.startswith(COMMENT):
                    continue
                if not is_whole:
                    skipped.note(name, number, TOO_LONG, text.decode("utf-8", "replace"))
                elif seed := _of_line(plan, name, number, text, skipped):
                    yield seed
    except (OSError, ValueError) as error:
        raise InputError(name, 0, "", getattr(error, "strerror", None) or str(error), "a readable file") from None


def _of_line(plan: Plan, name: str, number: int, text: bytes, skipped: Skipped) -> Seed | None:
    """Returns the seed of a line; None: it has none, which is noted."""
    why, value = NO_ADDRESS, text.decode("utf-8", "replace")
    try:
        return seed_of(plan, text.decode())
    except UnicodeDecodeError:
        why = NOT_UTF8
    except UrlError:
        pass
    except LookupError:
        why = NO_SITE
    skipped.note(name, number, why, value)
    return None
