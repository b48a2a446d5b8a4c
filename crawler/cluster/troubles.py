"""What is wrong with a crawl now, in plain words, as far as its figures tell."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from crawler.cluster.activity import of_sites, pages_in_vain, sum_of, tries_in_vain
from crawler.cluster.workers import SPIDERS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from crawler.cluster.activity import Steps
    from crawler.cluster.overview import Overview

MAX_NAMES = 5  # most nodes or sites that one sentence names: who has more looks at their table
FULL_PERCENT = 90  # how full Redis may be of its maxmemory: what is left lasts for minutes of a fast crawl
DUE_MINUTES = 10  # how long a due seed may wait: longer than any batch takes, so there are too few workers
BEYOND_MINUTES = 10  # for how long it is told of that filters have refused a page, since links come all the time
VAIN_SEEDS = 10  # a site is told of when so many of its seeds failed in an hour and none finished: fewer happen
# A site is told of as gone when so many tries failed and none succeeded: hosts that don't answer are asked less and
# less often, so there aren't many within minutes.
VAIN_TRIES = 5
# Or when so many pages in a row brought no item where earlier ones did: fewer that have moved, say, happen.
VAIN_PAGES = 30
# Kind -> a sentence. What is in braces are the trouble's values.
WORDS = {
    "redis-full": "Redis is full: workers claim and offer nothing. Raise its maxmemory.",
    "redis-nearly-full": "Redis {server} uses {percent} % of its memory limit.",
    "redis-unsaved": "Redis {server} can't write to disk: a crash would lose what it holds.",
    "nodes-silent": "Silent: {names}. No report for {seconds} s; look whether the machine is up.",
    "nodes-gone": "Gone: {names}. No worker of it has a session; other nodes get its seeds.",
    "workers-gone": "Gone or frozen: {number} of the workers of {names}. Those that run get their seeds; see its log.",
    "sink-down": "Sink {sink} can't be reached by {names}: they claim nothing until it is back.",
    "egress-down": "No host on the web answers {names}, for {seconds} s: look at network, name servers and proxies.",
    "no-worker": "{seeds} seeds wait and no {spider} runs: scrapy crawl {spider}.",
    "all-drained": "{seeds} seeds wait and every {spider} is drained: scrapy nodes resume.",
    "no-browser": "Pages that must be rendered wait, and no {spider} that runs has a browser: {why}.",
    "late": "Seeds that could be claimed have waited for {minutes} minutes: too few workers, or drained ones.",
    "sites-vain": "Nothing but failures in the last hour: {names}. Look at the site, and at its file.",
    "sites-without-items": "No item of the last {pages} pages: {names}. Look at the site, and at its file.",
    "sites-away": "Every try has failed for {minutes} min: {names}. Hosts shows what theirs wait for.",
    "over-error-budget": "Filters take {expected} of new pages for finished, above DEDUP_ERROR_RATE: links are refused."
    " Raise it.",
    "quarantined": "{seeds} seeds wait to be run alone, since two workers died while they held them.",
    "unexplained": "The ledger can't explain {seeds} seeds: run scrapy ledger --verify.",
    "plans-left-out": "There are too many plans and sites to show them here ({ledgers}); delete plans that are done.",
}


@dataclass(frozen=True, slots=True)
class Trouble:
    """One thing that is wrong.

    Attributes:
        kind: A key of `WORDS`.
        values: What its sentence names.
        severity: `bad`: something stands still, or may be lost; `warning`: it may become so.
    """

    kind: str
    values: Mapping[str, str | int]
    severity: Literal["bad", "warning"] = "bad"

    def __str__(self) -> str:
        return WORDS[self.kind].format(**self.values)


def troubles(overview: Overview, last_hour: Steps) -> list[Trouble]:
    """Returns what is wrong, the worst first; empty where all is well.

    Args:
        last_hour: What the crawl did in it, in the history's steps.
    """
    everything = [*_of_redis(overview), *_of_nodes(overview), *_of_seeds(overview), *_of_sites(overview, last_hour)]
    return sorted(everything, key=lambda trouble: trouble.severity)


def _of_redis(overview: Overview) -> Iterator[Trouble]:
    if any(worker["state"] == "redis-full" for worker in overview.workers):
        yield Trouble("redis-full", {})
    for server in overview.redis:
        percent = 100 * server.used_bytes // server.limit_bytes if server.limit_bytes else 0
        if percent >= FULL_PERCENT:
            yield Trouble("redis-nearly-full", {"server": server.name, "percent": percent}, "warning")
        if not server.saves:
            yield Trouble("redis-unsaved", {"server": server.name})


def _of_nodes(overview: Overview) -> Iterator[Trouble]:
    living = [worker for worker in overview.workers if worker["state"] != "lapsed"]
    nodes = {worker["node"] for worker in living}
    silent = [worker for worker in living if worker["state"] == "silent"]
    if silent:
        seconds = max(worker["age_s"] for worker in silent)
        yield Trouble("nodes-silent", {"names": _names(worker["node"] for worker in silent), "seconds": round(seconds)})
    if gone := {worker["node"] for worker in overview.workers} - nodes:
        yield Trouble("nodes-gone", {"names": _names(gone)}, "warning")
    of_living = (worker for worker in overview.workers if worker["node"] in nodes)
    if dead := [worker for worker in of_living if worker["is_overdue"] or worker["state"] == "lapsed"]:
        names = _names(worker["node"] for worker in dead)
        yield Trouble("workers-gone", {"number": len(dead), "names": names}, "warning")
    for sink in sorted({sink for worker in living for sink in worker["sinks_down"]}):
        without = (worker["node"] for worker in living if sink in worker["sinks_down"])
        yield Trouble("sink-down", {"sink": sink, "names": _names(without)})
    if cut_off := [worker for worker in living if worker["egress_down_s"]]:
        seconds = max(worker["egress_down_s"] for worker in cut_off)
        yield Trouble("egress-down", {"names": _names(worker["node"] for worker in cut_off), "seconds": round(seconds)})


def _of_seeds(overview: Overview) -> Iterator[Trouble]:
    running = {worker["frontier"] for worker in overview.workers if worker["state"] != "lapsed"}
    for name, frontier in overview.frontiers.items():
        if frontier.ready and name not in running:
            yield Trouble("no-worker", {"seeds": frontier.ready, "spider": SPIDERS[name]})
        living = [worker for worker in overview.workers if worker["frontier"] == name and worker["state"] != "lapsed"]
        if frontier.ready and living and all(worker["drained"] for worker in living):
            yield Trouble("all-drained", {"seeds": frontier.ready, "spider": SPIDERS[name]}, "warning")
        if living and all(worker["why_no_browser"] for worker in living):
            yield Trouble("no-browser", {"spider": SPIDERS[name], "why": living[0]["why_no_browser"]})
    if running and overview.oldest_due_s >= DUE_MINUTES * 60:
        yield Trouble("late", {"minutes": round(overview.oldest_due_s / 60)}, "warning")
    content = overview.frontiers["content"]
    if content.filter_rates and content.filter_beyond_s >= overview.at_ms / 1000 - BEYOND_MINUTES * 60:
        yield Trouble("over-error-budget", {"expected": content.filter_rates[0]})
    if quarantined := sum(frontier.quarantined for frontier in overview.frontiers.values()):
        yield Trouble("quarantined", {"seeds": quarantined}, "warning")
    if overview.difference:
        yield Trouble("unexplained", {"seeds": overview.difference})
    if overview.ledgers and not overview.ledger:
        yield Trouble("plans-left-out", {"ledgers": overview.ledgers}, "warning")


def _of_sites(overview: Overview, last_hour: Steps) -> Iterator[Trouble]:
    sites = of_sites(sum_of(last_hour))
    vain = {site for site, seeds in sites.items() if not seeds["finished"] and seeds["failed"] >= VAIN_SEEDS}
    if vain:
        yield Trouble("sites-vain", {"names": _names(vain)}, "warning")
    without = sites_without_items(overview, last_hour)
    if names := without.keys() - vain:
        pages = sum(without[site] for site in names)
        yield Trouble("sites-without-items", {"names": _names(names), "pages": pages}, "warning")
    tries = {site: tried for site, tried in tries_in_vain(last_hour).items() if tried.number >= VAIN_TRIES}
    if away := (tries.keys() - vain) & _waited_for(overview):
        since_s = min(tries[site].since_s for site in away)
        minutes = max(1, round((overview.at_ms / 1000 - since_s) / 60))
        yield Trouble("sites-away", {"names": _names(away), "minutes": minutes}, "warning")


def sites_without_items(overview: Overview, last_hour: Steps) -> dict[str, int]:
    """Returns the sites whose pages bring no items, though many have ended: how many.

    Their content pages are visited in vain, all of the last hour or many since the last item; or their search pages
    lead to none, new or known.
    """
    without = {site: pages.number for site, pages in pages_in_vain(last_hour).items() if pages.number >= VAIN_PAGES}
    for site, seeds in of_sites(sum_of(last_hour)).items():
        ended = seeds["finished"] + seeds["failed"]
        if seeds["items"] or ended < VAIN_SEEDS:
            continue
        content = [accounts["content"] for (_plan, name), accounts in overview.ledger.items() if name == site]
        if seeds["content"] >= VAIN_SEEDS or (content and not any(account.offered for account in content)):
            without[site] = ended
    return without


def _waited_for(overview: Overview) -> set[str]:
    """Returns the sites of which pages are left to be fetched, as far as the ledger could be read."""
    return {
        site
        for (_plan, site), accounts in overview.ledger.items()
        if any(account.ready or account.executing for account in accounts.values())
    }


def _names(named: Iterable[str]) -> str:
    """Returns some names, and how many others there are."""
    names = sorted(set(named))
    return ", ".join(names[:MAX_NAMES]) + (f" (+{len(names) - MAX_NAMES})" if len(names) > MAX_NAMES else "")
