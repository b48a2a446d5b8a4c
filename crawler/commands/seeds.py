"""`scrapy seeds ACTION`: single pages: where they are, why one isn't done, offering more, trying failed ones again."""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING, ClassVar

from scrapy.exceptions import UsageError

from crawler.commands.actions import ActionCommand
from crawler.commands.base import print_json
from crawler.errors import HeadroomError
from crawler.text import one_line

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

    from crawler.frontier.seed_admin import Found
    from crawler.models import Frontier, Seed
    from crawler.plans.operator import Operator

FRONTIERS: tuple[Frontier, ...] = ("content", "nav")
STATES = ("ready", "executing", "failed")
PLAN_NAME = re.compile(r"[a-z0-9-]{1,64}")
COLUMNS = ("frontier", "state", "reason", "plan", "site", "url")


class Command(ActionCommand):
    """Looks at single seeds, and adds some."""

    actions: ClassVar[dict[str, tuple[str, str]]] = {
        "list": ("", "seeds that aren't finished, chosen by --plan, --site, --frontier, --state, --reason, --limit"),
        "show": ("URL", "where a page is and why it isn't done, with --plan also as a search page of that plan"),
        "offer": ("URL|- ...", "add these pages, or one a line from stdin (-), to --site and --plan"),
        "retry": ("[URL ...]", "try failed seeds again, by URL, by the options of list, or --all"),
    }

    def short_desc(self) -> str:
        """Returns the line in the list of commands."""
        return f"Single pages: {', '.join(self.actions)}"

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Adds what chooses seeds."""
        super().add_options(parser)
        parser.add_argument("--plan", metavar="NAME", help="of this plan (offer: default manual)")
        parser.add_argument("--site", metavar="NAME", help="of this site (offer: default web)")
        parser.add_argument("--frontier", choices=FRONTIERS, help="only search pages (nav), or pages that hold data")
        parser.add_argument("--state", choices=STATES, help="list: only these")
        parser.add_argument("--reason", metavar="WORD", help="that failed, or were retried, for this reason")
        parser.add_argument("--limit", type=int, default=50, metavar="N", help="list: at most so many (default 50)")
        parser.add_argument("--all", action="store_true", help="retry: every failed seed")

    async def do_list(self, _args: list[str], opts: argparse.Namespace) -> None:
        """Shows seeds that aren't finished."""
        from crawler.commands.views import print_table
        from crawler.plans.operator import Operator

        if opts.limit < 1:
            raise UsageError("--limit is at least 1")
        async with Operator.connect(self.values) as operator:
            found = await _chosen(operator, opts)
        more, shown = len(found) > opts.limit, list(found.values())[: opts.limit]
        rows = [
            {
                "frontier": one.seed.frontier,
                "state": one.state,
                "reason": one.reason,
                "plan": one.seed.plan,
                "site": one.seed.site,
                "url": one.seed.url,
                "keywords": list(one.seed.keywords),
                "fingerprint": one.fingerprint.hex(),
            }
            for one in shown
        ]
        if opts.json:
            print_json({"seeds": rows, "more": more})
        elif rows:
            print_table(COLUMNS, [[row[name] for name in COLUMNS] for row in rows])
            if more:
                print(f"and more; --limit shows more than {opts.limit}")
        else:
            print("no such seeds")

    async def do_show(self, args: list[str], opts: argparse.Namespace) -> None:
        """Shows where a page is and why it isn't done.

        Raises:
            UrlError: The URL is none.
            PlanError: There is no plan of that name.
        """
        from crawler import urls
        from crawler.commands.seedview import explain, print_shown
        from crawler.plans.operator import Operator

        url = urls.canonical(args[0])
        async with Operator.connect(self.values) as operator:
            shown = [await explain(operator, seed) for seed in await _looked_for(operator, url, opts)]
        if opts.json:
            print_json({"url": url, "seeds": shown})
        else:
            print_shown(url, shown)

    async def do_offer(self, args: list[str], opts: argparse.Namespace) -> None:
        """Offers pages.

        Raises:
            HeadroomError: Some of them are no URLs; the others were offered.
            UsageError: There are no URLs, or a name that can't be.
        """
        from crawler.commands.offering import offer, site_to_offer
        from crawler.plans.operator import Operator

        plan = opts.plan or "manual"
        if not PLAN_NAME.fullmatch(plan):
            raise UsageError(f"--plan {plan!r}: expected 1 to 64 of a-z, 0-9 and -")
        if not args or ("-" in args and len(args) > 1):
            raise UsageError("seeds offer: expected URLs, or - alone to read them from stdin")
        lines = _stdin() if args == ["-"] else iter(args)
        async with Operator.connect(self.values, begin=True) as operator:
            await _refuse_cancelled(operator, plan)
            site = await site_to_offer(operator, opts.site or "web", self.values["SITES_DIR"] or "")
            offered, new, bad = await offer(operator, site, plan, lines)
        result = {"plan": plan, "site": site.name, "offered": offered, "new": new, "known": offered - new, "bad": bad}
        if opts.json:
            print_json(result)
        else:
            print(f"{offered:,} offered: {new:,} new, {offered - new:,} known")
        if bad:
            for one in bad:
                print("refused:", one_line(one["why"]), file=sys.stderr)
            raise HeadroomError(f"{len(bad)} of {offered + len(bad)} URLs were refused")

    async def do_retry(self, args: list[str], opts: argparse.Namespace) -> None:
        """Makes failed seeds ready again.

        Raises:
            UrlError: One of the URLs is none; nothing was changed.
            UsageError: Nothing says which.
        """
        from crawler import urls
        from crawler.plans.operator import Operator

        if not (args or opts.plan or opts.site or opts.reason or opts.frontier or opts.all):
            raise UsageError("seeds retry: expected URLs, --plan, --site, --reason, --frontier or --all")
        chosen = {urls.canonical(url) for url in args}

        def wanted(found: Found) -> bool:
            return _is_chosen(found, opts) and (not chosen or found.seed.url in chosen)

        async with Operator.connect(self.values) as operator:
            retried = {name: await operator.admins[name].retry(wanted) for name in _frontiers(opts)}
        if opts.json:
            print_json({"retried": {name: retried.get(name, 0) for name in FRONTIERS}})
        else:
            print(f"{sum(retried.values()):,} failed seeds are ready again")


def _frontiers(opts: argparse.Namespace) -> tuple[Frontier, ...]:
    return (opts.frontier,) if opts.frontier else FRONTIERS


def _is_chosen(found: Found, opts: argparse.Namespace) -> bool:
    return all(
        wanted in (None, value)
        for wanted, value in ((opts.plan, found.seed.plan), (opts.site, found.seed.site), (opts.reason, found.reason))
    )


async def _chosen(operator: Operator, opts: argparse.Namespace) -> dict[bytes, Found]:
    """Returns the seeds that the options choose, by fingerprint; one more than the limit when there are more."""
    chosen: dict[bytes, Found] = {}
    for frontier in _frontiers(opts):
        async for found in operator.admins[frontier].seeds(opts.state):
            if _is_chosen(found, opts):
                chosen[found.fingerprint] = found
                if len(chosen) > opts.limit:
                    return chosen
    return chosen


async def _looked_for(operator: Operator, url: str, opts: argparse.Namespace) -> list[Seed]:
    """Returns the seeds that a URL may stand for: the content page, and a plan's search pages."""
    from crawler.commands.seedview import nav_seeds
    from crawler.models import Seed

    seeds = []
    if opts.plan and opts.frontier != "content":
        seeds = await nav_seeds(operator, url, opts.plan)
    if opts.frontier != "nav":
        seeds.insert(0, Seed(url, opts.plan or "", opts.site or ""))
    return seeds


async def _refuse_cancelled(operator: Operator, plan: str) -> None:
    record = (await operator.registry.plans()).get(plan)
    if record and record.state == "cancelled":
        raise HeadroomError(f"plan {plan!r} was cancelled: its pages would not be crawled")


def _stdin() -> Iterator[str]:
    """Yields the lines of stdin, decoded as UTF-8 whatever the terminal's locale; without empty ones."""
    for line in sys.stdin.buffer:
        if text := line.decode("utf-8", "replace").strip():
            yield text
