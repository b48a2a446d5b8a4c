"""A server that speaks MongoDB's protocol, from a wheel: SecantusDB.

It is under the GPL: a tool that is started as a process, never imported and never a dependency of this package.
"""

from __future__ import annotations

import os
import shutil
import signal
import sys
from pathlib import Path
from typing import Any, ClassVar

from pymongo import MongoClient
from pymongo.errors import PyMongoError

from crawler.errors import UnavailableError
from testbed.servers.process import PROBE_SECONDS, Server, free_port


class Mongo(Server):
    """One node. What it acknowledged survives its being killed.

    Args:
        folder: Its data and log go to a folder `mongo` in it.

    Raises:
        UnavailableError: SecantusDB isn't installed.
    """

    STOP_SIGNAL: ClassVar[signal.Signals] = signal.SIGKILL  # a polite end takes it 2 s more, to the same effect

    def __init__(self, folder: Path) -> None:
        self.port = free_port()
        self.url = f"mongodb://127.0.0.1:{self.port}"
        beside_python = str(Path(sys.executable).parent)
        program = shutil.which("secantusd-py", path=os.pathsep.join((beside_python, os.environ.get("PATH", ""))))
        if program is None:
            raise UnavailableError("Mongo: secantusd-py of the package SecantusDB isn't installed")
        data = folder / "mongo"
        arguments = ["--host", "127.0.0.1", "--port", str(self.port)]
        arguments += ["--storage-path", str(data / "data"), "--cache-size", "128M", "--log-level", "WARNING"]
        arguments.append("--sync-on-commit")  # without it a kill loses acknowledged writes; costs 20 ms a batch of 100
        super().__init__("mongo", [program, *arguments], data)

    def _answers(self) -> bool:
        try:
            client: MongoClient[dict[str, Any]]
            with MongoClient(self.url, serverSelectionTimeoutMS=int(1000 * PROBE_SECONDS)) as client:
                client.admin.command("ping")
        except PyMongoError:
            return False
        return True
