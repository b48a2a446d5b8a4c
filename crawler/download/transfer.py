"""One request and its answer on a libcurl handle; a handle serves one transfer after the other.

libcurl calls back with each line of a head and each piece of a body; what comes is judged and counted here before it is
kept. Nothing may be raised into libcurl: an error is kept, and libcurl is told to end the transfer.
"""

from __future__ import annotations

import os
import socket
from typing import TYPE_CHECKING, Any

import pycurl

from crawler.base import reasons
from crawler.base.errors import AnswerError, SessionLostError
from crawler.download.limits import MAX_CHUNKS, MAX_INFORMATIONAL
from crawler.download.response import parse_head
from crawler.download.targets import Target

if TYPE_CHECKING:
    from collections.abc import Callable

    from crawler.download.response import Head

_STOP = 0  # tells libcurl that no byte of a line or a piece was taken, and so to end the transfer
_EMPTY_LINES = (b"\r\n", b"\n")
_NO_TARGET = Target("", 0, (), literal=True, proxy=None)


class TooLargeError(Exception):
    """The body has more bytes than the request allows.

    Args:
        size: The bytes.
        expected: Whether the head announced them; else so many were received.
    """

    def __init__(self, size: int, *, expected: bool) -> None:
        super().__init__(size)
        self.size = size
        self.expected = expected


class SocketForCurl:
    """A socket as pycurl takes it: pycurl duplicates the descriptor and drops the object, which closes the socket."""

    def __init__(self, sock: socket.socket) -> None:
        self._socket = sock
        self.fileno = sock.fileno

    def __del__(self) -> None:
        self._socket.close()


class Transfer:
    """A handle, what it asks for, and what has come.

    Attributes:
        curl: The handle. Its options, but for the callbacks set here, are set by the owner.
        target: Sockets may be opened to its addresses only. Unless its host is itself an address, the owner told
            libcurl the addresses (`RESOLVE`).
        to_head: The request is a HEAD: whatever the answer says of its body, none comes.
        to_upgrade: The request asks to go on in another protocol.
        max_bytes: Of the body as it comes over the wire; 0: no limit.
        sent_headers: What the handle was told to send; None: nothing yet.
        may_send: Asked right before the request goes out; None: it may. If it may not, the transfer is ended.
        on_head: Called with the final head; an exception ends the transfer.
        on_data: Called with each piece of the body; an exception ends the transfer.
        head: None until it has come.
        pieces: The body so far.
        size: Bytes of the body so far.
        error: Why the transfer was ended from here; None: it wasn't.
        no_socket: Why the system gave no socket; None: it gave all that libcurl wanted.
        refused: libcurl wanted a socket to an address that isn't among the target's.
        address: Of the server, or of the proxy; empty before a connection was there.
        sends: How many times libcurl was about to send the request; it is stopped before the second.
    """

    def __init__(self, curl: pycurl.Curl) -> None:
        self.curl = curl
        self.sent_headers: dict[bytes, list[bytes]] | None = None
        self.begin(_NO_TARGET, max_bytes=0)
        curl.setopt(pycurl.HEADERFUNCTION, self._take_line)
        curl.setopt(pycurl.WRITEFUNCTION, self._take_data)
        curl.setopt(pycurl.OPENSOCKETFUNCTION, self._open_socket)
        curl.setopt(pycurl.PREREQFUNCTION, self._allow_sending)
        curl.setopt(pycurl.RESOLVER_START_FUNCTION, self._allow_resolving)

    def begin(
        self,
        target: Target,
        *,
        max_bytes: int,
        to_head: bool = False,
        to_upgrade: bool = False,
        may_send: Callable[[], bool] | None = None,
        on_head: Callable[[Head], None] | None = None,
        on_data: Callable[[bytes], None] | None = None,
    ) -> None:
        """Makes ready for the next request, and forgets the answer to the last one."""
        self.target = target
        self.max_bytes = max_bytes
        self.to_head = to_head
        self.to_upgrade = to_upgrade
        self.may_send = may_send
        self.on_head = on_head
        self.on_data = on_data
        self.head: Head | None = None
        self.pieces: list[bytes] = []
        self.size = 0
        self.error: Exception | None = None
        self.no_socket: OSError | None = None
        self.refused = False
        self.address = ""
        self.sends = 0
        self._lines: list[bytes] = []
        self._informational = 0

    def release(self) -> None:
        """Lets go of the answer and the callbacks: the handle may be idle for long."""
        self.pieces = []
        self.head = self.error = self.may_send = self.on_head = self.on_data = None

    # -- Callbacks of libcurl -----------------------------------------------------------------------------------------

    def _take_line(self, line: bytes) -> int | None:
        """Takes a line of a head, the last of which is empty. libcurl bounds their size and number."""
        if self.head is not None:  # a trailer: nobody reads those
            return None
        if line not in _EMPTY_LINES:
            self._lines.append(line)
            return None
        try:
            self.head = parse_head(self._lines, to_head=self.to_head, to_upgrade=self.to_upgrade)
            self._lines = []
            if self.head is None:
                self._count_informational()
            else:
                self._take_head(self.head)
        except Exception as error:  # noqa: BLE001 -- kept, see above
            self.error = error
            return _STOP
        return None

    def _take_head(self, head: Head) -> None:
        if self.max_bytes and head.length is not None and head.length > self.max_bytes:
            raise TooLargeError(head.length, expected=True)
        if self.on_head is not None:
            self.on_head(head)

    def _count_informational(self) -> None:
        self._informational += 1
        if self._informational > MAX_INFORMATIONAL:
            raise AnswerError(reasons.BAD_HEADERS, f"more than {MAX_INFORMATIONAL} informational answers")

    def _take_data(self, data: bytes) -> int | None:
        self.pieces.append(data)
        self.size += len(data)
        try:
            if self.on_data is not None:
                self.on_data(data)
        except Exception as error:  # noqa: BLE001 -- kept, see above
            self.error = error
            return _STOP
        if self.max_bytes and self.size > self.max_bytes:
            self.error = TooLargeError(self.size, expected=False)
        elif len(self.pieces) > MAX_CHUNKS:  # libcurl hands on each chunk by itself
            self.error = AnswerError(reasons.BAD_RESPONSE, f"more than {MAX_CHUNKS} chunks")
        else:
            return None
        return _STOP

    def _open_socket(self, _purpose: int, wanted: Any) -> Any:
        """Opens a socket to an address of the target, and to no other."""
        if wanted.family not in (socket.AF_INET, socket.AF_INET6) or wanted.addr[0] not in self.target.addresses:
            self.refused = True
            return pycurl.SOCKET_BAD
        try:
            sock = SocketForCurl(socket.socket(wanted.family, wanted.socktype, wanted.protocol))
            os.close(os.dup(sock.fileno()))  # pycurl does so, too, and doesn't say why it couldn't
        except OSError as error:  # the process has no file descriptor left
            self.no_socket = error
            return pycurl.SOCKET_BAD
        return sock

    def _allow_resolving(self) -> int:
        """Lets libcurl parse an address. It may resolve no name: it would ask a name server of its own accord."""
        return 0 if self.target.literal else 1

    def _allow_sending(self, address: str, _local: str, _port: int, _local_port: int) -> int:
        """Lets libcurl send the request once, if it still may be sent.

        When a kept connection lost it, libcurl would send it again at once.
        """
        self.sends += 1
        self.address = address
        if self.sends == 1 and self.may_send is not None and not self.may_send():
            self.error = SessionLostError("its time was up before the request went out")
            return int(pycurl.PREREQFUNC_ABORT)
        return int(pycurl.PREREQFUNC_OK if self.sends == 1 else pycurl.PREREQFUNC_ABORT)
