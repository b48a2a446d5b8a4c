"""Whoever follows one block of a document after the other, while a test does what happens in between."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from documents.walk import BLOCK, ROOT

from testbed.servers.redis import server_program

BLOCK_SECONDS = 120.0  # some ten times what a block takes on an idle machine
# What the documents ask of redis-cli, for machines where only the tests' own server is installed.
REDIS_CLI = """#!{python}
import sys, redis
option, url, *words = sys.argv[1:]
assert option == "-u"
client = redis.Redis.from_url(url)
client.response_callbacks.clear()
try:
    answer = client.execute_command(*words)
except redis.RedisError as error:
    sys.exit(str(error))
print(answer.decode() if isinstance(answer, bytes) else answer)
"""


class Reader:
    """Runs blocks in a checkout, with Redis's programs and the commands of this code.

    Args:
        page: The document.
        folder: For the programs, and for what a block prints.
        variables: Of the environment: those that the document names, and those that lead to servers.
    """

    def __init__(self, page, folder, variables):
        self._page = page
        self._printed = folder / "printed"
        programs = folder / "bin"
        programs.mkdir()
        (programs / "redis-server").symlink_to(server_program())
        if not shutil.which("redis-cli"):
            (programs / "redis-cli").write_text(REDIS_CLI.format(python=sys.executable))
            (programs / "redis-cli").chmod(0o755)
        path = {"PATH": f"{programs}:{Path(sys.executable).parent}:{os.environ['PATH']}"}
        self._environment = os.environ | path | {name: str(one) for name, one in variables.items()}

    def follow(self, heading, number=1, *, status=0, **variables):
        """Runs a block of a section, in a shell that ends at the first failure; returns what it printed."""
        _, _, section = self._page.read_text("utf-8").partition(f"\n## {heading}\n")
        scripts = [text for language, text in BLOCK.findall(section.partition("\n## ")[0]) if language == "sh"]
        script = scripts[number - 1]
        with self._printed.open("wb") as output:  # no pipe: a daemon that the block starts would keep it open
            done = subprocess.run(
                ["sh", "-e", "-c", script],
                cwd=ROOT,
                env=self._environment | {name: str(one) for name, one in variables.items()},
                stdout=output,
                stderr=output,
                timeout=BLOCK_SECONDS,
                check=False,
            )
        printed = self._printed.read_text()
        assert done.returncode == status, printed
        return printed
