"""HEARTBEAT_FILE: by its age and its word, others tell a worker that waits from one that is dead."""

from __future__ import annotations

import logging

import pytest
from waiting import PATIENCE_SECONDS, until

from crawler.base.errors import ConfigError
from crawler.worker.life.heartbeat_file import HeartbeatFile
from testbed.servers import Redis


def test_it_says_whether_the_session_is_alive_and_goes_with_the_worker(tmp_path):
    path = tmp_path / "alive"
    path.write_text("ready\n")  # of a worker that was killed
    file = HeartbeatFile(str(path))
    assert list(tmp_path.iterdir()) == []
    for is_ready, text in ((False, "waits\n"), (True, "ready\n")):
        file.beat(is_ready=is_ready)
        assert path.read_text() == text
    file.remove()
    assert list(tmp_path.iterdir()) == []
    file.remove()


def test_one_that_can_t_be_written_is_refused_and_later_told(tmp_path, caplog):
    with pytest.raises(
        ConfigError, match=r"HEARTBEAT_FILE: got .*, expected a file that can be written \(No such file"
    ):
        HeartbeatFile(str(tmp_path / "none" / "alive"))
    file = HeartbeatFile(str(tmp_path / "alive"))
    tmp_path.joinpath("alive.next").mkdir()
    with caplog.at_level(logging.WARNING):
        file.beat(is_ready=True)
    assert "this worker will look dead: [Errno 21]" in caplog.text


def test_a_worker_without_work_is_ready_and_one_without_redis_waits(spawn, tmp_path):
    file = tmp_path / "alive"
    with Redis(tmp_path) as server:
        settings = {"HEARTBEAT_FILE": file, "SESSION_SECONDS": 1}
        worker = spawn("crawl", "consumer", settings=settings, environment={"REDIS_URL": server.url})

        def says(word):
            until(lambda: file.exists() and file.read_text() == f"{word}\n", f"{word} in {file}")

        says("ready")
        written = file.stat().st_mtime_ns
        until(lambda: file.stat().st_mtime_ns > written, "the next beat")
        server.kill()
        says("waits")
        server.start()
        says("ready")
        assert worker.stop(PATIENCE_SECONDS) == 0
        assert not file.exists()
