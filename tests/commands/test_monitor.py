"""`scrapy monitor`, as a process."""

from __future__ import annotations

import re
import sys
import urllib.request

import pytest
from commands.answers import error_of, json_of, lines_of
from waiting import PATIENCE_SECONDS, until

PASSWORD = "correct horse battery\n"


@pytest.fixture
def users(tmp_path):
    return {"MONITOR_USERS": str(tmp_path / "users.json")}


def test_users_are_added_listed_and_removed(scrapy, users):
    done = scrapy("monitor", "user", "add", "ann", "--role", "operator", settings=users, stdin=PASSWORD)
    assert lines_of(done) == ["user role", "ann operator"]
    lines_of(scrapy("monitor", "user", "add", "bob", settings=users, stdin=PASSWORD))
    names = [{"name": "ann", "role": "operator"}, {"name": "bob", "role": "viewer"}]
    assert json_of(scrapy("monitor", "user", "list", "--json", settings=users)) == names
    assert lines_of(scrapy("monitor", "user", "remove", "ann", settings=users)) == ["user role", "bob viewer"]


def test_a_monitor_that_would_be_open_or_empty_is_refused(scrapy, users, monkeypatch):
    assert "nobody may use the monitor yet" in error_of(scrapy("monitor", settings=users))
    assert "in the clear" in error_of(scrapy("monitor", "--listen", "0.0.0.0:1", settings=users))
    assert "12 to" in error_of(scrapy("monitor", "user", "add", "ann", settings=users, stdin="short\n"))
    assert "did you mean remove?" in error_of(scrapy("monitor", "user", "rename", settings=users))
    assert "expected NAME" in error_of(scrapy("monitor", "user", "add", settings=users))
    monkeypatch.setitem(sys.modules, "starlette", None)
    said = error_of(scrapy("monitor", settings=users))
    assert said.startswith('the monitor needs the extra "monitor"')


def test_it_listens_until_it_is_told_to_stop(scrapy, spawn, users):
    lines_of(scrapy("monitor", "user", "add", "ann", settings=users, stdin=PASSWORD))
    process = spawn("monitor", "--listen", "127.0.0.1:0", settings=users)
    address = until(lambda: re.search(r"http://127\.0\.0\.1:\d+/", process.log.read_text()), "the monitor's address")[0]
    with urllib.request.urlopen(address + "login", timeout=PATIENCE_SECONDS) as answer:
        assert b"<form" in answer.read()
    assert process.stop() == 0
