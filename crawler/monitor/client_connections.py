"""The connections of clients: how long one may be useless, and how many there are, of all and of each client.

Whoever comes is taken, and the oldest connection gives way where there are too many: a client who holds all that he may
keeps nobody out, not even somebody behind the same tunnel or proxy. A user who has signed in never gives way to others.
"""

from __future__ import annotations

import ipaddress
import resource
from typing import TYPE_CHECKING, Any, NamedTuple

from uvicorn.protocols.http.h11_impl import H11Protocol

if TYPE_CHECKING:
    import asyncio
    import socket

    import uvicorn
    from uvicorn.server import ServerState

REQUEST_SECONDS = 10.0  # how long a request may take to come, from the connection's beginning or the last answer on
UNREAD_SECONDS = 20.0  # how often it is looked whether anything of an answer was taken since the last look
MAX_CONNECTIONS = 1_000  # and no more than half of the files that this process may open
SHARES = 4  # a client may have one of so many parts of all connections
IPV6_HOST_BITS = 64  # a host of IPv6 has all addresses of its network


class Holder(NamedTuple):
    """Whose a connection is: a user's who has signed in, wherever he is, or else an address's.

    Attributes:
        user: The name; empty: nobody has signed in.
        address: For IPv6 the network; empty for a user's.
    """

    user: str
    address: str


class ClientConnection(H11Protocol):
    """A connection of uvicorn's, which is closed where it is no use.

    That is where no request gets whole in time, however often a byte of it comes, and where nothing of an answer is
    taken for UNREAD_SECONDS, or twice as long. Uvicorn's own time limit, between two requests, ends with the first byte
    of the next one. The body of a request that is being answered has a time limit where it is read.

    Attributes:
        holder: Whose it is, by the last request.
    """

    def __init__(
        self, config: uvicorn.Config, server_state: ServerState, app_state: dict[str, Any], all_held: ClientConnections
    ) -> None:
        super().__init__(config, server_state, {**app_state, "connection": self})
        self.holder = Holder("", "")
        self._all_held = all_held
        self._connecting: asyncio.Task[Any] | None = None
        self._request_is_late: asyncio.TimerHandle | None = None
        self._look: asyncio.TimerHandle | None = None
        self._unsent_bytes = 0  # at the last look; 0, too, where something was taken since

    def connect(self, accepted: socket.socket, address: str) -> None:
        """Begins to speak, by TLS where the server has it."""
        self._address = address
        self.holder = Holder("", address)
        tls: dict[str, Any] = {"ssl": self.config.ssl, "ssl_handshake_timeout": REQUEST_SECONDS}
        connecting = self.loop.connect_accepted_socket(lambda: self, accepted, **(tls if self.config.ssl else {}))
        self._connecting = self.loop.create_task(connecting)
        self._connecting.add_done_callback(lambda task: self._connected(task, accepted))

    def asked_by(self, user: str) -> None:
        """Notes who has sent a request; empty: nobody who has signed in."""
        self.holder = Holder(user, "") if user else Holder("", self._address)
        self._all_held.limit(self.holder)

    def abort(self) -> None:
        """Closes it at once, whatever hasn't been sent."""
        if self.transport:
            self.transport.abort()
        elif self._connecting:
            self._connecting.cancel()

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override] # uvicorn's, too
        """Begins the times of the first request and of the first look."""
        super().connection_made(transport)
        self._expect_request()
        self._look = self.loop.call_later(UNREAD_SECONDS, self._abort_unless_taken)

    def on_response_complete(self) -> None:
        """Begins the time of the next request, with what is left of this one."""
        self._expect_request()
        super().on_response_complete()

    def resume_writing(self) -> None:
        """Notes that an answer is being taken."""
        self._unsent_bytes = 0
        super().resume_writing()

    def connection_lost(self, exc: Exception | None) -> None:
        """Ends the times."""
        for timer in (self._request_is_late, self._look):
            if timer:
                timer.cancel()
        self._all_held.drop(self)
        super().connection_lost(exc)

    def _connected(self, connecting: asyncio.Task[Any], accepted: socket.socket) -> None:
        if connecting.cancelled() or connecting.exception():
            accepted.close()
            self._all_held.drop(self)

    def _expect_request(self) -> None:
        if self._request_is_late:
            self._request_is_late.cancel()
        self._request_is_late = self.loop.call_later(REQUEST_SECONDS, self._close_unless_it_answers)

    def _close_unless_it_answers(self) -> None:
        if self.cycle is None or self.cycle.response_complete:
            self.transport.close()

    def _abort_unless_taken(self) -> None:
        unsent_bytes = self.transport.get_write_buffer_size()
        if 0 < self._unsent_bytes <= unsent_bytes:
            self.transport.abort()
            return
        self._unsent_bytes = unsent_bytes
        self._look = self.loop.call_later(UNREAD_SECONDS, self._abort_unless_taken)


class ClientConnections:
    """All connections, of which there are never too many."""

    def __init__(self) -> None:
        self._held: dict[ClientConnection, None] = {}  # the oldest first

    def take(self, connection: ClientConnection, accepted: socket.socket, address: str) -> None:
        """Takes a connection that was accepted."""
        if len(self._held) >= _most():
            self.make_room()
        self._held[connection] = None
        connection.connect(accepted, _network(address))
        self.limit(connection.holder)

    def limit(self, holder: Holder) -> None:
        """Closes the oldest connections of whoever has more than his share."""
        of_holder = [connection for connection in self._held if connection.holder == holder]
        for oldest in of_holder[: -max(1, _most() // SHARES)]:
            self._abort(oldest)

    def make_room(self) -> None:
        """Closes the oldest connection, a user's only where there are no others."""
        oldest = next((connection for connection in self._held if not connection.holder.user), None)
        if oldest := oldest or next(iter(self._held), None):
            self._abort(oldest)

    def drop(self, connection: ClientConnection) -> None:
        """Forgets a connection that is closed."""
        self._held.pop(connection, None)

    def abort(self) -> None:
        """Closes all."""
        for connection in list(self._held):
            self._abort(connection)

    def _abort(self, connection: ClientConnection) -> None:
        self.drop(connection)
        connection.abort()


def _most() -> int:
    soft, _hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    return MAX_CONNECTIONS if soft == resource.RLIM_INFINITY else max(1, min(MAX_CONNECTIONS, soft // 2))


def _network(address: str) -> str:
    """Returns an address of IPv4 as it is, and the network of one of IPv6."""
    if ":" not in address:
        return address
    return str(ipaddress.ip_network((address.partition("%")[0], IPV6_HOST_BITS), strict=False))
