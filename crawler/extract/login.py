"""Tells a login from other pages: servers send there whoever may not see a page, and every page may link to it.

A box for members on an ordinary page asks for a password, too. So the address has to say that the page is a login.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl, urlsplit

from crawler.base import reasons
from crawler.base.errors import ExtractError

if TYPE_CHECKING:
    import turbohtml

    from crawler.base.models import Fetched, SentOn

MAX_PARAMETERS = 50  # of an address that are looked at; a login has three or four
MAX_CHARACTERS = 1_000  # of a login's text: one with more is about logins
_PASSWORD = "input[type=password i]"  # noqa: S105 -- a selector
_BESIDE_PAGE = "header, nav, aside, footer"  # where a box for members stands
# The end of a login's path, as in `/login/`, `/wp-login.php`, `/user/sign_in` and `/index.php/Special:UserLogin`.
_LOGIN = r"(?:wp-|\w+:)?(?:user[-_]?)?(?:log[-_]?(?:in|on)|sign[-_]?(?:in|on|up))"
_REGISTER = r"(?:user[-_]?)?regist(?:er|ration)"  # alone it may be what an article is about
_ends_as_login = re.compile(
    rf"/(?:.*/)?{_LOGIN}(?:\.\w{{1,5}})?/?|/(?:.*/)?{_REGISTER}\.\w{{1,5}}|(?:/(?:accounts?|auth|members?|users?))?/{_REGISTER}/?",
    re.IGNORECASE,
).fullmatch
_is_login_value = re.compile(f"{_LOGIN}|{_REGISTER}", re.IGNORECASE).fullmatch
_SCREENS = frozenset("action do mode module op page route title view".split())  # parameters that say what is shown
_ORIGINS = frozenset("from ref referer referrer source via".split())  # parameters that say from where somebody came


def refuse_login(page: Fetched, tree: turbohtml.Document) -> None:
    """Refuses a page to which the request for another one was sent on, if it is a login.

    Raises:
        ExtractError: `login`: its address is that of a login, and the one that was asked for isn't; others may ask for
            the password. Or it asks for a password, and its address says where to go on after that. A page that has
            moved may have a box for members, too; but its address doesn't name the old one.
    """
    if page.sent_on is None:
        return
    sent_to_login = _is_named_login(page.sent_on.to) and not _is_named_login(page.sent_on.asked)
    if sent_to_login or (_leads_back(page.sent_on) and tree.select_one(_PASSWORD) is not None):
        raise ExtractError(reasons.LOGIN, f"sent on to {page.sent_on.to[:300]}")


def leads_to_login(sent_on: SentOn) -> bool:
    """Returns whether a redirect may lead to a login, by the addresses alone."""
    return _leads_back(sent_on) or _is_named_login(sent_on.to)


def is_login(url: str, tree: turbohtml.Document, text: str) -> bool:
    """Returns whether a page is a login by itself: by its address, a field for a password, and how little it says.

    Args:
        url: Its address.
        tree: The page.
        text: What was found on it.
    """
    if len(text) >= MAX_CHARACTERS or not _is_named_login(url):
        return False
    return any(field.closest(_BESIDE_PAGE) is None for field in tree.select(_PASSWORD))


def _leads_back(sent_on: SentOn) -> bool:
    """Returns whether a parameter of the new address is the one that was asked for, as `?next=/topic/7`."""
    asked, to = urlsplit(sent_on.asked), urlsplit(sent_on.to)
    wanted = {asked._replace(scheme="", netloc="").geturl(), asked.path, asked.geturl()} - {"/"}
    names = {name.lower() for name, value in _parameters(sent_on.to) if value in wanted}
    is_same = (asked.hostname, asked.path) == (to.hostname, to.path) and asked.query in to.query
    says_so = names - _ORIGINS and not is_same
    return bool(says_so) or (bool(names) and _is_named_login(sent_on.to))


def _is_named_login(url: str) -> bool:
    if _ends_as_login(urlsplit(url).path):
        return True
    return any(name.lower() in _SCREENS and _is_login_value(value) for name, value in _parameters(url))


def _parameters(url: str) -> list[tuple[str, str]]:
    """Returns the parameters of an address; none where there are too many."""
    try:
        return parse_qsl(urlsplit(url).query, max_num_fields=MAX_PARAMETERS)
    except ValueError:
        return []
