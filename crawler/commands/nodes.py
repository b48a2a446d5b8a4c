"""`scrapy nodes ACTION`: which workers crawl on which node, and what operators want of them while they run."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict
from functools import partial, reduce
from typing import TYPE_CHECKING, Any, ClassVar

from scrapy.exceptions import UsageError

from crawler.base.errors import ConfigError
from crawler.base.text import one_line
from crawler.cli.actions import Action, ActionCommand, Option
from crawler.cli.output import print_answer
from crawler.cli.text_tables import print_table
from crawler.cli.worker_rows import NAMES, worker_rows

if TYPE_CHECKING:
    import argparse
    from collections.abc import Coroutine

    from crawler.cluster.steering import Change
    from crawler.frontier.node_orders import NodeOrder

# Option -> the field of a node's order that it sets.
LIMITS = {
    "--memory-limit": "memory_limit_percent",
    "--cpu-limit": "cpu_limit_percent",
    "--first-batch": "first_batch",
}
PERCENT, SEEDS = {"metavar": "PERCENT"}, {"metavar": "N"}
ABOUT_ROWS = (
    "A row has the worker's node; its frontier (nav: search pages, content: pages that hold data); how many seeds it "
    "carries and has room for; its pages a minute; the CPU and memory in use on its node; and its state. alive: it "
    "works; draining, drained: it claims nothing, by an operator's order; redis-full: Redis refuses claims and offers, "
    "so raise its maxmemory; claims nothing: what it waits for; silent: its next report is overdue by SESSION_SECONDS; "
    "lapsed: it is gone, and other workers get its seeds; it is shown for an hour at most. While versions differ, as "
    "during an upgrade, a last line counts them."
)
ABOUT_SHARES = (
    "A node's workers claim pages of its own hosts first, then of any others, so that they see links again that they "
    "remember. Its weight is the number of its cores, or of GiB of its memory where those are fewer, within its "
    "limits, times NODE_WEIGHT. Drained nodes have no share. The last column is of 20,000 hosts at most."
)
AFTER_STOP = (
    "They exit with status 0 within 30 seconds. What starts them, such as systemd or Kubernetes, may start others in "
    "their place; drain the node where none shall work."
)


class Command(ActionCommand):
    """Shows every worker with its load, and steers those of a node."""

    summary = "Show which workers crawl on which node, drain and stop them, and change a node's limits"
    default_action = "list"
    actions: ClassVar[dict[str, Action]] = {
        "list": Action(
            "",
            "show a row for each worker (a process of scrapy crawl), and the orders in force; nodes alone does it, too",
            "list",
            more=(ABOUT_ROWS,),
        ),
        "shares": Action(
            "",
            "show which share of all hosts each node is to have, and has of those whose pages wait",
            "shares",
            more=(ABOUT_SHARES,),
        ),
        "drain": Action(
            "NODE ...",
            "have a node's workers claim nothing more; they end what they carry, and wait",
            "drain node-3",
            more=("Workers that start on the node later claim nothing, too, until scrapy nodes resume.",),
        ),
        "resume": Action("NODE ...", "let drained nodes claim again", "resume node-3"),
        "stop": Action(
            "NODE ...",
            "end a node's workers as SIGTERM does: what they carry and haven't started goes to others",
            "stop node-3",
            more=(AFTER_STOP,),
        ),
        "set": Action(
            "NODE ...",
            "change nodes' limits, until scrapy nodes reset; workers heed them within a second, and after a restart",
            "set node-3 --cpu-limit 50",
            (
                Option("--memory-limit", "in place of NODE_MEMORY_LIMIT_PERCENT", PERCENT),
                Option("--cpu-limit", "in place of NODE_CPU_LIMIT_PERCENT", PERCENT),
                Option("--first-batch", "in place of FIRST_BATCH", SEEDS),
            ),
        ),
        "reset": Action("NODE ...", "have nodes keep to the limits of their own settings again", "reset node-3"),
    }

    async def do_list(self, args: list[str], opts: argparse.Namespace) -> None:  # noqa: ARG002 -- of every action
        """Shows the workers and the orders."""
        from crawler.cluster.workers import read_workers
        from crawler.frontier.node_orders import NodeOrders

        async with self.connect() as operator:
            workers = await read_workers(operator)
            orders = await NodeOrders(operator.redis, operator.keys).all()
        answer = {"workers": workers, "orders": {node: asdict(order) for node, order in orders.items()}}
        print_answer(opts, answer, partial(_print_nodes, orders))

    async def do_shares(self, args: list[str], opts: argparse.Namespace) -> None:  # noqa: ARG002 -- of every action
        """Shows the nodes' shares of the hosts."""
        from crawler.cluster.node_shares import read_shares

        async with self.connect() as operator:
            shares = await read_shares(operator)
        print_answer(opts, {"shares": shares}, _print_shares)

    def act(self, name: str, args: list[str], opts: argparse.Namespace) -> Coroutine[Any, Any, None] | None:
        """Orders what needs nothing but nodes; else as every command."""
        from crawler.cluster.steering import CHANGES

        return self._order(name, args, opts, CHANGES[name]) if name in CHANGES else super().act(name, args, opts)

    async def do_set(self, args: list[str], opts: argparse.Namespace) -> None:
        """Changes limits."""
        from crawler.cluster.steering import limits

        given = {option: getattr(opts, option.removeprefix("--").replace("-", "_")) for option in LIMITS}
        changes, options = [], ""
        for option, text in given.items():
            if text is not None:
                try:
                    changes.append(limits({LIMITS[option]: text}))
                    options += f" {LIMITS[option]}={text}"
                except ConfigError as error:
                    raise UsageError(f"{option}: {error}") from error
        if not changes:
            raise UsageError(f"nodes set: expected one of {', '.join(LIMITS)}")

        def change(order: NodeOrder, now_ms: int) -> NodeOrder:
            return reduce(lambda old, limit: limit(old, now_ms), changes, order)

        await self._order("set", args, opts, change, options=options)

    async def _order(
        self, name: str, nodes: list[str], opts: argparse.Namespace, change: Change, *, options: str = ""
    ) -> None:
        """Changes what is wanted of nodes, and prints it.

        Raises:
            HeadroomError: Redis can't be reached, or doesn't know one of the nodes; then nothing was changed.
        """
        from crawler.cli.audited import audited
        from crawler.cluster.steering import steer

        async with self.connect() as operator:
            target = " ".join(nodes) + options
            orders = await audited(operator, f"node-{name}", target, partial(steer, operator, nodes, change))
        answer = {"orders": {node: asdict(order) for node, order in orders.items()}}
        print_answer(opts, answer, lambda _answer: _print_orders(orders))


def _print_nodes(orders: dict[str, NodeOrder], answer: dict[str, Any]) -> None:
    if rows := worker_rows(answer["workers"]):
        print_table(NAMES, rows)
        living = (worker for worker in answer["workers"] if worker["state"] != "lapsed" and worker["age_s"] is not None)
        versions = Counter(one_line(worker["version"]) or "0.1.0 or earlier" for worker in living)
        if len(versions) > 1:  # an upgrade is under way
            print("versions:", ", ".join(f"{number} of {version}" for version, number in sorted(versions.items())))
    else:
        print("no worker runs; scrapy crawl producer and scrapy crawl consumer start one each")
    _print_orders({node: order for node, order in orders.items() if order.drained or not order.keeps_limits})


def _print_shares(answer: dict[str, Any]) -> None:
    columns = ("frontier", "node", "weight", "workers", "share_percent", "hosts", "hosts_percent")
    if answer["shares"]:
        names = ("frontier", "node", "weight", "workers", "share %", "hosts", "hosts %")
        print_table(names, ([share[column] for column in columns] for share in answer["shares"]))
    else:
        print("no worker claims anything")


def _print_orders(orders: dict[str, NodeOrder]) -> None:
    for node, order in orders.items():
        print(f"{one_line(node)}: {_words(order)}")


def _words(order: NodeOrder) -> str:
    """Returns an order in words."""
    from crawler.cluster.steering import LIMITS as SETTINGS

    values = ((setting.name, getattr(order, field)) for field, setting in SETTINGS.items())
    limits = [f"{name} {value:g}" for name, value in values if value is not None]
    claims = "may claim nothing" if order.drained else "may claim"
    return ", ".join([claims, *limits] if limits else [claims, "limits of its own settings"])
