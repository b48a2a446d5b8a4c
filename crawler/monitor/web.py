"""One request to the monitor: who asks, in which language, and how the answer is made."""

from __future__ import annotations

import asyncio
import re
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, urlencode

from jinja2 import Environment, PackageLoader, StrictUndefined
from starlette.responses import HTMLResponse, RedirectResponse, Response

from crawler import __version__
from crawler.cli.output import bytes_text
from crawler.cluster import audit
from crawler.monitor import formats
from crawler.monitor.guard import RefusedRequestError, is_from_here
from crawler.monitor.last_pages import LastPages
from crawler.monitor.user_slots import UserSlots
from crawler.monitor.words import LANGUAGES, Messages, preferred, words_of

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Collection, Mapping

    from starlette.requests import Request

    from crawler.monitor.connection import Connection
    from crawler.monitor.gatherer import Gatherer
    from crawler.monitor.item_store import ItemStore
    from crawler.monitor.sign_ins import SignIn, SignIns, SignInTries
    from crawler.monitor.slow_actions import SlowActions
    from crawler.monitor.users import UserFile
    from crawler.plans.operator import Operator

MAX_FORM_BYTES = 65_536
MAX_FORM_FIELDS = 500
FORM_SECONDS = 10.0  # how long a form may take to come: it is some hundred bytes
ACTION = re.compile(r"[a-z]{1,20}(?:-[a-z]{1,20}){0,3}")  # an action's name, as in the audit
STREAMS = (200, 20)  # most event streams, of all users and of one, who has some pages open on some machines
CHECKS = (100, 4)  # most passwords that wait to be checked, of all addresses and of one: each takes 50 ms
DOWNLOADS = (4, 2)  # most downloads, of all users and of one: each keeps the monitor busy, and a cursor of Mongo open
LANGUAGE_COOKIE = "language"
YEAR_SECONDS = 365 * 86_400
# The pages that the navigation names, by the keys of their messages.
NAVIGATION = (
    ("/", "overview"),
    ("/nodes", "nodes"),
    ("/plans", "plans"),
    ("/items", "items"),
    ("/sites", "sites"),
    ("/hosts", "hosts"),
    ("/answers", "answers"),
    ("/failures", "failures"),
    ("/seed", "seed"),
)


@dataclass(frozen=True, slots=True)
class Monitor:
    """What all requests share.

    Attributes:
        settings: The crawl's.
        secure: Whether browsers reach the monitor by TLS.
        checking: Held while a password is checked, each of which takes 64 MiB.
        checks: One for each password that waits for that, by address.
        streams: One for each event stream; each is a connection, and has its pages made anew.
        items: Where items are found.
        downloads: One for each file of items while it is sent.
        last_pages: What browsers were shown last.
    """

    settings: Mapping[str, Any]
    connection: Connection
    gatherer: Gatherer
    users: UserFile
    sign_ins: SignIns
    tries: SignInTries
    secure: bool
    slow_actions: SlowActions
    items: ItemStore
    checking: asyncio.Semaphore = field(default_factory=partial(asyncio.Semaphore, 1))
    checks: UserSlots = field(default_factory=partial(UserSlots, *CHECKS))
    streams: UserSlots = field(default_factory=partial(UserSlots, *STREAMS))
    downloads: UserSlots = field(default_factory=partial(UserSlots, *DOWNLOADS))
    last_pages: LastPages = field(default_factory=LastPages)

    @property
    def cookie(self) -> str:
        """The name of the cookie that holds a sign-in's token; by its prefix browsers keep it to this host and TLS."""
        return "__Host-monitor" if self.secure else "monitor"


_templates = Environment(
    loader=PackageLoader("crawler.monitor"), autoescape=True, undefined=StrictUndefined, trim_blocks=True
)
_templates.filters.update(number=formats.number, bytes=bytes_text, span=formats.span, at=formats.at)


class WebRequest:
    """One request, with who asks it.

    Attributes:
        request: As Starlette has it.
        monitor: What all requests share.
        words: The messages of the language asked for.
    """

    def __init__(self, request: Request, monitor: Monitor) -> None:
        self.request = request
        self.monitor = monitor
        self.token = request.cookies.get(monitor.cookie, "")
        self._sign_in = monitor.sign_ins.of(self.token)
        request.state.connection.asked_by(self._sign_in.user.name if self._sign_in else "")
        chosen = request.cookies.get(LANGUAGE_COOKIE, "")
        accepted = request.headers.get("accept-language", "")
        self.words: Messages = words_of(chosen if chosen in LANGUAGES else preferred(accepted))

    @property
    def is_signed_in(self) -> bool:
        """Whether a user asks."""
        return self._sign_in is not None

    @property
    def sign_in(self) -> SignIn:
        """The user's sign-in; only where somebody is."""
        assert self._sign_in is not None
        return self._sign_in

    @property
    def here(self) -> str:
        """The address that is asked for, from its path on."""
        url = self.request.url
        return f"{url.path}?{url.query}" if url.query else url.path

    def parameter(self, name: str, otherwise: str = "") -> str:
        """Returns a value of the address's query."""
        return self.request.query_params.get(name, otherwise)

    def choice(self, name: str, choices: Collection[str]) -> str:
        """Returns a value of the address's query; the first of the choices where it is none of them."""
        chosen = self.parameter(name)
        return chosen if chosen in choices else next(iter(choices))

    def html(self, template: str, status: int = 200, **values: Any) -> Response:
        """Returns a page."""
        text = _templates.get_template(f"{template}.html").render(
            t=self.words,
            languages=LANGUAGES,
            navigation=NAVIGATION,
            path=self.request.url.path,
            here=self.here,
            sign_in=self._sign_in,
            version=__version__,
            done=self._done(),
            is_answer=self.request.method != "GET",
            **values,
        )
        return HTMLResponse(text, status)

    def then(self, address: str, done: str) -> Response:
        """Returns an answer that leads on to a page, which says what was done."""
        return RedirectResponse(f"{address}{'&' if '?' in address else '?'}{urlencode({'done': done})}", 303)

    def _done(self) -> str:
        """Returns the action that the page before has carried out, by its name in the audit; empty: none."""
        done = self.parameter("done")
        return done if ACTION.fullmatch(done) else ""

    async def form(self) -> dict[str, str]:
        """Returns the fields of a form that one of the monitor's own pages sent.

        Raises:
            RefusedRequestError: It is too large or no form, or another site's page sent it.
        """
        if not is_from_here(self.request.headers):
            raise RefusedRequestError(403, "error.other-site")
        body = b""
        try:
            async with asyncio.timeout(FORM_SECONDS):
                async for chunk in self.request.stream():
                    body += chunk
                    if len(body) > MAX_FORM_BYTES:
                        raise RefusedRequestError(413, "error.form")
        except TimeoutError:
            raise RefusedRequestError(408, "error.form") from None
        try:
            return dict(parse_qsl(body.decode(), keep_blank_values=True, max_num_fields=MAX_FORM_FIELDS))
        except ValueError:
            raise RefusedRequestError(400, "error.form") from None

    async def act(
        self, action: str, target: str, work: Callable[[Operator], Awaitable[object]], *, then: str
    ) -> Response:
        """Carries out an action, writes down who did it and how it ended, and shows a page."""
        user = self.sign_in.user.name
        async with self.monitor.connection.operator() as operator:
            await audit.act(operator, user=user, action=action, target=target, work=partial(work, operator))
        return self.then(then, action)
