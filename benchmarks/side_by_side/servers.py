"""nginx, which runs on the servers' core."""

from __future__ import annotations

import getpass
import http.client
import os
import shutil
import subprocess
from types import MappingProxyType
from typing import TYPE_CHECKING, Self

from crawler.base.errors import UnavailableError
from testbed.servers.process import Server, answers_http, free_port

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

PACKAGE = "nginx-light"
INSTALL_SECONDS = 300.0
STATUS_SECONDS = 5.0  # for one look at the counter; it takes under 1 ms
# Debian's nginx is in a folder that only root has on PATH.
PATH = os.pathsep.join((os.environ.get("PATH", os.defpath), "/usr/sbin", "/usr/local/sbin"))
CONFIGURATION = """\
daemon off;
{user}
worker_processes 1;
pid {folder}/nginx.pid;
error_log {folder}/error.log warn;
events {{ worker_connections 1024; }}
http {{
    access_log off;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    types {{
        text/html html htm; text/css css; text/javascript js; application/json json;
        text/plain txt; image/png png; image/svg+xml svg;
    }}
    log_format requests '$msec $server_addr:$server_port $request_uri $status';
    sendfile on;
    tcp_nopush on;
    keepalive_requests 1000000000;
    keepalive_timeout 75s;
    server {{
        listen 127.0.0.1:{port} backlog=1024;
        root {root};
        charset utf-8;
        location = /status {{ stub_status; }}
        {rewrite}
    }}
    {hosts}
}}
"""
# The first 10,000 pages at every address that ends in the same four digits.
REPEAT = r"rewrite ^/thread/\d+/\d*(\d)(\d\d\d)\.html$ /thread/00$1/00$1$2.html break;"


class Nginx(Server):
    """One worker process that serves a folder; it keeps connections open, and logs what further hosts are asked alone.

    There is no robots.txt in the folder: 404, which allows all.

    Args:
        folder: Its configuration and temporary files go to a folder `nginx` in it.
        root: The pages.
        rewrite: nginx's own words for pages that are served at other addresses than their files have.
        hosts: Further addresses of loopback, each with the folder that it serves at the same port.

    Raises:
        UnavailableError: nginx isn't installed, and can't be.
    """

    def __init__(
        self, folder: Path, root: Path, *, rewrite: str = "", hosts: Mapping[str, Path] = MappingProxyType({})
    ) -> None:
        program = nginx_program()
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        own = folder / "nginx"
        self._configuration = own / "nginx.conf"
        user = f"user {getpass.getuser()};" if os.getuid() == 0 else ""  # a worker of another user couldn't read pages
        self.log_of_hosts = own / "requests.log"
        further = "\n    ".join(
            f"server {{ listen {address}:{self.port}; root {served}; access_log {self.log_of_hosts} requests; }}"
            for address, served in hosts.items()
        )
        self._text = CONFIGURATION.format(
            user=user, folder=own, port=self.port, root=root, rewrite=rewrite, hosts=further
        )
        super().__init__("nginx", [program, "-p", str(own), "-c", str(self._configuration)], own)

    def start(self) -> None:
        """Writes the configuration and starts it.

        Raises:
            UnavailableError: It doesn't answer; nothing is left running.
        """
        self.folder.mkdir(parents=True, exist_ok=True)
        self._configuration.write_text(self._text)
        super().start()

    def _answers(self) -> bool:
        return answers_http(self.port, "/status")


class Served:
    """How many requests nginx has had since this was made, but for the looks themselves."""

    def __init__(self, nginx: Nginx) -> None:
        self._connection = http.client.HTTPConnection("127.0.0.1", nginx.port, timeout=STATUS_SECONDS)
        self._looks = 0
        self._before = 0
        self._before = self.look()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._connection.close()

    def look(self) -> int:
        """Returns the number."""
        self._connection.request("GET", "/status")
        text = self._connection.getresponse().read().decode()
        self._looks += 1
        return int(text.splitlines()[2].split()[2]) - self._looks - self._before


def nginx_program() -> str:
    """Returns nginx, which is installed where that can be done.

    Raises:
        UnavailableError: It isn't there, and can't be installed.
    """
    if found := shutil.which("nginx", path=PATH):
        return found
    apt = shutil.which("apt-get")
    if os.getuid() != 0 or not apt:
        raise UnavailableError(f"nginx isn't installed: install the package {PACKAGE} (or nginx), then try again")
    print(f"Installing {PACKAGE}", flush=True)
    # RUNLEVEL=1: the system's own nginx is not to be started.
    environment = {**os.environ, "RUNLEVEL": "1", "DEBIAN_FRONTEND": "noninteractive"}
    for words in (["update"], ["install", "-y", "--no-install-recommends", PACKAGE]):
        done = subprocess.run(
            [apt, "-qq", *words], env=environment, capture_output=True, timeout=INSTALL_SECONDS, check=False
        )
        if done.returncode:
            raise UnavailableError(f"apt-get {words[0]} failed: {done.stderr.decode(errors='replace').strip()}")
    found = shutil.which("nginx", path=PATH)
    if not found:
        raise UnavailableError(f"{PACKAGE} is installed, but there is no nginx on {PATH}")
    return found
