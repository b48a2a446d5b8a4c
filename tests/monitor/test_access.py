"""Who gets into the monitor, and what each may do; over HTTP, on a real Redis."""

from __future__ import annotations

import asyncio
import errno
import re
import select
import socket
import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from http.client import HTTPConnection
from urllib.parse import urlencode, urlsplit

import pytest
from monitor.conftest import HERE, PASSWORD, ROLES, Running, settings_at
from waiting import PATIENCE_SECONDS, until

from crawler.base.errors import HeadroomError
from crawler.monitor import client_connections, web
from crawler.monitor.server import Listening
from crawler.monitor.users import UserFile

PAGES = "/ /activity.json /activity.csv /events /nodes /nodes.csv /node /plans /plan /plan.json".split()
OPERATORS_PAGES = ["/audit", "/audit.json", "/audit.csv"]


@pytest.mark.parametrize("path", PAGES + OPERATORS_PAGES)
def test_nothing_is_shown_to_who_is_not_signed_in(browser, path):
    answer = browser().get(path)
    expected = "/login" if path == "/" else f"/login?{urlencode({'then': path})}"
    assert (answer.status, answer.headers["location"]) == (303, expected)
    refused = browser().get(path, accept="*/*")
    assert refused.status == 401
    assert "csrf" not in refused.text


def test_signing_in_and_out(browser):
    visitor = browser()
    assert visitor.get("/login").status == 200
    answer = visitor.sign_in("viewer")
    assert (answer.status, answer.headers["location"]) == (303, "/")
    cookie = answer.headers["set-cookie"].lower()
    assert {"httponly", "samesite=strict", "path=/"} <= set(cookie.split("; "))
    assert "secure" not in cookie  # the address has no TLS, and is this machine's own
    assert visitor.get("/").status == 200
    assert visitor.get("/login").headers["location"] == "/"
    token = visitor.cookies["monitor"]
    assert visitor.act("/logout").headers["location"] == "/login"
    visitor.cookies["monitor"] = token
    assert visitor.get("/").status == 303  # the token itself is worth nothing any more


def test_signing_in_goes_on_to_the_page_that_was_asked_for(browser):
    visitor, wanted = browser(), "/plan?id=a%26b&period=day"
    form = visitor.get(wanted).headers["location"]
    assert f'action="{form}"' in visitor.get(form).text
    wrong = visitor.post(form, name="viewer", password="wrong")
    assert (wrong.status, f'action="{form}"' in wrong.text) == (403, True)
    assert visitor.post(form, name="viewer", password=PASSWORD).headers["location"] == wanted
    assert visitor.get(form).headers["location"] == wanted


@pytest.mark.parametrize("elsewhere", ["//evil.test/", "https://evil.test/", "/%5Cevil.test", "/x%0d%0aset-cookie:a=b"])
def test_signing_in_goes_nowhere_else(browser, elsewhere):
    answer = browser().post(f"/login?then={elsewhere}", name="viewer", password=PASSWORD)
    assert answer.headers["location"] == "/"


@pytest.mark.parametrize(("name", "password"), [("viewer", "wrong"), ("nobody", PASSWORD), ("", ""), ("\0", "\0" * 9)])
def test_a_wrong_password_and_a_wrong_name_look_alike(browser, name, password):
    answer = browser().sign_in(name, password)
    assert answer.status == 403
    assert "The name or the password is wrong." in answer.text


def test_tries_are_limited(users, redis_url):
    with Running(settings_at(redis_url), users) as monitor:
        visitor = monitor.browser()
        assert [visitor.sign_in("viewer", "wrong").status for _ in range(6)] == [403] * 5 + [429]
        assert visitor.sign_in("viewer").status == 429
        assert visitor.sign_in("analyst").status == 303  # another's failures are no hindrance


def test_passwords_that_wait_to_be_checked_are_few_for_each_address(users, redis_url, monkeypatch):
    may_end, begun = threading.Event(), threading.Semaphore(0)

    def check(_name, _password):
        begun.release()
        may_end.wait(PATIENCE_SECONDS)

    monkeypatch.setattr(users, "check", check)
    with Running(settings_at(redis_url), users) as monitor, ThreadPoolExecutor(6) as pool:
        tries = [pool.submit(monitor.browser().sign_in, f"guest{number}", PASSWORD) for number in range(6)]
        begun.acquire(timeout=PATIENCE_SECONDS)
        until(lambda: sum(attempt.done() for attempt in tries) == 2, "the two that are too many")
        assert [attempt.result().status for attempt in tries if attempt.done()] == [429, 429]
        may_end.set()
        assert Counter(attempt.result().status for attempt in tries) == {429: 2, 403: 4}


def test_a_request_by_a_name_that_was_made_to_lead_here_is_refused(browser):
    assert browser().get("/login", host="evil.test").status == 421
    for own in ("localhost:1", "127.0.0.1", "[::1]:8641", "127.0.0.2:8641"):
        assert browser().get("/login", host=own).status == 200


def test_a_request_of_two_lengths_is_refused(browser):
    with socket.create_connection(("127.0.0.1", urlsplit(browser().address).port), PATIENCE_SECONDS) as connection:
        head = b"POST /login HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n"
        connection.sendall(head + b"0\r\n\r\n")
        assert connection.recv(100).startswith(b"HTTP/1.1 400 ")


@pytest.mark.parametrize(
    "sent",
    [
        b"",
        b"GET /login HT",
        b"GET /login HTTP/1.1\r\nHost: localhost\r\n\r\nGET /login HT",  # a second head on the same connection
        b"GET /login HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99\r\n\r\n",  # whose body never comes
        b"POST /login HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99\r\n\r\nname=",
    ],
)
def test_a_connection_on_which_nothing_gets_whole_is_closed(browser, monkeypatch, sent):
    """However often a byte of it comes."""
    monkeypatch.setattr(client_connections, "REQUEST_SECONDS", 0.3)
    monkeypatch.setattr(web, "FORM_SECONDS", 0.3)
    with socket.create_connection(("127.0.0.1", urlsplit(browser().address).port), 0.05) as connection:
        connection.sendall(sent)

        def is_closed():
            try:
                connection.sendall(b"x" if sent else b"")
                return not connection.recv(100_000)
            except TimeoutError:
                return False
            except ConnectionError:
                return True

        until(is_closed, "its end")


def test_a_connection_whose_answers_nobody_takes_is_closed(browser, monkeypatch):
    monkeypatch.setattr(client_connections, "UNREAD_SECONDS", 0.2)
    with socket.create_connection(("127.0.0.1", urlsplit(browser().address).port), 0.05) as connection:

        def is_closed():
            try:
                connection.send(b"GET /static/monitor.js HTTP/1.1\r\nHost: localhost\r\n\r\n" * 500)
            except TimeoutError:
                return False
            except ConnectionError:
                return True

        until(is_closed, "its end")


@pytest.mark.parametrize(("of_all", "shares", "held"), [(8, 1, 8), (100, 12, 8)])
def test_who_holds_all_connections_keeps_nobody_out(users, redis_url, monkeypatch, of_all, shares, held):
    """Not even who comes from the same address, as all do behind a tunnel; signed-in users never give way to others."""
    monkeypatch.setattr(client_connections, "MAX_CONNECTIONS", of_all)
    monkeypatch.setattr(client_connections, "SHARES", shares)
    with Running(settings_at(redis_url), users) as monitor, ExitStack() as stack:
        viewer = monitor.browser("viewer")
        place = urlsplit(monitor.address)
        kept = stack.enter_context(closing(HTTPConnection(place.netloc, timeout=PATIENCE_SECONDS)))

        def ask():
            kept.request("GET", "/nodes", headers={"cookie": f"monitor={viewer.cookies['monitor']}"})
            answer = kept.getresponse()
            answer.read()
            return answer.status

        assert ask() == 200
        signed_in_on = kept.sock
        strangers = [
            stack.enter_context(socket.create_connection((place.hostname, place.port), PATIENCE_SECONDS))
            for _ in range(30)
        ]
        assert viewer.get("/nodes").status == monitor.browser().get("/login").status == 200
        assert ask() == 200
        assert kept.sock is signed_in_on
        open_ones = [stranger for stranger in strangers if not select.select([stranger], [], [], 0)[0]]
        assert 0 < len(open_ones) <= held
        assert open_ones == strangers[-len(open_ones) :]


def test_an_error_of_accepting_has_the_oldest_give_way_and_is_seldom_logged(users, redis_url, monkeypatch, caplog):
    with Running(settings_at(redis_url), users) as monitor:
        place = urlsplit(monitor.address)
        with socket.create_connection((place.hostname, place.port), PATIENCE_SECONDS) as oldest:
            monitor.browser().get("/login")
            accept, failures = asyncio.SelectorEventLoop.sock_accept, iter(range(5))

            async def accept_in_the_end(loop, bound):
                if next(failures, None) is None:
                    return await accept(loop, bound)
                raise OSError(errno.EMFILE, "Too many open files")

            monkeypatch.setattr(asyncio.SelectorEventLoop, "sock_accept", accept_in_the_end)
            monitor.browser().get("/login")  # what the loop waits for already
            assert monitor.browser().get("/login").status == 200
            assert oldest.recv(1) == b""
    assert caplog.text.count("the monitor can't take a connection: Too many open files") == 1


async def test_a_number_may_have_any_number_of_digits(browser, operator):
    """Python refuses to read one of more than 4,300."""
    operator_user, digits = browser("operator"), "9" * 5_010
    paths = [
        "/activity.json?period=",
        "/failures?after=1.",
        "/failures?after=",
        "/item?id=",
        "/items?skip=",
        "/items?since=",
    ]
    paths += ["/media?path=", "/node?period=", "/seed?url=http://a.test/", "/hosts?name=", "/host?name="]
    for path in paths:
        assert operator_user.get(path + digits).status in (200, 400, 404), path
    ordered = {"name": "a.test", "order": "slow", "delay": digits}
    assert operator_user.act("/host", "/hosts", **ordered).status in (400, 409)
    assert operator_user.act("/failures", "/failures", action="ticked", **{f"seed.{digits}.00": "on"}).status == 400
    assert operator_user.get("/login", content_length=digits).status == 400


@pytest.mark.parametrize("headers", [{"sec-fetch-site": "cross-site"}, {"sec-fetch-site": "same-site"}])
def test_forms_of_other_sites_are_refused(browser, headers):
    operator_user = browser("operator")
    assert operator_user.post("/logout", headers, csrf=operator_user.csrf()).status == 403
    assert operator_user.post("/login", headers, name="viewer", password=PASSWORD).status == 403
    old_browser = {"sec-fetch-site": None, "origin": "http://evil.test"}
    assert operator_user.post("/logout", old_browser, csrf=operator_user.csrf()).status == 403
    assert operator_user.get("/").status == 200


def test_a_form_needs_the_token_of_its_own_sign_in(browser):
    viewer, operator_user = browser("viewer"), browser("operator")
    assert viewer.post("/logout").status == 403
    assert viewer.post("/logout", csrf=operator_user.csrf()).status == 403
    assert viewer.post("/logout", csrf="ü").status == 403
    assert viewer.get("/").status == 200
    assert viewer.post("/logout", csrf="x" * 70_000).status == 413


@pytest.mark.parametrize("path", OPERATORS_PAGES)
@pytest.mark.parametrize("role", ["viewer", "analyst"])
def test_what_is_the_operators_is_refused_to_others(browser, path, role):
    answer = browser(role).get(path)
    assert answer.status == 403
    assert "Only users with the role operator may do that." in answer.text
    assert browser("operator").get(path).status == 200


@pytest.mark.parametrize(
    ("path", "fields", "role"),
    [
        ("/plan", {"name": "flood", "action": "cancel"}, "analyst"),
        ("/node", {"name": "a-node", "order": "drain"}, "operator"),
        ("/host", {"name": "a.test", "order": "pause"}, "operator"),
        ("/failures", {"action": "all"}, "operator"),
    ],
)
def test_an_action_is_refused_to_whose_role_may_less(browser, path, fields, role):
    for lesser in ROLES[: ROLES.index(role)]:
        answer = browser(lesser).act(path, **fields)
        assert (answer.status, f"Only users with the role {role} may do that." in answer.text) == (403, True)


def test_every_answer_carries_the_headers_that_keep_others_out(browser):
    for path in ("/login", "/", "/nothing", "/static/monitor.js", "/activity.csv"):
        headers = browser("viewer").get(path).headers
        assert headers["content-security-policy"].startswith("default-src 'none'; script-src 'self'; style-src 'self'")
        assert "unsafe" not in headers["content-security-policy"]
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["x-frame-options"] == "DENY"
        assert headers["strict-transport-security"] is None
    assert browser("viewer").get("/").headers["cache-control"] == "no-store"


def test_no_page_has_a_script_or_style_within(browser):
    for page in (browser("operator").get("/").text, browser().get("/login").text):
        assert not re.search(r"<style|\sstyle=|\son\w+=|<script(?! src=)", page)


def test_a_language_by_the_browser_and_by_choice(browser):
    viewer = browser("viewer")
    assert 'lang="en"' in viewer.get("/").text
    assert "总览" in viewer.get("/", accept_language="fr, zh-CN;q=0.8, en;q=0.5").text
    answer = viewer.get("/language?to=zh&then=/?period=day")
    assert answer.headers["location"] == "/?period=day"
    assert "总览" in viewer.get("/").text
    for elsewhere in ("//evil.test/", "https://evil.test/", "/%5Cevil.test", "/x%0d%0aset-cookie:a=b"):
        assert viewer.get(f"/language?to=en&then={elsewhere}").headers["location"] == "/"
    assert viewer.get("/language?to=xx").status == 303


def test_metrics_are_for_the_token_alone(browser):
    refused = browser("operator").get("/metrics")
    assert (refused.status, refused.headers["www-authenticate"]) == (401, "Bearer")
    shown = {"authorization": "Bearer 0123456789abcdef"}
    answer = browser().get("/metrics", **shown)
    assert (answer.status, answer.headers["content-type"]) == (200, "text/plain; version=0.0.4; charset=utf-8")
    assert "\nheadroom_pages_total 0\n" in answer.text
    assert browser().get("/metrics", accept="application/openmetrics-text", **shown).text.endswith("# EOF\n")
    assert browser().post("/metrics", shown).status == 405


def test_who_is_removed_or_changed_is_out_at_once(tmp_path, redis_url):
    users = UserFile(str(tmp_path / "users.json"))
    for name in ("ann", "bob"):
        users.put(name, "operator", PASSWORD)
    with Running(settings_at(redis_url), users) as monitor:
        ann, bob = monitor.browser("ann"), monitor.browser("bob")
        users.put("ann", "viewer", PASSWORD)
        users.remove("bob")
        assert [user.get("/").status for user in (ann, bob)] == [303, 303]


def test_behind_a_proxy_cookies_are_for_tls_alone(users, redis_url):
    listening = Listening.checked("0.0.0.0:0", tls_cert="", tls_key="", proxy="127.0.0.1")
    with Running(settings_at(redis_url), users, listening) as monitor:
        visitor = monitor.browser()
        answer = visitor.sign_in("viewer")
        assert answer.headers["set-cookie"].startswith("__Host-monitor=")
        assert "secure" in answer.headers["set-cookie"].lower().split("; ")
        assert visitor.get("/").headers["strict-transport-security"] == "max-age=31536000"


@pytest.mark.parametrize(
    ("listen", "more", "said"),
    [
        ("0.0.0.0:8641", {}, "passwords would cross the network in the clear"),
        ("192.0.2.1:8641", {}, "passwords would cross the network in the clear"),
        ("crawl.example.org:1", {}, "passwords would cross the network in the clear"),
        ("127.0.0.1", {}, "expected HOST:PORT"),
        ("127.0.0.1:70000", {}, "expected HOST:PORT"),
        ("127.0.0.1:1", {"tls_cert": "a.pem"}, "go together"),
    ],
)
def test_where_it_does_not_listen(listen, more, said):
    with pytest.raises(HeadroomError, match=said):
        Listening.checked(listen, **{"tls_cert": "", "tls_key": "", "proxy": ""} | more)


def test_tls_files_that_are_none_are_said(tmp_path, users, redis_url):
    pem = tmp_path / "a.pem"
    pem.write_text("nothing")
    listening = Listening.checked("127.0.0.1:0", tls_cert=str(pem), tls_key=str(pem), proxy="")
    with pytest.raises(HeadroomError, match="TLS files"):
        Running(settings_at(redis_url), users, listening)
    assert HERE.tls_files is None
