"""A server with MongoDB's protocol that comes as a wheel: SecantusDB.

Its licence is the GPL, so it is only ever started as a process: never imported, and no dependency of the package.
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

from crawler.base.errors import UnavailableError
from testbed.servers.process import PROBE_SECONDS, Server, free_port


class Mongo(Server):
    """One server. What it has acknowledged survives a kill.

    Args:
        folder: Data and log go to a folder `mongo` in it.

    Raises:
        UnavailableError: SecantusDB isn't installed.
    """

    STOP_SIGNAL: ClassVar[signal.Signals] = signal.SIGKILL  # SIGTERM has the same effect, but takes it 2 s more

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
        arguments.append("--sync-on-commit")  # else a kill loses acknowledged writes; 20 ms for a batch of 100
        super().__init__("mongo", [program, *arguments], data)

    def _answers(self) -> bool:
        try:
            client: MongoClient[dict[str, Any]]
            with MongoClient(self.url, serverSelectionTimeoutMS=int(1000 * PROBE_SECONDS)) as client:
                client.admin.command("ping")
        except PyMongoError:
            return False
        return True
