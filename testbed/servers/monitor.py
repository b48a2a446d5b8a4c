"""Headroom's monitor, with one user who may do everything."""

from __future__ import annotations

import secrets
import sys
from typing import TYPE_CHECKING

from crawler.monitor.users import UserFile
from testbed.servers.process import Server, answers_http, free_port

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

PASSWORD_BYTES = 12  # as text 16 characters


class MonitorProcess(Server):
    """The monitor, on a port of its own.

    Attributes:
        url: Its address.
        user: The name of its user.
        password: The user's, made up anew each time.

    Args:
        folder: The log and the file of users go to a folder `monitor` in it.
        settings: Of the crawl; they may hold passwords, so they go by the environment.
    """

    def __init__(self, folder: Path, settings: Mapping[str, str]) -> None:
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}/"
        self.user, self.password = "demo", secrets.token_urlsafe(PASSWORD_BYTES)
        own = folder / "monitor"
        users = own / "users.json"
        UserFile(str(users)).put(self.user, "operator", self.password)
        environment = {**settings, "MONITOR_USERS": str(users.absolute()), "SCRAPY_SETTINGS_MODULE": "crawler.settings"}
        command = [sys.executable, "-m", "scrapy", "monitor", "--listen", f"127.0.0.1:{self.port}"]
        super().__init__("monitor", command, own, environment=environment)

    def _answers(self) -> bool:
        return answers_http(self.port, "/login")
