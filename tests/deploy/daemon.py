"""scrapyd in an environment of its own, as a node has it: all that is installed here but Headroom."""

from __future__ import annotations

import json
import os
import sysconfig
import urllib.error
import urllib.request
import venv
from contextlib import closing
from pathlib import Path

from testbed.servers.process import ROOT, Server, free_port

PACKAGES = Path(sysconfig.get_path("purelib"))
USER, PASSWORD = "headroom", "not a secret, 100 %"
ANSWER_SECONDS = 10.0  # it lists an egg's spiders in between
PROGRAMS = {"scrapyd": "scrapyd.__main__", "scrapyd-deploy": "scrapyd_client.deploy", "scrapy": "scrapy.cmdline"}


def environment(folder, *, with_headroom):
    """Makes a virtual environment with the packages installed here, and without Headroom unless asked for."""
    packages, programs = folder / "packages", folder / "venv" / "bin"
    packages.mkdir(parents=True)
    for entry in PACKAGES.iterdir():
        if not entry.name.startswith(("headroom", "__editable__")) and entry.suffix != ".pth":
            (packages / entry.name).symlink_to(entry)
    if with_headroom:
        for entry in (ROOT / "crawler", ROOT / "headroom_commands.py", *PACKAGES.glob("headroom-*.dist-info")):
            (packages / entry.name).symlink_to(entry)
    venv.create(folder / "venv", with_pip=False, symlinks=True)
    (site_packages,) = (folder / "venv").glob("lib/python*/site-packages")
    (site_packages / "installed.pth").write_text(f"{packages}\n")
    for name, module in PROGRAMS.items():
        function = "execute" if name == "scrapy" else "main"
        script = programs / name
        script.write_text(f"#!{programs}/python\nfrom {module} import {function}\n{function}()\n")
        script.chmod(0o755)
    return programs


class Scrapyd(Server):
    """scrapyd by the file in deploy/, but for its port and folders.

    Args:
        programs: The folder of programs of its environment.
        settings: The worker's, as the daemon's environment.
    """

    def __init__(self, folder, programs, settings):
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.home = folder / "daemon"  # where it runs: nothing of a crawl may land here
        self.home.mkdir(parents=True)
        text = (ROOT / "deploy/scrapyd/scrapyd.conf").read_text("utf-8")
        password = PASSWORD.replace("%", "%%")
        changes = {
            "http_port = 6800": f"http_port = {self.port}\npassword = {password}\npoll_interval = 0.1",
            "/var/lib/scrapyd": str(folder / "state"),
            "/var/log/scrapyd": str(folder / "logs"),
        }
        for shown, here in changes.items():
            assert shown in text
            text = text.replace(shown, here)
        (self.home / "scrapyd.conf").write_text(text, "utf-8")
        (folder / "state/dbs").mkdir(parents=True)
        self.logs = folder / "logs"
        super().__init__("scrapyd", [str(programs / "scrapyd"), "--pidfile="], folder, directory=self.home)
        self._environment = {  # of this process's own it has nothing: PYTHONPATH would name this checkout
            "PATH": f"{programs}:{os.environ['PATH']}",
            "HOME": str(self.home),
            "NODE_CPU_LIMIT_PERCENT": "100",
            "NODE_MEMORY_LIMIT_PERCENT": "100",
            **settings,
        }

    def _answers(self):
        try:
            self.ask("daemonstatus.json")
        except OSError:
            return False
        return True

    def ask(self, what, password=PASSWORD):
        """Returns what the daemon answers to a GET."""
        passwords = urllib.request.HTTPPasswordMgrWithDefaultRealm()
        passwords.add_password(None, self.url, USER, password)
        opener = urllib.request.build_opener(urllib.request.HTTPBasicAuthHandler(passwords))
        with closing(opener.open(f"{self.url}/{what}", timeout=ANSWER_SECONDS)) as answer:
            return json.load(answer)

    def state_of(self, job):
        """Returns `pending`, `running`, `finished`, or None."""
        return self.ask(f"status.json?job={job}")["currstate"]
