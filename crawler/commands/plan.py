"""`scrapy plan ACTION`: an analyst's plans, from the dry run to their end."""

from __future__ import annotations

import logging
import sys
from typing import TYPE_CHECKING, Any, ClassVar

from crawler.commands.actions import ActionCommand
from crawler.commands.base import print_json
from crawler.errors import UnavailableError
from crawler.text import inert, one_line

if TYPE_CHECKING:
    import argparse

    from crawler.plans import Plan
    from crawler.plans.operator import Operator
    from crawler.plans.registry import PlanRecord

COLUMNS = ("plan", "state", "search pages", "offered", "finished", "failed", "done")


class Command(ActionCommand):
    """Checks, submits and steers plans."""

    actions: ClassVar[dict[str, tuple[str, str]]] = {
        "check": ("FILE", "show a plan's combinations, seeds, overlap and cost, and send nothing"),
        "submit": ("FILE", "send a plan to the crawl, or go on where the same file was left"),
        "list": ("", "all plans and how far they are"),
        "show": ("NAME", "a plan's state, definition and ledger"),
        "pause": ("NAME", "crawl nothing more of it until it is resumed"),
        "resume": ("NAME", "go on with a paused plan"),
        "cancel": ("NAME", "give up all of it that isn't crawled yet"),
        "delete": ("NAME", "forget a plan that is done or cancelled, though not its pages"),
    }

    def short_desc(self) -> str:
        """Returns the line in the list of commands."""
        return f"Plans: {', '.join(self.actions)}"

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Adds `--replace`."""
        super().add_options(parser)
        parser.add_argument(
            "--replace", action="store_true", help="submit: begin anew, in place of the plan of that name"
        )

    def read(self, path: str) -> Plan:
        """Returns the plan in a file.

        Raises:
            InputError: It isn't one, or has more nav seeds than PLAN_MAX_SEEDS.
            ConfigError: A setting that it needs is wrong.
        """
        from crawler import config, plans

        max_seeds = config.whole(self.values, "PLAN_MAX_SEEDS", 1, plans.SEEDS_MAX)
        return plans.load(path, sites_dir=self.values["SITES_DIR"] or "", max_seeds=max_seeds)

    def do_check(self, args: list[str], opts: argparse.Namespace) -> None:
        """Shows what a plan would do; opens no connection."""
        from crawler import plans
        from crawler.commands.plancheck import print_check

        result = plans.check(self.read(args[0]))
        if opts.json:
            print_json(result)
        else:
            print_check(result)

    async def do_submit(self, args: list[str], opts: argparse.Namespace) -> None:
        """Sends a plan.

        Raises:
            PlanError: Another plan of that name is there.
            UnavailableError: Redis is away, or full; the same command completes what has begun.
        """
        from crawler.plans.operator import Operator

        plan, begun = self.read(args[0]), False
        try:
            async with Operator.connect(self.values, begin=True) as operator:
                await _advise(operator)
                old = (await operator.registry.plans()).get(plan.name)
                begun = True
                offered, new = await _offer(operator, plan, replace=opts.replace)
                record = await operator.registry.plan(plan.name)
                sites = await operator.registry.versions(record.sites)
        except UnavailableError as error:
            if begun:
                raise UnavailableError(f"{error}; the same command completes it") from error
            raise
        result = {
            "plan": plan.name,
            "edition": record.edition,
            "combinations": len(plan.combinations()),
            "nav_seeds": record.nav_seeds,
            "offered": offered,
            "new": new,
            "known": offered - new,
            "resumed": old is not None and old.edition == record.edition,
            "replaced": old is not None and old.edition != record.edition,
            "sites": [{"site": name, "version": version} for name, version in sites.items()],
        }
        if opts.json:
            print_json(result)
        else:
            _print_submitted(result)

    async def do_list(self, _args: list[str], opts: argparse.Namespace) -> None:
        """Shows all plans."""
        from crawler.commands.views import print_table
        from crawler.plans.operator import Operator

        async with Operator.connect(self.values) as operator:
            plans = [await _progress(operator, record) for record in (await operator.registry.plans()).values()]
        if opts.json:
            print_json({"plans": plans})
        elif plans:
            rows = [
                (
                    one["plan"],
                    _word(one),
                    one["nav_seeds"],
                    one["offered"],
                    one["finished"],
                    one["failed"],
                    _percent(one),
                )
                for one in plans
            ]
            print_table(COLUMNS, rows)
        else:
            print("no plans; scrapy plan submit FILE sends one")

    async def do_show(self, args: list[str], opts: argparse.Namespace) -> None:
        """Shows one plan."""
        from crawler.commands.ledger import as_rows
        from crawler.plans.operator import Operator

        async with Operator.connect(self.values) as operator:
            record = await operator.registry.plan(args[0])
            progress = await _progress(operator, record)
            versions = await operator.registry.versions(record.sites)
            ledger = as_rows(await operator.ledger(record.name))
        sites = [{"site": name, "version": version} for name, version in versions.items()]
        shown = progress | {"sites": sites, "definition": record.definition, "ledger": ledger}
        if opts.json:
            print_json(shown)
        else:
            _print_plan(shown)

    async def do_pause(self, args: list[str], opts: argparse.Namespace) -> None:
        """Pauses a plan."""
        from crawler.plans.operator import Operator

        async with Operator.connect(self.values) as operator:
            await operator.pause(args[0])
        text = f"plan {args[0]} is paused; what is executing ends by itself. scrapy plan resume {args[0]} goes on"
        _say(opts, {"plan": args[0], "state": "paused"}, text)

    async def do_resume(self, args: list[str], opts: argparse.Namespace) -> None:
        """Resumes a plan."""
        from crawler.plans.operator import Operator

        async with Operator.connect(self.values) as operator:
            moved = await operator.resume(args[0])
        text = f"plan {args[0]} goes on, with {moved:,} seeds that were set aside"
        _say(opts, {"plan": args[0], "state": "active", "moved": moved}, text)

    async def do_cancel(self, args: list[str], opts: argparse.Namespace) -> None:
        """Cancels a plan."""
        from crawler.plans.operator import Operator

        async with Operator.connect(self.values) as operator:
            failed = await operator.cancel(args[0])
        text = f"plan {args[0]} is cancelled, {failed:,} seeds given up; what is executing ends by itself"
        _say(opts, {"plan": args[0], "state": "cancelled", "failed": failed}, text)

    async def do_delete(self, args: list[str], opts: argparse.Namespace) -> None:
        """Deletes a plan."""
        from crawler.plans.operator import Operator

        async with Operator.connect(self.values) as operator:
            await operator.delete(args[0])
        _say(
            opts, {"plan": args[0], "state": "deleted"}, f"plan {args[0]} is deleted; pages that it crawled stay known"
        )


async def _advise(operator: Operator) -> None:
    """Says on stderr what this Redis would lose; no plan is sent without its owner's knowing."""
    from crawler.frontier import durability

    if found := await durability.advice(operator.redis):
        level, text = found
        print(f"{logging.getLevelName(level).lower()}:", text, file=sys.stderr)


async def _offer(operator: Operator, plan: Plan, *, replace: bool) -> tuple[int, int]:
    """Submits a plan, with a progress bar where somebody watches; returns how many seeds were offered and were new."""
    from rich.console import Console
    from rich.progress import Progress

    bar = Progress(console=Console(stderr=True), transient=True, disable=not sys.stderr.isatty())
    offered = new = 0
    with bar:
        task = bar.add_task("search pages", total=plan.seeds_per_combination * len(plan.combinations()))
        async for offered, new in operator.registry.submit(plan, operator.queues["nav"], replace=replace):  # noqa: B007 -- the last pair is the result
            bar.update(task, completed=offered)
    return offered, new


async def _progress(operator: Operator, record: PlanRecord) -> dict[str, Any]:
    """Returns a plan's state and how far it is, as JSON values."""
    from crawler.frontier.ledger import Account

    account = Account()
    for pages in (await operator.ledger(record.name)).values():
        for page in pages.values():
            account.add(page)
    offering = record.offering_until_ms > await operator.registry.now_ms()
    over = account.finished + account.failed
    seeds = account.offered - account.known
    return {
        "plan": record.name,
        "state": record.state,
        "edition": record.edition,
        "schedule": record.definition.get("schedule") or "",
        "offering": offering,
        "complete": not record.offering_until_ms,
        "nav_seeds": record.nav_seeds,
        "offered": account.offered,
        "known": account.known,
        "ready": account.ready,
        "executing": account.executing,
        "finished": account.finished,
        "failed": account.failed,
        "percent_done": round(100 * over / seeds, 1) if seeds else 0.0,
        "done": not (offering or account.ready or account.executing),
    }


def _word(plan: dict[str, Any]) -> str:
    if plan["offering"]:
        return "being submitted"
    if not plan["complete"]:
        return "half submitted"
    return "done" if plan["done"] and plan["state"] == "active" else str(plan["state"])


def _percent(plan: dict[str, Any]) -> str:
    return f"{plan['percent_done']:.0f} %" if plan["percent_done"] < 99 or plan["done"] else f"{plan['percent_done']} %"  # noqa: PLR2004 -- percent


def _say(opts: argparse.Namespace, result: dict[str, Any], text: str) -> None:
    if opts.json:
        print_json(result)
    else:
        print(one_line(text))


def _print_submitted(result: dict[str, Any]) -> None:
    from crawler.commands.views import amount

    name = result["plan"]
    how = " goes on" if result["resumed"] else " is replaced" if result["replaced"] else ""
    pages = f"{amount(result['offered'], 'search page')} offered: {result['new']:,} new, {result['known']:,} known"
    print(f"plan {name}{how}: {amount(result['combinations'], 'combination')}, {pages}")
    print("sites:", ", ".join(f"{one['site']} (version {one['version']})" for one in result["sites"]))
    print(
        f"next: scrapy crawl producer and scrapy crawl consumer, on any node; scrapy ledger {name} shows how far it is"
    )


def _print_plan(shown: dict[str, Any]) -> None:
    import yaml

    from crawler.commands.ledger import print_ledger
    from crawler.commands.views import moment

    how_far = f"{_percent(shown)} of its seeds"
    print(one_line(f"plan {shown['plan']}: {_word(shown)}, {how_far}, submitted {moment(shown['edition'])}"))
    print("sites:", one_line(", ".join(f"{one['site']} (version {one['version']})" for one in shown["sites"])))
    print()
    print(inert(yaml.safe_dump(shown["definition"], allow_unicode=True, sort_keys=False)))
    print_ledger(shown["ledger"])
