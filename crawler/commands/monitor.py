"""`scrapy monitor`: the web app that shows the crawl and steers it, and its users."""

from __future__ import annotations

import getpass
import sys
from typing import TYPE_CHECKING, ClassVar

from scrapy.exceptions import UsageError

from crawler import config
from crawler.base.errors import HeadroomError, existing, shown
from crawler.cli.actions import Action, ActionCommand, Option
from crawler.cli.output import print_answer
from crawler.cli.text_tables import print_table

if TYPE_CHECKING:
    import argparse
    from collections.abc import Mapping

    from crawler.monitor.users import UserFile

LISTEN = "127.0.0.1:8641"
EXTRA = 'the monitor needs the extra "monitor": pip install -e ".[monitor]" in a clone of Headroom'
USER_ACTIONS = ("add", "list", "remove")
OPTIONS = (
    Option("--listen", f"where it listens (default {LISTEN})", {"metavar": "HOST:PORT", "default": LISTEN}),
    Option("--tls-cert", "its certificate, as PEM", {"metavar": "FILE"}),
    Option("--tls-key", "the key of that", {"metavar": "FILE"}),
    Option(
        "--behind-proxy",
        "the address of a proxy with TLS in front of it, which says who asks: 127.0.0.1 on the same machine",
        {"metavar": "ADDRESS"},
    ),
)
ABOUT_ADDRESSES = (
    "On any address but this machine's own it wants TLS, by --tls-cert and --tls-key or by a proxy in front of it. "
    "SIGTERM ends it. It only reads what workers write to Redis: they need it for nothing."
)
ABOUT_USERS = (
    "The users stand in MONITOR_USERS, a file that nobody else may read, with a hash of each password. A viewer may "
    "look at everything, an analyst change plans, too, and an operator change everything. list shows them."
)


class Command(ActionCommand):
    """Serves the monitor, and keeps its users."""

    summary = "Serve a web app that shows the crawl and steers it, and keep its users"
    default_action = "serve"
    default_settings: ClassVar = {"LOG_ENABLED": True, "LOG_LEVEL": "INFO"}
    actions: ClassVar[dict[str, Action]] = {
        "serve": Action(
            "", "serve the monitor until SIGTERM or Ctrl-C; monitor alone does it, too", "serve", OPTIONS,
            (ABOUT_ADDRESSES,),
        ),
        "user": Action(
            "ACTION [NAME]",
            "add, list or remove users; add asks for a password, or reads a line of stdin, in place of an old one, too",
            "user add ann --role operator",
            (Option("--role", "what a user may do (default viewer)", {"choices": ("viewer", "analyst", "operator")}),),
            (ABOUT_USERS,),
        ),
    }  # fmt: skip

    async def do_serve(self, args: list[str], opts: argparse.Namespace) -> None:  # noqa: ARG002 -- of every action
        """Serves the monitor."""
        users = _user_file(self.values)
        from crawler.monitor.server import Listening, serve

        listening = Listening.checked(
            opts.listen,
            tls_cert=opts.tls_cert or "",
            tls_key=opts.tls_key or "",
            proxy=opts.behind_proxy or "",
        )
        if not users.users():
            raise HeadroomError("nobody may use the monitor yet: scrapy monitor user add NAME --role operator")
        await serve(self.values, users, listening, lambda address: print("the monitor is at", address, flush=True))

    def do_user(self, args: list[str], opts: argparse.Namespace) -> None:
        """Adds, lists or removes users."""
        action, *names = args
        if action not in USER_ACTIONS:
            raise UsageError(f"monitor user {shown(action)}: {existing(action, USER_ACTIONS, 'expected')}")
        if (action == "list") == bool(names):
            raise UsageError(f"monitor user {action}: expected {'nothing more' if names else 'NAME'}")
        users = _user_file(self.values)
        if action == "add":
            users.put(names[0], opts.role or "viewer", _password())
        elif action == "remove":
            users.remove(names[0])
        answer = [{"name": user.name, "role": user.role} for user in users.users().values()]
        print_answer(opts, answer, lambda rows: print_table(("user", "role"), [(*row.values(),) for row in rows]))


def _user_file(settings: Mapping[str, object]) -> UserFile:
    """Returns the file of users."""
    try:
        import argon2  # noqa: F401 -- of the extra's packages, each of which may be missing
        import jinja2  # noqa: F401
        import starlette  # noqa: F401
        import uvicorn  # noqa: F401
    except ModuleNotFoundError as error:
        raise HeadroomError(f"{EXTRA} ({error.name} isn't installed)") from error
    from crawler.monitor.users import UserFile

    return UserFile(config.MONITOR_USERS.of(settings))


def _password() -> str:
    """Returns a password: asked for twice at a terminal, else a line of stdin."""
    if not sys.stdin.isatty():
        return sys.stdin.readline().rstrip("\n")
    password = getpass.getpass("password: ")
    if getpass.getpass("once more: ") != password:
        raise HeadroomError("the two passwords differ")
    return password
