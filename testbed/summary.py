"""What a demo has to say at its end."""

from __future__ import annotations

import os
import shutil
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from rich.text import Text

from testbed.services import ADDRESSES, ROOMS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rich.console import Console

    from testbed.progress import Short
    from testbed.services import Services

EXAMPLES = 3  # items shown in short


@dataclass(frozen=True, slots=True)
class Summary:
    """A demo's result.

    Attributes:
        plan: The plan's file.
        content_pages: Different pages that the searches found.
        known: Results that had been found before.
        failures: Failed seeds by reason; the forum has such pages on purpose.
        items: Different items in the files, by site.
        sinks: Items by sink; equal by id when there are no problems.
        left_out: Sink -> why it didn't take part.
        first_item_s: When it was on the screen, in seconds after the process began; None: there was none.
        difference: Of the ledger.
        problems: What went wrong, in words; empty when nothing did.
    """

    plan: str
    combinations: int
    search_pages: int
    content_pages: int
    known: int
    failures: Mapping[str, int]
    items: Mapping[str, int]
    examples: list[Short]
    sinks: Mapping[str, int]
    left_out: Mapping[str, str]
    pages_per_minute: int
    first_item_s: float | None
    total_s: float
    difference: int
    folder: str
    problems: list[str] = field(default_factory=list)


def show(summary: Summary, console: Console) -> None:
    """Prints the summary."""
    facts = _facts(summary)
    width = max(map(len, facts))
    console.print()
    for name, value in facts.items():
        console.print(Text.assemble((f"{name:<{width}}", "bold"), f"  {value}"), soft_wrap=True)
    if summary.examples:
        console.print(f"\n[bold]{_number(len(summary.examples), 'item')} in short[/]")
    for short in summary.examples:
        media = [_number(short.images, "image")] * bool(short.images) + [_number(short.videos, "video")] * bool(
            short.videos
        )
        about = ", ".join(filter(None, (short.author, short.published, short.language, *media)))
        console.print(Text.assemble("  ", (short.title, "cyan")), soft_wrap=True)
        console.print(Text(f"    {about}; {short.url}"), soft_wrap=True)
        console.print(Text(f"    {short.text} ..."), soft_wrap=True)


def show_next(plan: str, console: Console) -> None:
    """Prints the three commands to try after a demo; none of them needs its servers.

    Args:
        plan: The plan's file.
        console: Where to.
    """
    scrapy = _scrapy()
    commands = {
        f"{scrapy} plan check {plan}": "what the plan asks for; plans/template.yaml explains every key",
        f"{scrapy} site check demo_forum": "how a site is searched and read",
        f"{scrapy} demo --keep": "once more, and the servers stay up to look into",
    }
    _show_commands("Try next", commands, console)


def show_kept(services: Services, result: Summary, console: Console) -> None:
    """Prints what can be asked of the servers, which stay up."""
    values, scrapy = services.values, _scrapy()
    not_own = services.named.keys() | services.left_out.keys()
    own = {key: values[key] for name, key in ADDRESSES.items() if name not in not_own}
    commands = {}
    if own:  # what the user named his shell knows already, and it may hold a password
        names = own | {"MONGO_DATABASE": values["MONGO_DATABASE"]}
        commands["export " + " ".join(f"{key}={value}" for key, value in names.items())] = ""
    rooms = {name: f" -s {ROOMS[name]}={values[ROOMS[name]]}" if name in services.named else "" for name in ROOMS}
    commands[f"{scrapy} ledger --verify{rooms['redis']}"] = "where every seed is, and a recount"
    commands[f"{scrapy} plan list{rooms['redis']}"] = "how far each plan is"
    if "kafka" in services.sinks and result.items:
        site = next(iter(result.items))
        commands[f"{scrapy} items tail {site} --from-start{rooms['kafka']}"] = "a topic, from its first item"
    _show_commands("The servers stay up until Ctrl-C. Meanwhile, in another terminal", commands, console)
    console.print(Text(f"  The forum is at {services.forum.url}"), soft_wrap=True)


def _show_commands(title: str, commands: Mapping[str, str], console: Console) -> None:
    console.print(f"\n[bold]{title}[/]")
    width = max(len(command) for command, purpose in commands.items() if purpose)
    for command, purpose in commands.items():
        after = f"  # {purpose}" if purpose else ""
        console.print(Text.assemble("  ", (f"{command:<{width}}", "green"), after), soft_wrap=True)


def _scrapy() -> str:
    """Returns how `scrapy` is called from the user's shell: with its folder unless PATH leads to this one."""
    own = Path(sys.executable).with_name("scrapy")
    found = shutil.which("scrapy")
    return "scrapy" if found and Path(found) == own else os.path.relpath(own)


def _facts(summary: Summary) -> dict[str, str]:
    sound, items = not summary.problems, sum(summary.items.values())
    facts = {
        "plan": f"{summary.plan}: {_number(summary.combinations, 'combination')}",
        "seeds": f"{_number(summary.search_pages, 'search page')}, {_number(summary.content_pages, 'content page')}; "
        f"{_number(summary.known, 'result')} had been found before",
        "failed": f"{_number(sum(summary.failures.values()), 'page')}: {_counts(summary.failures)}",
        "items": f"{items:,}: {_counts(summary.items)}",
        "sinks": _counts(summary.sinks) + (", the same by id" if sound and len(summary.sinks) > 1 else ""),
        **{f"no {sink}": why for sink, why in summary.left_out.items()},
        "speed": f"{summary.pages_per_minute:,} pages per minute, as politely as the sites' definitions ask",
        "ledger": f"difference {summary.difference}" + (", and a recount agrees" if sound else ""),
        "files": f"{summary.folder}/items/*.jsonl; images and videos in media/, the workers' logs in logs/",
        "time": f"{summary.total_s:.1f} s",
    }
    if not summary.failures:
        del facts["failed"]
    elif sound:
        facts["failed"] += "; the forum has such pages on purpose"
    if summary.first_item_s is not None:
        facts["time"] += f", the first item after {summary.first_item_s:.1f} s"
    return facts | {f"problem {place}": problem for place, problem in enumerate(summary.problems, 1)}


def _counts(numbers: Mapping[str, int]) -> str:
    return ", ".join(f"{name} {number:,}" for name, number in numbers.items()) or "none"


def _number(count: int, thing: str) -> str:
    return f"{count:,} {thing}{'s' * (count != 1)}"
