"""The monitor that a demo leaves up."""

from __future__ import annotations

from monitor.conftest import Browser
from needs import started

from testbed.servers.monitor import MonitorProcess


def test_its_user_signs_in(tmp_path, redis_url):
    with started(MonitorProcess, tmp_path, {"REDIS_URL": redis_url}) as monitor:
        one = Browser(monitor.url.rstrip("/"))
        assert one.sign_in(monitor.user, monitor.password).status == 303
        assert "Wrong now" in one.get("/").text
