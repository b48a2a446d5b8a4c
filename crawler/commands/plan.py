"""`scrapy plan ACTION`: an analyst's plans, from the dry run to their end."""

from __future__ import annotations

import logging
import sys
from dataclasses import asdict
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

from scrapy.exceptions import UsageError

from crawler.base.errors import FrontierError, UnavailableError, shown
from crawler.base.text import one_line
from crawler.cli.actions import FLAG, Action, ActionCommand, Option
from crawler.cli.ledger_words import FINISHED_PAGES
from crawler.cli.output import print_answer, print_json, quantity

if TYPE_CHECKING:
    import argparse
    from collections.abc import Coroutine

    from crawler.plans import Plan
    from crawler.plans.operator import Operator
    from crawler.plans.start_pages import Skipped
    from crawler.scope.scope import Scope

ASKING = (
    "It warns of hosts that would be asked in vain: it looks up their addresses, for 3 s at most, and asks them for "
    "their robots.txt, for 10 s at most, however many they are. A warning keeps no plan from being sent."
)
REPLACING = (
    "With --replace all search pages are visited once more. Those of before that aren't done fail as `replaced`. Pages "
    "that were found before stay as they are, be they ready, finished or failed; only those that were given up when "
    "the plan was cancelled come back, if it still has their site and words. Delivered items stay where they are."
)
DESCRIBED = (
    "Where a site's search is described elsewhere, as by kind: opensearch, that description is read, since nothing "
    "else says what is searched. Without a feed of results, its search is asked for a word of the plan and for one "
    "that nothing has, to tell results from other links. All of that obeys robots.txt; an error says what it forbids."
)
# What is done to a plan by a method of the operator's -> its state then, what is counted, and what is said.
STEERED = {
    "pause": (
        "paused",
        "",
        "plan {plan} is paused; what is executing ends by itself. scrapy plan resume {plan} goes on",
    ),
    "resume": ("active", "moved", "plan {plan} goes on, with {moved:,} seeds that were set aside"),
    "cancel": (
        "cancelled",
        "failed",
        "plan {plan} is cancelled, {failed:,} seeds given up; what is executing ends by itself",
    ),
    "delete": ("deleted", "", "plan {plan} is deleted; pages that it crawled stay known"),
}


class Command(ActionCommand):
    """Checks, submits and steers plans."""

    actions: ClassVar[dict[str, Action]] = {
        "check": Action(
            "FILE",
            "show a plan's combinations of keywords, search pages, overlap and cost, and which searches robots.txt "
            "forbids; asks for nothing else",
            "check plans/demo.yaml",
            more=(ASKING, DESCRIBED),
        ),
        "submit": Action(
            "FILE",
            "send a plan to the crawl; the same file again completes a submission that was broken off",
            "submit plans/demo.yaml",
            (
                Option("--replace", "begin the plan of the same name anew, be it changed, done or cancelled", FLAG),
                Option("--replace-sites", "store its sites where others of their names are stored", FLAG),
            ),
            (ASKING, REPLACING, FINISHED_PAGES),
        ),
        "list": Action("", "show all plans and how far they are", "list"),
        "show": Action(
            "NAME",
            "show a plan's state, when it will be done, its definition, what its searches brought, and its ledger",
            "show demo",
        ),
        "pause": Action("NAME", "crawl nothing more of a plan until it is resumed", "pause demo"),
        "resume": Action("NAME", "go on with a paused plan", "resume demo"),
        "priority": Action(
            "NAME PRIORITY",
            "let a plan's pages come before those of others on the same host, or after them: from 0 to 9, 9 first",
            "priority demo 8",
        ),
        "cancel": Action("NAME", "give up everything of a plan that isn't crawled yet", "cancel demo"),
        "delete": Action(
            "NAME",
            "forget a plan that is done or cancelled; the pages that it crawled stay known",
            "delete demo",
            more=(FINISHED_PAGES,),
        ),
        "schema": Action("", "print the JSON Schema of plan files, by which editors complete and check keys", "schema"),
    }
    summary = f"Plans: {', '.join(actions)}"

    async def read(self, path: str) -> Plan:
        """Returns the plan in a file; what it says of sites whose search is described elsewhere is read there."""
        from crawler import config, plans
        from crawler.cli import site_proposal

        max_seeds, sites_dir = config.PLAN_MAX_SEEDS.of(self.values), config.SITES_DIR.of(self.values)
        described = {
            name: await site_proposal.described(site, self.values, word)
            for name, (site, word) in plans.described_sites(path, sites_dir=sites_dir).items()
        }
        return plans.load(path, sites_dir=sites_dir, max_seeds=max_seeds, described=described)

    async def do_check(self, args: list[str], opts: argparse.Namespace) -> None:
        """Shows what a plan would do; looks its hosts up, and asks them for nothing but their robots.txt.

        Where a site's search is described elsewhere, `read` asks for the description, too, and may search for a word.
        """
        from crawler import plans
        from crawler.cli import plan_warnings
        from crawler.cli.plan_check import print_check

        plan = await self.read(args[0])
        check, warnings = plans.check(plan), await plan_warnings.all_of(plan, self.values)
        print_answer(
            opts, asdict(check) | {"warnings": warnings}, lambda _: print_check(check, plan_warnings.lines(warnings))
        )

    async def do_submit(self, args: list[str], opts: argparse.Namespace) -> None:
        """Submits a plan, with the warnings of `check`.

        Raises:
            PlanError: There is another plan of that name, or a stored site differs from the plan's.
            UnavailableError: Redis can't be reached, or is full. What had begun is completed by the same command.
        """
        from crawler.cli import plan_warnings
        from crawler.cli.audited import audited
        from crawler.plans.start_pages import Skipped
        from crawler.scope.scope import Scope

        plan, begun, skipped = await self.read(args[0]), False, Skipped()
        warnings = await plan_warnings.all_of(plan, self.values)
        scope = Scope.of(plan.file.scope, self.values) if plan.file.scope else None
        try:
            async with self.connect(begin=True) as operator:
                await _warn_of_data_loss(operator)
                old = (await operator.registry.plans()).get(plan.name)
                begun = True
                offering = partial(
                    _offer, operator, plan, skipped, scope, replace=opts.replace, replace_sites=opts.replace_sites
                )
                options = " --replace" * opts.replace + " --replace-sites" * opts.replace_sites
                offered, new = await audited(operator, "plan-submit", f"{plan.name}{options}", offering)
                record = await operator.registry.plan(plan.name)
                sites = await _sites(operator, record.sites)
        except UnavailableError as error:
            if begun:
                raise UnavailableError(f"{error}; the same command completes it") from error
            raise
        result = {
            "plan": plan.name,
            "edition": record.edition,
            "combinations": len(plan.combinations()),
            "nav_seeds": record.nav_seeds,
            "lists": len(plan.file.sitemaps) + len(plan.file.feeds),
            "offered": offered,
            "new": new,
            "known": offered - new,
            "resumed": old is not None and old.edition == record.edition,
            "replaced": old is not None and old.edition != record.edition,
            "state": record.state,
            "sites": sites,
            "skipped": skipped.lines(),
            "warnings": warnings,
        }
        print_answer(opts, result, _print_submitted)

    async def do_list(self, _args: list[str], opts: argparse.Namespace) -> None:
        """Shows all plans."""
        from crawler.cli.plan_status import plan_status, print_plans

        async with self.connect() as operator:
            plans = [await plan_status(operator, record) for record in (await operator.registry.plans()).values()]
        print_answer(opts, {"plans": plans}, print_plans)

    async def do_show(self, args: list[str], opts: argparse.Namespace) -> None:
        """Shows one plan."""
        from crawler.base.redaction import without_url_credentials
        from crawler.cli.ledger_table import ledger_as_json
        from crawler.cli.plan_status import plan_status, print_plan
        from crawler.cluster.overview import read_overview
        from crawler.cluster.plan_progress import NO_TELLING, read_time_left
        from crawler.telemetry import plan_yield

        async with self.connect() as operator:
            record = await operator.registry.plan(args[0])
            plan = await plan_status(operator, record)
            left = (await read_time_left(operator, await read_overview(operator))).get(record.name, NO_TELLING)
            plan["seconds_left"], plan["slowest_site"] = left.seconds, left.site
            plan["sites"] = await _sites(operator, record.sites)
            plan["definition"] = without_url_credentials(record.definition)
            plan["searches"] = (await plan_yield.read(operator.redis, operator.keys, record.name)).rows()
            plan["ledger"] = ledger_as_json(await operator.ledger(record.name))
        print_answer(opts, plan, print_plan)

    async def do_priority(self, args: list[str], opts: argparse.Namespace) -> None:
        """Gives a plan another priority."""
        from crawler.base.models import MAX_PRIORITY
        from crawler.cli.audited import audited

        name, text = args
        if text not in map(str, range(MAX_PRIORITY + 1)):
            raise UsageError(f"plan priority: got {shown(text)}, expected a whole number from 0 to {MAX_PRIORITY}")
        async with self.connect() as operator:
            prioritizing = partial(operator.prioritize, name, int(text))
            moved = await audited(operator, "plan-priority", f"{name} {text}", prioritizing)
        answer = {"plan": name, "priority": int(text), "moved": moved}
        said = f"plan {name} has priority {text}, and so have {quantity(moved, 'page')} of it that aren't done"
        print_answer(opts, answer, lambda _: print(one_line(f"{said}; its file should say so, too")))

    def do_schema(self, _args: list[str], _opts: argparse.Namespace) -> None:
        """Prints the JSON Schema."""
        from crawler.base.yaml_schema import schema_of
        from crawler.plans.plan_file import PlanFile

        print_json(schema_of(PlanFile, "plan file"))

    def act(self, name: str, args: list[str], opts: argparse.Namespace) -> Coroutine[Any, Any, None] | None:
        """Steers a plan; else as every command."""
        return self._steer(name, args[0], opts) if name in STEERED else super().act(name, args, opts)

    async def _steer(self, action: str, plan: str, opts: argparse.Namespace) -> None:
        """Changes a plan's state, and prints it."""
        from crawler.cli.audited import audited

        state, counted, text = STEERED[action]
        async with self.connect() as operator:
            number = await audited(operator, f"plan-{action}", plan, partial(getattr(operator, action), plan))
        answer = {"plan": plan, "state": state} | ({counted: number} if counted else {})
        print_answer(opts, answer, lambda fields: print(one_line(text.format(**fields))))


async def _warn_of_data_loss(operator: Operator) -> None:
    """Says on stderr what this Redis would lose in a crash, before its owner sends it a plan."""
    from crawler.frontier import durability

    if advice := await durability.advice(operator.redis):
        level, text = advice
        print(f"{logging.getLevelName(level).lower()}:", text, file=sys.stderr)


async def _offer(
    operator: Operator, plan: Plan, skipped: Skipped, scope: Scope | None, *, replace: bool, replace_sites: bool
) -> tuple[int, int]:
    """Submits a plan, with a progress bar on a terminal; returns how many seeds were offered and were new."""
    from rich.console import Console
    from rich.progress import Progress

    from crawler.plans.submission import submit

    bar = Progress(console=Console(stderr=True), transient=True, disable=not sys.stderr.isatty())
    offered = new = 0
    offers = submit(
        plan,
        operator.registry,
        operator.queues,
        replace=replace,
        replace_sites=replace_sites,
        skipped=skipped,
        scope=scope,
    )
    with bar:
        searches = len(plan.searched) * len(plan.combinations())
        task = bar.add_task("pages", total=None if plan.file.start_file else searches + len(plan.file.start))
        async for offered, new in offers:  # noqa: B007 -- the last pair is the result
            bar.update(task, completed=offered)
    return offered, new


async def _sites(operator: Operator, names: list[str]) -> list[dict[str, Any]]:
    versions = await operator.registry.versions(names)
    return [
        {"site": name, "version": version, "base": await _base(operator, name)} for name, version in versions.items()
    ]


async def _base(operator: Operator, name: str) -> str:
    """Returns where a site is; empty for one whose definition isn't there any more, or is damaged."""
    try:
        return (await operator.registry.site(name)).base
    except FrontierError:
        return ""


def _print_submitted(result: dict[str, Any]) -> None:
    from crawler.cli import plan_warnings
    from crawler.cli.plan_status import print_sites

    name = result["plan"]
    how = " goes on" if result["resumed"] else " is replaced" if result["replaced"] else ""
    if result["state"] == "paused":
        how = " stays paused"
    lists, starts = result["lists"], result["offered"] - result["nav_seeds"]
    searches = result["nav_seeds"] - lists
    kinds = [f"{searches:,} search{'es' * (searches != 1)}"] * bool(searches)
    kinds += [f"{quantity(lists, 'sitemap')} or feed{'s' * (lists != 1)}"] * bool(lists)
    pages = " and ".join(kinds + [quantity(starts, "start page")] * bool(starts or not kinds))
    known = f"{result['new']:,} new, {result['known']:,} known"
    combinations = f"{quantity(result['combinations'], 'combination')}, " if searches else ""
    print(f"plan {name}{how}: {combinations}{pages} offered: {known}")
    for line in result["skipped"]:
        print(one_line(line))
    print_sites(result["sites"])
    for line in plan_warnings.lines(result["warnings"]):
        print(one_line(line))
    spiders = "scrapy crawl producer and scrapy crawl consumer" if kinds else "scrapy crawl consumer"
    print(f"next: {spiders}, on any node; scrapy ledger {name} shows how far it is")
