"""Signing in and out, and the choice of a language."""

from __future__ import annotations

import asyncio
import logging
import math
import re
from typing import TYPE_CHECKING

from starlette.responses import RedirectResponse

from crawler.base import log_events
from crawler.base.text import one_line
from crawler.monitor.sign_ins import LIFE_SECONDS
from crawler.monitor.web import LANGUAGE_COOKIE, YEAR_SECONDS
from crawler.monitor.words import LANGUAGES

if TYPE_CHECKING:
    from starlette.responses import Response

    from crawler.base.log_events import EventLogger
    from crawler.monitor.web import WebRequest

HERE = re.compile(r"/(?![/\\])[\x21-\x7e]*")  # matches an address of the monitor's own: `//` would begin another host's
SHOWN_CHARACTERS = 64
CHECK_SECONDS = 1.0  # when to try again where too many passwords wait to be checked: some are by then
logger: EventLogger = logging.getLogger(__name__)


async def show(web: WebRequest) -> Response:
    """Shows the form; who is signed in already goes on to the page that was asked for."""
    if web.is_signed_in:
        return RedirectResponse(_then(web), 303)
    return web.html("login", failed="", name="")


async def sign_in(web: WebRequest) -> Response:
    """Signs a user in who sends a name and its password, and shows the page that was asked for before."""
    form = await web.form()
    name, address = form.get("name", ""), web.request.client.host if web.request.client else ""
    monitor, shown = web.monitor, one_line(name)[:SHOWN_CHARACTERS]
    if not monitor.checks.are_free(address):
        return _limited(web, name, CHECK_SECONDS)
    with monitor.checks.held(address):
        async with monitor.checking:
            if wait_s := monitor.tries.wait_s(name, address):
                logger.warning(log_events.MONITOR_SIGN_IN_LIMITED, shown, address)
                return _limited(web, name, wait_s)
            user = await asyncio.to_thread(monitor.users.check, name, form.get("password", ""))
            if user is None:
                monitor.tries.fail(name, address)
    if user is None:
        logger.warning(log_events.MONITOR_SIGN_IN_REFUSED, shown, address)
        return web.html("login", 403, failed="login.wrong", name=name)
    logger.info(log_events.MONITOR_SIGN_IN, shown, address)
    answer = RedirectResponse(_then(web), 303)
    answer.set_cookie(
        monitor.cookie,
        monitor.sign_ins.begin(user),
        max_age=int(LIFE_SECONDS),
        httponly=True,
        secure=monitor.secure,
        samesite="strict",
    )
    return answer


def _limited(web: WebRequest, name: str, wait_s: float) -> Response:
    """Has somebody wait who has failed too often, or whose address has too many others that wait."""
    return web.html("login", 429, failed="login.wait", name=name, wait_s=math.ceil(wait_s))


async def sign_out(web: WebRequest, _form: dict[str, str]) -> Response:
    """Signs the user out."""
    web.monitor.sign_ins.end(web.token)
    answer = RedirectResponse("/login", 303)
    answer.delete_cookie(web.monitor.cookie, secure=web.monitor.secure, httponly=True, samesite="strict")
    return answer


async def choose_language(web: WebRequest) -> Response:
    """Has the browser keep a language, and shows the page again on which it was chosen."""
    chosen = web.parameter("to")
    answer = RedirectResponse(_then(web), 303)
    if chosen in LANGUAGES:
        secure = web.monitor.secure
        answer.set_cookie(
            LANGUAGE_COOKIE, chosen, max_age=YEAR_SECONDS, httponly=True, secure=secure, samesite="strict"
        )
    return answer


def _then(web: WebRequest) -> str:
    """Returns the address that follows, which the query names; the overview's where it isn't the monitor's own."""
    then = web.parameter("then")
    return then if HERE.fullmatch(then) else "/"
