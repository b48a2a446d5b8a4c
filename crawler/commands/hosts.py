"""`scrapy hosts ACTION`: how hosts stand, and what operators want of them while they are crawled."""

from __future__ import annotations

from dataclasses import asdict
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

from scrapy.exceptions import UsageError

from crawler.base.text import one_line
from crawler.cli.actions import Action, ActionCommand, Option
from crawler.cli.output import print_answer, shown_count
from crawler.cli.text_tables import print_table

if TYPE_CHECKING:
    import argparse
    from collections.abc import Coroutine

    from crawler.cluster.host_steering import Change
    from crawler.frontier.host_orders import HostOrder

COLUMNS = ("host", "answers", "bytes", "errors", "order")
ABOUT_DELAY = (
    "It counts between the starts of two requests, whichever node sends them. Where a site's file or robots.txt asks "
    "for a longer delay, that one counts. Pages that were begun are ended."
)
ABOUT_FORGIVE = (
    "The next request goes out at once, also where the host has asked for a pause by Retry-After. It isn't for a host "
    "that is still failing: that is found out anew."
)


class Command(ActionCommand):
    """Shows hosts, and slows down or pauses some."""

    summary = "Show how hosts stand and why one waits; slow one down, pause it, or forget its errors"
    default_action = "list"
    actions: ClassVar[dict[str, Action]] = {
        "list": Action(
            "", "show the busiest hosts of the last hour, and all that operators have slowed down or paused", "list"
        ),
        "show": Action(
            "HOST",
            "show one host: why it waits, its delay and who asks for it, its turns, its robots.txt, its answers",
            "show board.example",
        ),
        "slow": Action(
            "HOST ...",
            "have hosts asked more slowly, by all nodes at once, until scrapy hosts reset",
            "slow board.example --delay 30",
            (Option("--delay", "between two requests, 0.1 to 3600", {"metavar": "SECONDS"}),),
            more=(ABOUT_DELAY,),
        ),
        "reset": Action("HOST ...", "have hosts asked at their sites' own pace again", "reset board.example"),
        "pause": Action(
            "HOST ...",
            "ask hosts for nothing more, until scrapy hosts resume; their seeds wait",
            "pause board.example",
        ),
        "resume": Action("HOST ...", "let paused hosts be asked again", "resume board.example"),
        "forgive": Action(
            "HOST ...",
            "forget that hosts fail, and their backoff: once they are mended",
            "forgive board.example",
            more=(ABOUT_FORGIVE,),
        ),
    }

    async def do_list(self, args: list[str], opts: argparse.Namespace) -> None:  # noqa: ARG002 -- of every action
        """Shows the busiest hosts, and the orders."""
        from crawler.cluster.host_rows import host_rows

        async with self.connect() as operator:
            rows = await host_rows(operator)
        print_answer(opts, {"hosts": rows}, _print_hosts)

    async def do_show(self, args: list[str], opts: argparse.Namespace) -> None:
        """Shows one host."""
        from crawler.cli.host_status import host_status, print_host
        from crawler.cluster.host_steering import host_named

        host = host_named(args[0])
        async with self.connect() as operator:
            status = await host_status(operator, self.values, host)
        print_answer(opts, status.as_json(), lambda _answer: print_host(status))

    async def do_slow(self, args: list[str], opts: argparse.Namespace) -> None:
        """Slows hosts down."""
        from crawler.cluster.host_steering import slow

        if opts.delay is None:
            raise UsageError("hosts slow: expected --delay SECONDS")
        await self._order("slow", args, opts, slow(opts.delay), options=f" delay={opts.delay}")

    def act(self, name: str, args: list[str], opts: argparse.Namespace) -> Coroutine[Any, Any, None] | None:
        """Orders what needs nothing but hosts; else as every command."""
        from crawler.cluster.host_steering import CHANGES

        return self._order(name, args, opts, CHANGES[name]) if name in CHANGES else super().act(name, args, opts)

    async def _order(
        self, name: str, words: list[str], opts: argparse.Namespace, change: Change, *, options: str = ""
    ) -> None:
        """Changes what is wanted of hosts, and prints it.

        Raises:
            HeadroomError: Redis can't be reached, or a name can't be a host's; then nothing was changed.
        """
        from crawler.cli.audited import audited
        from crawler.cluster.host_steering import host_named, orders_of

        hosts = [host_named(word) for word in words]
        orders: dict[str, HostOrder] = {}
        async with self.connect() as operator:
            for host in hosts:
                ordering = partial(change, orders_of(operator), host)
                orders[host] = await audited(operator, f"host-{name}", f"{host}{options}", ordering)
        answer = {"orders": {host: asdict(order) for host, order in orders.items()}}
        print_answer(opts, answer, lambda _answer: _print_orders(orders))


def _print_hosts(answer: dict[str, Any]) -> None:
    if rows := answer["hosts"]:
        cells = [(row["pages"], shown_count("bytes", row["bytes"]), row["errors"], row["order"]) for row in rows]
        print_table(COLUMNS, [(row["host"], *others) for row, others in zip(rows, cells, strict=True)])
    else:
        print("no host is known to have answered in the last hour (workers say so once a minute), and none has orders")


def _print_orders(orders: dict[str, HostOrder]) -> None:
    from crawler.cluster.host_rows import order_words

    for host, order in orders.items():
        print(f"{one_line(host)}: {order_words(order) or 'asked as its sites and its robots.txt ask'}")
