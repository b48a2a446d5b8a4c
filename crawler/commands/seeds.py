"""`scrapy seeds ACTION`: single pages: where they are, why one isn't done, offering more, trying failed ones again."""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING, Any, ClassVar

from scrapy.exceptions import UsageError

from crawler.base.errors import HeadroomError, existing, shown
from crawler.base.models import is_plan_name
from crawler.base.reasons import REASONS
from crawler.base.text import one_line
from crawler.cli.actions import FLAG, Action, ActionCommand, Option
from crawler.cli.ledger_words import FINISHED_PAGES, meaning
from crawler.cli.output import print_answer, quantity
from crawler.cli.text_tables import print_table

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

    from crawler.base.models import Frontier
    from crawler.frontier.seed_admin import UnfinishedSeed
    from crawler.plans.operator import Operator

FRONTIERS: tuple[Frontier, ...] = ("content", "nav")
LISTED_STATES = ("ready", "executing", "failed")
COLUMNS = ("frontier", "state", "reason", "plan", "site", "url")
LIMIT_DEFAULT = 50  # how many seeds `list` shows: a screen or two
LIMIT = {"type": int, "default": LIMIT_DEFAULT, "metavar": "N"}
WHEN_KNOWN = (
    "known pages aren't fetched again: scrapy seeds show URL says where one is, scrapy seeds retry URL tries a failed "
    "one again, and a finished one is fetched anew for a site of another name (scrapy seeds offer --help)"
)
# The kinds of values that options take.
NAME, WORD, FRONTIER = {"metavar": "NAME"}, {"metavar": "WORD"}, {"choices": FRONTIERS}
ONLY = (
    Option("--plan", "only seeds of this plan", NAME),
    Option("--site", "only seeds of this site", NAME),
    Option("--frontier", "only pages that hold data (content), or search pages (nav)", FRONTIER),
)


class Command(ActionCommand):
    """Shows single seeds, and adds some."""

    actions: ClassVar[dict[str, Action]] = {
        "list": Action(
            "",
            "show seeds that aren't finished: all, or those that the options choose",
            "list --state failed --plan demo",
            (
                *ONLY,
                Option("--state", "only seeds in this state", {"choices": LISTED_STATES}),
                Option("--reason", "only seeds that failed, or were tried again, for this reason", WORD),
                Option("--limit", f"at most N seeds (default {LIMIT_DEFAULT})", LIMIT),
            ),
            ("scrapy ledger --help explains the reasons.",),
        ),
        "show": Action(
            "URL",
            "show where a page is and why it isn't done, also as a search page",
            "show https://example.org/thread/1",
            (
                Option("--plan", "as a search page of this plan alone", NAME),
                Option("--site", "as a page of this site alone", NAME),
                Option("--frontier", "only as a page that holds data (content), or as a search page (nav)", FRONTIER),
            ),
        ),
        "offer": Action(
            "URL|- ...",
            "add pages; - reads them from stdin, one on each line",
            "offer --site web https://example.org/a https://example.org/b",
            (
                Option("--plan", "the plan that they are for (default manual)", NAME),
                Option("--site", "the site that says how they are read (default web)", NAME),
            ),
            (FINISHED_PAGES,),
        ),
        "retry": Action(
            "[URL ...]",
            "try failed seeds again: those of the URLs, those that the options choose, or --all",
            "retry --reason timeout --plan demo",
            (
                *ONLY,
                Option("--reason", "only seeds that failed for this reason", WORD),
                Option("--all", "every failed seed", FLAG),
            ),
            ("scrapy ledger --help explains the reasons.",),
        ),
    }
    summary = f"Single pages: {', '.join(actions)}"

    async def do_list(self, _args: list[str], opts: argparse.Namespace) -> None:
        """Shows seeds that aren't finished."""
        if opts.limit < 1:
            raise UsageError("--limit is at least 1")
        async with self.connect() as operator:
            chosen = await _choose(operator, opts, opts.limit + 1)
            if not chosen:
                await _refuse_unknown_names(operator, opts)
        more = len(chosen) > opts.limit
        rows = [
            {
                "frontier": listed.seed.frontier,
                "state": listed.state,
                "reason": listed.reason,
                "plan": listed.seed.plan,
                "plans": list(listed.plans),
                "site": listed.seed.site,
                "url": listed.seed.url,
                "keywords": list(listed.seed.keywords),
                "fingerprint": listed.fingerprint.hex(),
            }
            for listed in chosen[: opts.limit]
        ]
        print_answer(opts, {"seeds": rows, "more": more}, _print_seeds)

    async def do_show(self, args: list[str], opts: argparse.Namespace) -> None:
        """Shows where a page is and why it isn't done."""
        from crawler.base import urls
        from crawler.cli.scope_refusals import scope_refusals
        from crawler.cli.seed_status import (
            content_statuses,
            known_search_pages,
            print_seed_statuses,
            search_pages,
            seed_status,
            with_score,
        )

        url, statuses = urls.canonical(args[0], routes=True), []
        async with self.connect() as operator:
            if opts.frontier != "nav":
                statuses += await content_statuses(operator, url, opts.site)
            if opts.plan and opts.frontier != "content":
                statuses += [await seed_status(operator, seed) for seed in await search_pages(operator, url, opts.plan)]
            if not opts.plan and opts.frontier != "content":
                pages = await known_search_pages(operator, url)
                statuses = [status for status in statuses if not pages or status["state"] != "unknown"] + pages
            if all(status["state"] == "unknown" for status in statuses):
                await _refuse_unknown_site(operator, opts.site)
                refusals = await scope_refusals(operator, url, self.values)
                statuses = [status | {"why": f"{status['why']}{refusals}"} for status in statuses]
            statuses = [await with_score(operator, status, self.values) for status in statuses]
        if not statuses:
            raise HeadroomError("no plan has such a search page")
        print_answer(opts, {"url": url, "seeds": statuses}, print_seed_statuses)

    async def do_offer(self, args: list[str], opts: argparse.Namespace) -> None:
        """Offers pages.

        Raises:
            HeadroomError: Some of the arguments are no URLs; the others were offered. Or the plan was cancelled or
                deleted before, and nothing was; or it was deleted meanwhile, and nothing of it is left.
            UsageError: A plan can't have the name, or `-` isn't the only argument.
        """
        from crawler import config
        from crawler.cli.manual_offers import MANUAL, offer_note, offer_urls, prepare_site

        plan = opts.plan or MANUAL
        if not is_plan_name(plan):
            raise UsageError(f"--plan {shown(plan)}: expected 1 to 64 of a-z, 0-9 and -")
        if "-" in args and len(args) > 1:
            raise UsageError("seeds offer: expected URLs, or - alone to read them from stdin")
        async with self.connect(begin=True) as operator:
            note = await offer_note(operator, plan)
            site = await prepare_site(operator, opts.site or "web", config.SITES_DIR.of(self.values))
            offered, new, bad = await offer_urls(operator, site, plan, _stdin_lines() if args == ["-"] else args)
        counts = {"offered": offered, "new": new, "known": offered - new}
        answer = {"plan": plan, "site": site.name, **counts, "bad": bad}
        print_answer(opts, answer, lambda answer: _print_offered(answer, note))
        if offered == 0 and len(bad) == 1:
            raise HeadroomError(bad[0]["why"])
        if bad:
            for refused in bad:
                print("refused:", one_line(refused["why"]), file=sys.stderr)
            raise HeadroomError(f"{len(bad)} of {offered + len(bad)} URLs were refused")

    async def do_retry(self, args: list[str], opts: argparse.Namespace) -> None:
        """Makes failed seeds ready again.

        Raises:
            UrlError: One of the arguments is no URL; nothing was changed.
            UsageError: Nothing says which seeds.
            HeadroomError: None is ready again, though URLs or options choose seeds: none of these has failed or may be
                tried again, or nothing has such a name.
        """
        from crawler.base import urls
        from crawler.cli.audited import audited
        from crawler.cli.retrying import Retrying

        if not (args or opts.plan or opts.site or opts.reason or opts.frontier or opts.all):
            raise UsageError("seeds retry: expected URLs, --plan, --site, --reason, --frontier or --all")
        chosen_urls = {urls.canonical(url, routes=True) for url in args}

        def is_wanted(failed: UnfinishedSeed) -> bool:
            return _is_chosen(failed, opts) and (not chosen_urls or failed.seed.url in chosen_urls)

        async with self.connect() as operator:
            retrying = Retrying(await operator.registry.plans(), is_wanted)

            async def retry() -> dict[Frontier, int]:
                retried = {
                    name: await operator.admins[name].retry(retrying.may_retry, opts.plan) for name in _frontiers(opts)
                }
                if any(retried.values()):
                    return retried
                if not (left := retrying.left()):
                    await _refuse_unknown_names(operator, opts)
                if left or chosen_urls or opts.plan or opts.site or opts.reason or opts.frontier:
                    none_failed = "no failed seed has such a URL" if chosen_urls else "no such seed has failed"
                    raise HeadroomError(f"nothing is ready again: {left or none_failed}")
                return retried

            retried = await audited(operator, "seeds-retry", _audited_target(args, opts), retry)
        number, left = sum(retried.values()), retrying.left()
        answer = {"retried": {name: retried.get(name, 0) for name in FRONTIERS}, "cancelled": dict(retrying.cancelled)}
        print_answer(opts, answer, lambda _: print(f"{number:,} failed seeds are ready again{retrying.waiting()}"))
        if left:
            print("left as they are:", one_line(left), file=sys.stderr)


def _print_offered(answer: dict[str, Any], note: str) -> None:
    pages = f"{quantity(answer['offered'], 'page')} offered for plan {answer['plan']}, site {answer['site']}"
    print(f"{pages}: {answer['new']:,} new, {answer['known']:,} known{note}")
    if answer["known"]:
        print(WHEN_KNOWN)


def _print_seeds(answer: dict[str, Any]) -> None:
    rows = [
        [*(row[name] for name in COLUMNS[:3]), "+".join(row["plans"]), row["site"], row["url"]]
        for row in answer["seeds"]
    ]
    if rows:
        print_table(COLUMNS, rows)
    else:
        print("no such seeds")
    if answer["more"]:
        print(f"and more; --limit shows more than {len(rows)}")


def _audited_target(args: list[str], opts: argparse.Namespace) -> str:
    """Returns what a retry was asked for, as the audit says it."""
    options = [f"--{name} {value}" for name in ("plan", "site", "reason", "frontier") if (value := getattr(opts, name))]
    return " ".join([*options, *args]) or "--all"


def _frontiers(opts: argparse.Namespace) -> tuple[Frontier, ...]:
    return (opts.frontier,) if opts.frontier else FRONTIERS


def _is_chosen(listed: UnfinishedSeed, opts: argparse.Namespace) -> bool:
    """Returns whether `--plan`, `--site` and `--reason` choose a seed; an option that isn't given chooses all."""
    pairs = ((opts.site, listed.seed.site), (opts.reason, listed.reason))
    return opts.plan in (None, *listed.plans) and all(wanted in (None, value) for wanted, value in pairs)


async def _choose(operator: Operator, opts: argparse.Namespace, limit: int) -> list[UnfinishedSeed]:
    """Returns at most so many of the seeds that the options choose, each once."""
    chosen: dict[bytes, UnfinishedSeed] = {}
    for frontier in _frontiers(opts):
        async for listed in operator.admins[frontier].seeds(opts.state, opts.plan):
            if _is_chosen(listed, opts):
                chosen[listed.fingerprint] = listed
                if len(chosen) == limit:
                    return list(chosen.values())
    return list(chosen.values())


async def _refuse_unknown_names(operator: Operator, opts: argparse.Namespace) -> None:
    """Refuses what is most likely a misspelt `--plan`, `--site` or `--reason`, when they chose no seed."""
    if opts.plan:
        await operator.ledger_of(opts.plan)
    accounts = await operator.ledger()
    await _refuse_unknown_site(operator, opts.site)
    reasons = sorted({reason for pair in accounts.values() for account in pair.values() for reason in account.failures})
    if opts.reason and opts.reason not in reasons and not meaning(opts.reason):
        of_statuses = {f"http-{status}" for status in re.findall(r"\d{3}", opts.reason)}
        there_are = existing(opts.reason, reasons, "reasons of failed seeds", {*REASONS, *of_statuses})
        raise HeadroomError(f"no seeds with the reason {shown(opts.reason)}; {there_are}")


async def _refuse_unknown_site(operator: Operator, site: str | None) -> None:
    """Refuses a site that no seed is of; None: there is nothing to refuse."""
    sites = {name for _plan, name in await operator.ledger()}
    if site is not None and site not in sites:
        raise HeadroomError(f"no seeds of a site {shown(site)}; {existing(site, sites, 'sites that have some')}")


def _stdin_lines() -> Iterator[str]:
    """Yields the lines of stdin that aren't empty, decoded as UTF-8 whatever the terminal's locale is."""
    for line in sys.stdin.buffer:
        if text := line.decode("utf-8", "replace").strip():
            yield text
