"""nginx, which serves each manual as a host of its own, and logs each request."""

from __future__ import annotations

import getpass
import os
from typing import TYPE_CHECKING, NamedTuple

from benchmarks.side_by_side.servers import nginx_program
from testbed.servers.process import Server, answers_http, free_port

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from benchmarks.mirror.manuals import Manual

NETWORK = "127.0.3"  # the hosts are addresses of loopback, from 1 on
STATUS_OK = 200
CONFIGURATION = """\
daemon off;
{user}
worker_processes 1;
pid {folder}/nginx.pid;
error_log {folder}/error.log warn;
events {{ worker_connections 1024; }}
http {{
    log_format requests '$msec $server_addr:$server_port $request_uri $status';
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    types {{ text/html html htm; text/css css; text/javascript js; image/png png; image/svg+xml svg; text/plain txt; }}
    keepalive_requests 1000000000;
    server {{ listen 127.0.0.1:{port}; access_log off; location = /status {{ stub_status; }} }}
    {servers}
}}
"""


class Asked(NamedTuple):
    """A request, from nginx's log.

    Attributes:
        at_s: When it was answered, since the epoch.
    """

    at_s: float
    host: str
    path: str
    status: int


class MirrorServer(Server):
    """One nginx for all hosts; what it was asked, since it was made or since `forget`, is in its log.

    Attributes:
        hosts: By the manual's name.
    """

    def __init__(self, folder: Path, manuals: Sequence[Manual]) -> None:
        self._port, own = free_port(), folder / "nginx"
        self.hosts = {manual.name: f"{NETWORK}.{number}:{self._port}" for number, manual in enumerate(manuals, 1)}
        self._log_of_requests = log = own / "requests.log"
        servers = "\n    ".join(
            f"server {{ listen {self.hosts[manual.name]}; root {manual.root}; access_log {log} requests; }}"
            for manual in manuals
        )
        user = f"user {getpass.getuser()};" if os.getuid() == 0 else ""  # a worker of another user couldn't read pages
        self._configuration = CONFIGURATION.format(user=user, folder=own, port=self._port, servers=servers)
        super().__init__("nginx", [nginx_program(), "-p", str(own), "-c", str(own / "nginx.conf")], own)

    def start(self) -> None:
        """Writes the configuration and starts it.

        Raises:
            UnavailableError: It doesn't answer; nothing is left running.
        """
        self.folder.mkdir(parents=True, exist_ok=True)
        (self.folder / "nginx.conf").write_text(self._configuration)
        super().start()

    def asked(self) -> Iterator[Asked]:
        """Yields the requests, in order."""
        for line in self._log_of_requests.read_text().splitlines():
            at_s, host, path, status = line.split(" ")
            yield Asked(float(at_s), host, path, int(status))

    def forget(self) -> None:
        """Empties the log; nginx goes on at its beginning."""
        os.truncate(self._log_of_requests, 0)

    def _answers(self) -> bool:
        return answers_http(self._port, "/status")
