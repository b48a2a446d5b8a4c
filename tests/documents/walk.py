"""Follows a document literally: its fenced blocks, in their order, in one shell.

- `sh` is run.
- A block whose first line is a comment with a path (`# sites/town_forum.yaml`) is written to that file.
- Each line of a `text` block must have been printed before, by what stands above it or elsewhere on the page.
- Other blocks are for reading; tests of their own run them where they can be run.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from testbed.servers.process import free_port

ROOT = Path(__file__).parents[2]
README = ROOT / "README.md"
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
FILE = re.compile(r"# ([\w/]+\.(?:yaml|py))\n")
INSTALL, REDIS, PORT = "make install && . .venv/bin/activate\n", "redis://127.0.0.1:6379/0", "8800"  # in README's text
FORUM = "python -m testbed.forum"
FORUM_ANSWERS = f"""
for _ in $(seq 600); do
    python -ISc 'import socket; socket.create_connection(("127.0.0.1", {PORT}))' 2>/dev/null && break
    sleep 0.1
done
"""  # a reader types slower than the forum starts; a script doesn't
SECONDS = 240.0  # some ten times what it takes on an idle machine


def blocks(path: Path) -> list[tuple[str, str]]:
    """Returns language and text of each fenced block of a document."""
    return BLOCK.findall(path.read_text("utf-8"))


def quick_start() -> str:
    """Returns README's step by step path, without the installation."""
    (found,) = (text for language, text in blocks(README) if language == "sh" and "scrapy crawl producer" in text)
    assert found.startswith(INSTALL)
    return found.removeprefix(INSTALL)


def first_steps() -> str:
    """Returns the lines of README's path up to the forum, with which other pages begin, and waits for the forum."""
    before, forum, after = quick_start().partition(FORUM)
    return f"{before}{forum}{after.partition(chr(10))[0]}\n{FORUM_ANSWERS}"


def script_of(path: Path) -> str:
    """Returns what a reader of a document types."""
    parts = []
    for language, text in blocks(path):
        if language == "sh":
            parts.append(text)
        elif file := FILE.match(text):
            parts.append(f"mkdir -p $(dirname {file[1]})\ncat > {file[1]} <<'END OF FILE'\n{text}END OF FILE\n")
    return "".join(parts)


@dataclass(frozen=True)
class Walk:
    """A folder with what a reader has after the installation, and how a document is followed there.

    Attributes:
        folder: Where it is followed.
        redis_url: Stands in for README's.
        port: Of the forum; stands in for README's.
    """

    folder: Path
    redis_url: str
    port: str

    @classmethod
    def begin(cls, folder: Path, redis_url: str) -> Walk:
        """Makes the folder ready: example plans, and built-in sites that lie where this walk's forum will be."""
        port = str(free_port())
        (folder / "built_in").mkdir()
        for site in ("demo_forum", "demo_forum_ajax"):
            text = (ROOT / f"crawler/sites/{site}.yaml").read_text("utf-8")
            assert f":{PORT}" in text
            (folder / f"built_in/{site}.yaml").write_text(text.replace(f":{PORT}", f":{port}"), "utf-8")
        shutil.copytree(ROOT / "plans", folder / "plans")
        shutil.copy(ROOT / "scrapy.cfg", folder)
        return cls(folder, redis_url, port)

    def here(self, text: str) -> str:
        """Returns a text with this walk's addresses in place of the document's."""
        return text.replace(REDIS, self.redis_url).replace(PORT, self.port)

    def follow(self, script: str, **environment: str) -> str:
        """Runs a script in a shell that ends at the first failure; returns what it printed.

        The forum stays up to the end, as it does for a reader; then all that the shell started is killed.
        """
        output, errors = self.folder / "output", self.folder / "errors"
        given = {
            "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
            "HOME": str(self.folder),
            "PYTHONPATH": os.pathsep.join((str(ROOT), os.environ["PYTHONPATH"])),  # the second has the commands' names
            "SITES_DIR": str(self.folder / "built_in"),
            "NODE_CPU_LIMIT_PERCENT": "100",  # the machine is busy with other tests
            "NODE_MEMORY_LIMIT_PERCENT": "100",
            "RETRY_BASE_SECONDS": "0.1",  # the forum has pages that fail at first
        }
        with output.open("wb") as said, errors.open("wb") as failed:
            shell = subprocess.Popen(
                ["sh", "-e", "-c", self.here(script)],
                cwd=self.folder,
                env=given | environment,
                stdout=said,
                stderr=failed,
                start_new_session=True,
            )
        try:
            status = shell.wait(SECONDS)
        finally:
            os.killpg(shell.pid, signal.SIGKILL)
        printed = output.read_text("utf-8")
        assert status == 0, printed + errors.read_text("utf-8")
        return printed

    def check_text(self, path: Path, printed: str) -> None:
        """Holds what a document shows as output against what was printed, whatever the spaces between words."""
        lines = {" ".join(line.split()) for line in printed.splitlines()}
        for language, text in blocks(path):
            for line in self.here(text).splitlines() if language == "text" else ():
                assert " ".join(line.split()) in lines, f"{line}\n\nisn't in\n\n{printed}"
