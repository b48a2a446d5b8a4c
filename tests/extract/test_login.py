"""A login is what asks for a password and names the page to which it leads on, or is named so itself."""

from __future__ import annotations

import pytest

from crawler import extract, sites
from crawler.base.errors import ExtractError
from crawler.base.models import Fetched, SentOn

ASKED = "http://a.test/topic/7?page=2"
PASSWORD = "<input type=password>"
TEXT = "<h1>Old stone bridge</h1><p>" + "The bridge was built in 1811, and no storm has moved it since then. " * 5
ALONE = sites.parse("name: a", "a.yaml")
SELECTED = sites.parse("name: a\ncontent: {title: css:h1, content: css:p}", "a.yaml")


def reason(url, body, site, sent_on=None):
    try:
        extract.fields(Fetched(url, 200, "text/html", body.encode(), sent_on=sent_on), site)
    except ExtractError as error:
        return error.reason
    return None


@pytest.mark.parametrize("site", [ALONE, SELECTED], ids=["without selectors", "with selectors"])
@pytest.mark.parametrize(
    ("to", "field", "is_login"),
    [
        ("http://a.test/enter?next=/topic/7?page=2", PASSWORD, True),
        ("http://a.test/enter?next=%2Ftopic%2F7%3Fpage%3D2&x=1", "<INPUT TYPE=Password>", True),
        ("http://a.test/enter?return_to=http://a.test/topic/7?page=2", PASSWORD, True),
        ("http://a.test/enter?next=/topic/7", PASSWORD, True),
        ("http://a.test/enter?next=/topic/7", "<input type=text>", False),
        ("http://a.test/enter?next=/topic/8", PASSWORD, False),
        ("http://a.test/topic/7-storm?page=2", PASSWORD, False),
        ("http://a.test/old-bridge?from=/topic/7", PASSWORD, False),
        ("http://a.test/login?from=/topic/7", PASSWORD, True),
        ("https://a.test/topic/7?page=2&back=/topic/7", PASSWORD, False),
        ("http://a.test/topic/7?action=login&back=/topic/7?page=2", PASSWORD, True),
        ("http://a.test/enter?back=/", PASSWORD, False),
        ("http://a.test/login", "<a href=/sso/start>Continue with your organisation</a>", True),
        ("http://a.test/about-login", "", False),
        ("http://a.test/enter?" + "&".join(["next=/topic/7"] * 60), PASSWORD, False),
    ],
)
def test_a_login_to_which_a_request_is_sent_on_names_the_page(to, field, is_login, site):
    assert reason(to, TEXT + field, site, SentOn(ASKED, to)) == ("login" if is_login else None)


def test_a_page_named_as_a_login_that_moved_is_none():
    sent_on = SentOn("http://a.test/wiki/Log_in", "http://a.test/wiki/Login")
    assert reason(sent_on.to, TEXT, ALONE, sent_on) is None


@pytest.mark.parametrize(
    ("url", "is_login"),
    [
        ("http://a.test/login/", True),
        ("http://a.test/login?next=/topic/7", True),
        ("http://a.test/blog/wp-login.php", True),
        ("http://a.test/index.php?title=Special:UserLogin&returnto=Bridge", True),
        ("http://a.test/user/Sign_In", True),
        ("http://a.test/index.php/Special:UserLogin", True),
        ("http://a.test/?action=register", True),
        ("http://a.test/register.php", True),
        ("http://a.test/accounts/register/", True),
        ("http://a.test/wiki/Register", False),
        ("http://a.test/2026/registration", False),
        ("http://a.test/plugins/theme-login", False),
        ("http://a.test/showthread.php?t=5&highlight=login", False),
        ("http://a.test/t/7?tag=signup", False),
        ("http://a.test/login/7", False),
        ("http://a.test/topic/login-problems", False),
        ("http://a.test/blogs/", False),
    ],
)
def test_a_login_is_named_so_and_asks_for_a_password(url, is_login):
    assert reason(url, TEXT + PASSWORD, ALONE) == ("login" if is_login else None)
    assert reason(url, TEXT, ALONE) is None
    assert reason(url, TEXT + PASSWORD, SELECTED) is None  # what a site's file names is there


def test_a_box_for_members_in_the_head_of_a_page_makes_no_login():
    assert reason("http://a.test/commands/login", f"<header>{PASSWORD}</header>{TEXT}", ALONE) is None


def test_a_page_about_logins_that_shows_one_is_an_item():
    assert reason("http://a.test/docs/login", TEXT * 5 + PASSWORD, ALONE) is None
