"""Serves the monitor: where it listens, by TLS or behind a proxy that has it, until it is told to stop."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import signal
import socket
import ssl
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import uvicorn

from crawler.base import log_events, tasks
from crawler.base.errors import HeadroomError, shown
from crawler.base.seldom import Seldom
from crawler.monitor.app import build, end_with_it
from crawler.monitor.client_connections import ClientConnection, ClientConnections
from crawler.monitor.connection import Connection
from crawler.monitor.gatherer import Gatherer
from crawler.monitor.guard import is_this_machine
from crawler.monitor.item_store import item_store
from crawler.monitor.sign_ins import SignIns, SignInTries
from crawler.monitor.slow_actions import SlowActions
from crawler.monitor.web import Monitor

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from crawler.base.log_events import EventLogger
    from crawler.monitor.users import UserFile

GRACE_SECONDS = 5  # how long answers under way may take when the monitor is told to stop
BACKLOG = 128  # most connections that wait to be taken
ACCEPT_PAUSE_SECONDS = 0.1  # how long no connection is taken after one couldn't be
logger: EventLogger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Listening:
    """Where the monitor listens.

    Attributes:
        port: 0: one that is free.
        tls_files: Certificate and key, as PEM; None: it speaks no TLS itself.
        proxy: The address of the proxy that it stands behind, which says who asks; empty: none.
    """

    host: str
    port: int
    tls_files: tuple[str, str] | None
    proxy: str

    @classmethod
    def checked(cls, listen: str, *, tls_cert: str, tls_key: str, proxy: str) -> Listening:
        """Returns it as the command line has it.

        Raises:
            HeadroomError: It is no address; or passwords would cross a network in the clear.
        """
        host, _, port = listen.rpartition(":")
        host = host.removeprefix("[").removesuffix("]")
        if not (port.isascii() and port.isdigit() and int(port) <= 65_535) or not host:  # noqa: PLR2004 -- TCP's
            raise HeadroomError(f"--listen: got {shown(listen)}, expected HOST:PORT")
        if bool(tls_cert) != bool(tls_key):
            raise HeadroomError("--tls-cert and --tls-key go together")
        if not tls_cert and not proxy and not is_this_machine(host):
            raise HeadroomError(
                f"--listen {listen}: passwords would cross the network in the clear; give --tls-cert and --tls-key, "
                "or --behind-proxy where a proxy in front of it speaks TLS"
            )
        return cls(host, int(port), (tls_cert, tls_key) if tls_cert else None, proxy)


class MonitorServer:
    """A monitor that listens; `serve` answers.

    Raises:
        HeadroomError: It can't listen there, or the TLS files can't be used.
    """

    def __init__(self, settings: Mapping[str, Any], users: UserFile, listening: Listening) -> None:
        connection = Connection(settings)
        self._gatherer = Gatherer(connection)
        secure = bool(listening.tls_files or listening.proxy)
        monitor = Monitor(
            settings,
            connection,
            self._gatherer,
            users,
            SignIns(users),
            SignInTries(),
            secure,
            SlowActions(connection),
            item_store(settings, connection),
        )
        configuration = _configuration(build(monitor), listening)
        self._bound = _bound(listening)
        self._uvicorn = _Uvicorn(configuration, self._bound)
        host = f"[{listening.host}]" if ":" in listening.host else listening.host
        scheme = "https" if listening.tls_files else "http"
        self.address = f"{scheme}://{host}:{self._bound.getsockname()[1]}/"

    async def serve(self) -> None:
        """Answers until `stop`."""
        with self._bound:
            await self._uvicorn.serve([])  # it would accept whatever comes

    async def stop(self) -> None:
        """Ends the event streams, which would go on for ever, then the server."""
        await self._gatherer.close()
        self._uvicorn.should_exit = True


async def serve(
    settings: Mapping[str, Any], users: UserFile, listening: Listening, ready: Callable[[str], object]
) -> None:
    """Serves the monitor until SIGTERM or SIGINT."""
    server = MonitorServer(settings, users, listening)
    stopping: list[asyncio.Task[None]] = []  # asyncio itself keeps no task alive
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, lambda: stopping.append(asyncio.create_task(server.stop())))
    ready(server.address)
    await server.serve()


def _bound(listening: Listening) -> socket.socket:
    """Returns a socket that listens."""
    try:
        family = socket.AF_INET6 if ":" in listening.host else socket.AF_INET
        bound = socket.create_server((listening.host, listening.port), family=family, backlog=BACKLOG)
    except OSError as error:
        raise HeadroomError(f"can't listen at {listening.host} port {listening.port}: {error.strerror}") from error
    bound.settimeout(0)
    return bound


def _configuration(app: Any, listening: Listening) -> uvicorn.Config:
    """Returns uvicorn's configuration."""
    cert, key = listening.tls_files or (None, None)
    options = uvicorn.Config(
        app,
        log_config=None,  # the log is the crawl's own
        access_log=False,
        server_header=False,
        proxy_headers=bool(listening.proxy),
        forwarded_allow_ips=listening.proxy or None,
        timeout_graceful_shutdown=GRACE_SECONDS + 1,  # when all connections are closed
        ssl_certfile=cert,
        ssl_keyfile=key,
    )
    try:
        options.load()
    except (OSError, ssl.SSLError) as error:
        raise HeadroomError(f"TLS files {cert} and {key}: {error.strerror or error}") from error
    return options


class _Uvicorn(uvicorn.Server):
    """Uvicorn's server, which accepts by itself, and leaves the process's signals to `serve`."""

    def __init__(self, configuration: uvicorn.Config, bound: socket.socket) -> None:
        super().__init__(configuration)
        self._bound = bound
        self._held = ClientConnections()
        self._accepting: asyncio.Task[None] | None = None

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begins to accept."""
        await super().startup(sockets)
        self._accepting = tasks.start(self._accept(), name="listener", died=end_with_it)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Takes no more connections, and closes those that aren't done within GRACE_SECONDS."""
        if self._accepting:
            await tasks.cancel(self._accepting)
        asyncio.get_running_loop().call_later(GRACE_SECONDS, self._held.abort)
        await super().shutdown(sockets)

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Captures none."""
        yield

    async def _accept(self) -> None:
        """Takes connections, one in each turn of the loop, so that those which give way are closed meanwhile."""
        warn = Seldom(logger.warning)
        loop = asyncio.get_running_loop()
        while True:
            try:
                accepted, address = await loop.sock_accept(self._bound)
            except ConnectionAbortedError:
                continue
            except OSError as error:  # most likely no more files may be opened
                warn(log_events.MONITOR_CANNOT_ACCEPT, error.strerror)
                self._held.make_room()
                await asyncio.sleep(ACCEPT_PAUSE_SECONDS)
                continue
            connection = ClientConnection(self.config, self.server_state, self.lifespan.state, self._held)
            self._held.take(connection, accepted, address[0])
            await asyncio.sleep(0)
