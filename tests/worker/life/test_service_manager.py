"""sd_notify: a service manager hears that a worker has joined, lives and stops."""

from __future__ import annotations

import logging
import socket

import pytest
from waiting import PATIENCE_SECONDS

from crawler.worker.life.service_manager import ServiceManager


@pytest.fixture
def listener():
    """A socket like systemd's."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as listener:
        listener.settimeout(PATIENCE_SECONDS)
        yield listener


@pytest.fixture
def path(listener, tmp_path):
    path = tmp_path / "notify"
    listener.bind(str(path))
    return path


def next_words(listener):
    return listener.recv(100).decode().split()


def test_nobody_is_told_unless_asked_to(monkeypatch):
    monkeypatch.delenv("NOTIFY_SOCKET", raising=False)
    assert ServiceManager.from_environment() is None


def test_it_is_told_by_the_words_of_sd_notify(listener, path, monkeypatch):
    monkeypatch.setenv("NOTIFY_SOCKET", str(path))
    manager = ServiceManager.from_environment()
    manager.beat(is_ready=False)
    manager.beat(is_ready=True)
    manager.stopping()
    manager.close()
    told = [next_words(listener) for _ in range(3)]
    assert told == [["WATCHDOG=1"], ["WATCHDOG=1", "READY=1"], ["STOPPING=1"]]


def test_its_socket_may_be_an_abstract_one(listener):
    listener.bind("")  # Linux gives it a name
    manager = ServiceManager("@" + listener.getsockname()[1:].decode())
    manager.beat(is_ready=True)
    manager.close()
    assert next_words(listener) == ["WATCHDOG=1", "READY=1"]


def test_one_that_is_away_or_takes_nothing_more_stops_no_worker(listener, path, caplog):
    manager = ServiceManager(str(path))
    with caplog.at_level(logging.WARNING):
        for _ in range(10_000):  # more than a socket holds
            manager.beat(is_ready=True)
        listener.close()
        manager.beat(is_ready=True)
    manager.close()
    (told,) = caplog.messages
    assert "this worker will look dead" in told


def test_a_worker_says_when_it_has_joined_that_it_lives_and_that_it_stops(spawn, listener, path, redis_url):
    worker = spawn("crawl", "consumer", environment={"NOTIFY_SOCKET": str(path), "REDIS_URL": redis_url})
    for _ in range(2):
        assert next_words(listener) == ["WATCHDOG=1", "READY=1"]
    assert worker.stop(PATIENCE_SECONDS) == 0
    while (words := next_words(listener)) != ["STOPPING=1"]:
        assert words == ["WATCHDOG=1", "READY=1"]
