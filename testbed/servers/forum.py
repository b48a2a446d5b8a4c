"""The demo's forum, as a process."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from testbed.servers.process import Server, answers_http, free_port

if TYPE_CHECKING:
    from pathlib import Path


class ForumServer(Server):
    """The small forum of `testbed.forum`, on a port of its own.

    Attributes:
        url: The forum's origin.
        access_log: The file that gets one JSON line per request; `testbed.forum.server.AccessLog` explains it.

    Args:
        folder: The logs go to a folder `forum` in it.
        options: Further words of the forum's command line, such as `--delay-ms 0`.
    """

    def __init__(self, folder: Path, *options: str) -> None:
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        own = folder / "forum"
        self.access_log = own / "access.jsonl"
        command = [sys.executable, "-m", "testbed.forum", "--port", str(self.port)]
        super().__init__("forum", [*command, "--access-log", str(self.access_log), *options], own)

    def _answers(self) -> bool:
        return answers_http(self.port, "/robots.txt")
