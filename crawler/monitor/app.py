"""The web app: which address shows what, and to whom."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import signal
from functools import partial
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from crawler.base import log_events, tasks
from crawler.base.errors import ConfigError, HeadroomError, PlanError, UnavailableError, UrlError
from crawler.monitor import formats
from crawler.monitor.guard import RefusedRequestError, SecurityHeaders
from crawler.monitor.last_pages import PLACE
from crawler.monitor.pages import (
    access,
    answers,
    audit_log,
    event_stream,
    failures,
    hosts,
    items,
    metrics_text,
    nodes,
    overview,
    plans,
    seed,
    sites,
    stored_images,
)
from crawler.monitor.web import Monitor, WebRequest

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable

    from starlette.requests import Request

    from crawler.base.log_events import EventLogger
    from crawler.base.tasks import TaskDied
    from crawler.monitor.tables import ShownTable
    from crawler.monitor.users import Role

    Handler = Callable[[WebRequest], Awaitable[Response]]
    TableReader = Callable[[WebRequest], Awaitable[ShownTable]]
    ActionHandler = Callable[[WebRequest, dict[str, str]], Awaitable[Response]]


AWAY_SECONDS = 0.5  # how long a page waits for a Redis that is known to be away, where it has been shown before
logger: EventLogger = logging.getLogger(__name__)


def build(monitor: Monitor) -> Starlette:
    """Returns the app. It gathers figures while it is up."""
    return Starlette(
        routes=[
            Route("/login", _open(monitor, access.show), methods=["GET"]),
            Route("/login", _open(monitor, access.sign_in), methods=["POST"]),
            Route("/logout", _action(monitor, "viewer", access.sign_out), methods=["POST"]),
            Route("/language", _open(monitor, access.choose_language), methods=["GET"]),
            Route("/events", _page(monitor, "viewer", event_stream.show)),
            Route("/", _page(monitor, "viewer", overview.show)),
            *_tables(monitor, "/activity", overview.table),
            *_pages(monitor, "/nodes", nodes.show, nodes.table),
            Route("/node", _action(monitor, "operator", nodes.act), methods=["POST"]),
            *_pages(monitor, "/node", nodes.show_one, nodes.load_table),
            *_pages(monitor, "/plans", plans.show, plans.table),
            Route("/plan", _action(monitor, "analyst", plans.act), methods=["POST"]),
            *_pages(monitor, "/plan", plans.show_one, plans.ledger_table),
            *_tables(monitor, "/plan-yield", plans.yield_table),
            *_pages(monitor, "/items", items.show, items.table),
            Route("/items-download.jsonl", _page(monitor, "viewer", items.download_lines)),
            Route("/items-download.csv", _page(monitor, "viewer", items.download_csv)),
            Route("/items-download.parquet", _page(monitor, "viewer", items.download_parquet)),
            *_pages(monitor, "/item", items.show_one, items.table_of_one),
            Route("/media", _page(monitor, "viewer", stored_images.show)),
            *_pages(monitor, "/sites", sites.show, sites.table),
            *_pages(monitor, "/site", sites.show_one, sites.plans_table),
            *_pages(monitor, "/hosts", hosts.show, hosts.table),
            Route("/host", _action(monitor, "operator", hosts.act), methods=["POST"]),
            *_pages(monitor, "/host", hosts.show_one, hosts.table_of_one),
            *_pages(monitor, "/answers", answers.show, answers.table),
            *_pages(monitor, "/failures", failures.show, failures.table),
            *_tables(monitor, "/failure-reasons", failures.reasons_table),
            Route("/failures", _action(monitor, "operator", failures.act), methods=["POST"]),
            *_pages(monitor, "/seed", seed.show, seed.table),
            *_pages(monitor, "/audit", audit_log.show, audit_log.table, role="operator"),
            Route("/metrics", partial(metrics_text.show, monitor), methods=metrics_text.METHODS),
            Mount("/static", StaticFiles(directory=Path(__file__).parent / "static")),
        ],
        middleware=[Middleware(SecurityHeaders, secure=monitor.secure)],
        exception_handlers={
            HeadroomError: partial(_refuse, monitor),
            RefusedRequestError: partial(_refuse, monitor),
            HTTPException: partial(_refuse, monitor),
        },
        lifespan=partial(_gather, monitor),
    )


@contextlib.asynccontextmanager
async def _gather(monitor: Monitor, _app: Starlette) -> AsyncIterator[None]:
    """Has the figures gathered while the app is up."""
    gathering = tasks.start(monitor.gatherer.run(), name="gatherer", died=end_with_it)
    try:
        yield
    finally:
        await tasks.cancel(gathering)
        await monitor.slow_actions.close()
        await monitor.items.close()
        await monitor.connection.close()


def end_with_it(died: TaskDied) -> None:
    """Ends the monitor, which would show the same figures for ever: whoever keeps it up starts it again."""
    logger.critical(log_events.MONITOR_DIED, died.name, exc_info=died.error)
    signal.raise_signal(signal.SIGTERM)


def _pages(monitor: Monitor, path: str, show: Handler, table: TableReader, *, role: Role = "viewer") -> list[Route]:
    """Returns the routes of a page, and of its table as JSON and as CSV."""
    return [Route(path, _page(monitor, role, show)), *_tables(monitor, path, table, role=role)]


def _tables(monitor: Monitor, path: str, table: TableReader, *, role: Role = "viewer") -> list[Route]:
    """Returns the routes of a table, as JSON and as CSV."""

    async def as_json(web: WebRequest) -> Response:
        return (await table(web)).as_json()

    async def as_csv(web: WebRequest) -> Response:
        return (await table(web)).as_csv()

    return [
        Route(f"{path}.json", _page(monitor, role, as_json)),
        Route(f"{path}.csv", _page(monitor, role, as_csv)),
    ]


def _open(monitor: Monitor, handle: Handler) -> Any:
    """Returns an endpoint that everybody may ask."""

    async def endpoint(request: Request) -> Response:
        return await handle(WebRequest(request, monitor))

    return endpoint


def _page(monitor: Monitor, role: Role, handle: Handler) -> Any:
    """Returns an endpoint for users of a role; others are asked to sign in, or refused."""

    async def endpoint(request: Request) -> Response:
        web = WebRequest(request, monitor)
        if not web.is_signed_in:
            if "text/html" in request.headers.get("accept", ""):
                return RedirectResponse(_sign_in_before(web), 303)
            raise RefusedRequestError(401, "error.sign-in")
        if not web.sign_in.user.may(role):
            raise RefusedRequestError(403, "error.role", role=role)
        return await (_shown(web, handle) if request.method == "GET" else handle(web))

    return endpoint


async def _shown(web: WebRequest, handle: Handler) -> Response:
    """Returns a page; while Redis is away, as it was shown last, with its age."""
    pages, key = web.monitor.last_pages, (web.token, web.words.language, web.here)
    is_away = bool((await web.monitor.gatherer.latest()).away)
    last = pages.get(key)
    try:
        # Only where something can be shown instead, a page must be there at once.
        async with asyncio.timeout(AWAY_SECONDS if is_away and last else None):
            answer = await handle(web)
    except (UnavailableError, TimeoutError) as error:
        if last is None:
            raise error if isinstance(error, UnavailableError) else UnavailableError(str(error)) from None
        notice = web.words("last-page", since=formats.at(last.shown_at_s * 1000))
        return HTMLResponse(last.html.replace(PLACE, f'<p class="trouble bad" role="alert">{escape(notice)}</p>', 1))
    if isinstance(answer, HTMLResponse) and answer.status_code == 200:  # noqa: PLR2004 -- HTTP's OK
        pages.keep(key, bytes(answer.body).decode())
    return answer


def _sign_in_before(web: WebRequest) -> str:
    """Returns the address of the form to sign in, which goes on to the page that is asked for."""
    is_overview = web.here == "/"
    return "/login" if is_overview or web.request.method != "GET" else f"/login?{urlencode({'then': web.here})}"


def _action(monitor: Monitor, role: Role, handle: ActionHandler) -> Any:
    """Returns an endpoint that takes a form from users of a role, which one of the monitor's own pages sent them."""

    async def checked(web: WebRequest) -> Response:
        form = await web.form()
        if not web.sign_in.sent(form.get("csrf", "")):
            raise RefusedRequestError(403, "error.form")
        try:
            return await handle(web, form)
        except UnavailableError:
            raise
        except HeadroomError as error:
            return web.html("error", 400 if isinstance(error, ConfigError | UrlError) else 409, message=str(error))

    return _page(monitor, role, checked)


async def _refuse(monitor: Monitor, request: Request, error: Exception) -> Response:
    """Says what went wrong, in the reader's language where it is one of the monitor's own messages."""
    try:
        web = WebRequest(request, monitor)
    except HeadroomError as unreadable:  # the file of users: nobody is known, so no page is shown
        return PlainTextResponse(f"{unreadable}\n", 503)
    if isinstance(error, RefusedRequestError):
        status, message = error.status, web.words(error.message, **error.values_of_message)
    elif isinstance(error, HTTPException):
        status, message = error.status_code, web.words("error.nothing")
    else:
        status, message = 400 if isinstance(error, (UrlError, PlanError)) else 503, str(error)
    return web.html("error", status, message=message)
