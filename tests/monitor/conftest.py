"""A monitor that listens, in a thread of its own, and browsers without a screen or with Chromium's."""

from __future__ import annotations

import asyncio
import html
import http.client
import re
import threading
from dataclasses import dataclass, field
from urllib.parse import urlencode, urlsplit

import pytest
from argon2 import PasswordHasher
from commands.conftest import _made_up_names, claim, fail, operator  # noqa: F401 -- fixtures
from scrapy.settings import Settings
from waiting import PATIENCE_SECONDS

from crawler.cluster.activity import Activity
from crawler.monitor import slow_actions
from crawler.monitor import users as users_module
from crawler.monitor.server import Listening, MonitorServer
from crawler.monitor.users import UserFile

PASSWORD = "correct horse battery"
ROLES = ("viewer", "analyst", "operator")
HERE = Listening.checked("127.0.0.1:0", tls_cert="", tls_key="", proxy="")


@pytest.fixture(scope="session", autouse=True)
def _quick_hashes():
    """Has passwords hashed with a thousandth of the work: what argon2 withstands isn't tested here."""
    quick = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(users_module, "_hasher", quick)
        patch.setattr(users_module, "_NOBODY", quick.hash("nobody"))
        yield


@pytest.fixture(autouse=True)
def _patient_actions(monkeypatch):
    """Has the pages wait for what is done to a plan, as they don't on a machine that is busy."""
    monkeypatch.setattr(slow_actions, "WAIT_SECONDS", 60.0)


class Running:
    """A monitor in a thread, until the end of the block."""

    def __init__(self, settings, users, listening=HERE):
        self.server = MonitorServer(settings, users, listening)
        self.address = self.server.address.rstrip("/")
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_until_complete, args=(self.server.serve(),))
        self._thread.start()

    def __enter__(self):
        return self

    def browser(self, user=None, password=PASSWORD):
        """Returns a browser, signed in as a user; of nobody without one."""
        browser = Browser(self.address)
        if user:
            assert browser.sign_in(user, password).status == 303
        return browser

    def __exit__(self, *_):
        asyncio.run_coroutine_threadsafe(self.server.stop(), self._loop).result(10)
        self._thread.join(PATIENCE_SECONDS)
        assert not self._thread.is_alive()
        self._loop.close()


@pytest.fixture(scope="module")
def users(tmp_path_factory, _quick_hashes):
    file = UserFile(str(tmp_path_factory.mktemp("monitor") / "users.json"))
    for role in ROLES:
        file.put(role, role, PASSWORD)
    return file


def settings_at(redis_url, **more):
    settings = Settings()
    settings.setmodule("crawler.settings")
    settings.setdict({"REDIS_URL": redis_url, "METRICS_TOKEN": "0123456789abcdef", **more})
    return settings


@pytest.fixture(scope="module")
def running(redis_server, users):
    """A monitor of our own Redis, for all tests of a module."""
    with Running(settings_at(redis_server.url), users) as monitor:
        yield monitor


@dataclass
class Answer:
    status: int
    headers: http.client.HTTPMessage
    body: bytes

    @property
    def text(self):
        return self.body.decode()


@dataclass
class Browser:
    """Keeps cookies and sends forms, as a browser does."""

    address: str
    cookies: dict = field(default_factory=dict)
    sends: dict = field(default_factory=lambda: {"accept": "text/html", "sec-fetch-site": "same-origin"})

    def get(self, path, **headers):
        return self._ask("GET", path, None, headers)

    def post(self, path, headers=(), **fields):
        return self._ask("POST", path, urlencode(fields), dict(headers))

    def act(self, path, page="/", **fields):
        """Sends a form with the token that a page has."""
        return self.post(path, csrf=self.csrf(page), **fields)

    def csrf(self, page="/"):
        return re.search(r'name="csrf" value="([^"]+)"', self.get(page).text)[1]

    def sign_in(self, name, password=PASSWORD):
        return self.post("/login", name=name, password=password)

    def _ask(self, method, path, body, headers):
        connection = http.client.HTTPConnection(urlsplit(self.address).netloc, timeout=PATIENCE_SECONDS)
        sent = {**self.sends, **{name.replace("_", "-"): value for name, value in headers.items()}}
        if self.cookies:
            sent["cookie"] = "; ".join(f"{name}={value}" for name, value in self.cookies.items())
        try:
            connection.request(method, path, body, {name: value for name, value in sent.items() if value is not None})
            answer = connection.getresponse()
            body = answer.read()
        finally:
            connection.close()
        for cookie in answer.headers.get_all("set-cookie") or ():
            name, _, value = cookie.partition(";")[0].partition("=")
            self.cookies[name] = value
        return Answer(answer.status, answer.headers, body)


@pytest.fixture
def browser(running, redis_url, monkeypatch):
    """Returns a function that gives a browser, signed in as a role; of nobody without one."""
    # The minutes of an earlier test, which the monitor has read and won't read again.
    monkeypatch.setattr(running.server._gatherer, "_activity", Activity())
    return running.browser


@pytest.fixture
def _reads_anew(monkeypatch):
    """Has figures read anew for each request, since each test has an empty Redis."""
    monkeypatch.setattr("crawler.monitor.gatherer.READ_SECONDS", 0.0)
    monkeypatch.setattr("crawler.monitor.gatherer.COST_FACTOR", 0)
    monkeypatch.setattr("crawler.monitor.gatherer.ACTIVITY_SECONDS", 0.0)


def text_of(page):
    """Returns what a page says, its tags left out."""
    return re.sub(r"\s+", " ", html.unescape(re.sub(r"<[^>]+>", " ", page)))
