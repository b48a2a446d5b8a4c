"""One request and its answer on a libcurl handle, which serves one after the other.

libcurl calls back with each line of a head and each piece of a body; what comes is counted here, before it is kept.
Nothing may be raised into libcurl: what is wrong with an answer is kept, and the transfer told to end.
"""

from __future__ import annotations

import socket
from typing import TYPE_CHECKING, Any

import pycurl

from crawler.download import heads
from crawler.download.limits import MOST_CHUNKS, MOST_INFORMATIONAL
from crawler.download.targets import Target
from crawler.errors import AnswerError

if TYPE_CHECKING:
    from collections.abc import Callable

    from crawler.download.heads import Head

_ENOUGH = 0  # bytes taken of a line or a piece: libcurl ends the transfer
_EMPTY_LINES = (b"\r\n", b"\n")
NOWHERE = Target("", 0, (), literal=True, proxy=None)


class TooLargeError(Exception):
    """More bytes than the request may bring: `expected`, for a head says so, or received."""

    def __init__(self, size: int, *, expected: bool) -> None:
        super().__init__(size)
        self.size = size
        self.expected = expected


class _Lent:
    """A socket for pycurl, which makes a copy of it."""

    def __init__(self, lent: socket.socket) -> None:
        self._lent = lent
        self.fileno = lent.fileno

    def __del__(self) -> None:
        self._lent.close()


class Exchange:
    """A handle, what it asks, and what has come.

    Attributes:
        curl: The handle; its options beside the callbacks are its owner's business.
        place: To whose addresses sockets may be opened. If its host isn't itself one, libcurl was told them.
        most_bytes: Of the body as it comes; 0: no limit.
        sent_headers: What the handle was told to send; None: nothing yet.
        on_head: Called with each answer's head; what it raises ends the transfer.
        on_data: Likewise with each piece of the body.
        head: None until it is there.
        pieces: The body so far.
        size: Its bytes.
        error: What ended the transfer from our side.
        refused: A socket to an address that isn't among them was asked for.
        address: Of the server, or the proxy; empty before anything was sent.
        starts: How many times the request was about to be sent; at the second libcurl is stopped.
    """

    __slots__ = (
        "_informational",
        "_lines",
        "address",
        "curl",
        "error",
        "head",
        "most_bytes",
        "on_data",
        "on_head",
        "pieces",
        "place",
        "refused",
        "sent_headers",
        "size",
        "starts",
    )

    def __init__(self, curl: pycurl.Curl) -> None:
        self.curl = curl
        self.sent_headers: dict[bytes, list[bytes]] | None = None
        self.begin(NOWHERE, most_bytes=0)
        curl.setopt(pycurl.HEADERFUNCTION, self._line)
        curl.setopt(pycurl.WRITEFUNCTION, self._piece)
        curl.setopt(pycurl.OPENSOCKETFUNCTION, self._open)
        curl.setopt(pycurl.PREREQFUNCTION, self._starts)
        curl.setopt(pycurl.RESOLVER_START_FUNCTION, self._resolves)

    def begin(
        self,
        place: Target,
        *,
        most_bytes: int,
        on_head: Callable[[Head], None] | None = None,
        on_data: Callable[[bytes], None] | None = None,
    ) -> None:
        """Forgets the answer before."""
        self.place = place
        self.most_bytes = most_bytes
        self.on_head = on_head
        self.on_data = on_data
        self.head: Head | None = None
        self.pieces: list[bytes] = []
        self.size = 0
        self.error: Exception | None = None
        self.refused = False
        self.address = ""
        self.starts = 0
        self._lines: list[bytes] = []
        self._informational = 0

    def end(self) -> None:
        """Lets go of what it holds for others: the handle may wait for long."""
        self.pieces = []
        self.head = self.error = self.on_head = self.on_data = None

    # -- libcurl calls back -------------------------------------------------------------------------------------------

    def _line(self, line: bytes) -> int | None:
        """Takes a line of a head, the last of which is empty. libcurl bounds how much there is of it."""
        if self.head is not None:  # a trailer
            return None
        if line not in _EMPTY_LINES:
            self._lines.append(line)
            return None
        try:
            self.head = heads.parse(self._lines)
            self._lines = []
            if self.head is not None:
                self._check(self.head)
                return None
            self._check_informational()
        except Exception as error:  # noqa: BLE001 -- kept, see above
            self.error = error
            return _ENOUGH
        return None

    def _check(self, head: Head) -> None:
        if self.most_bytes and head.length is not None and head.length > self.most_bytes:
            raise TooLargeError(head.length, expected=True)
        if self.on_head is not None:
            self.on_head(head)

    def _check_informational(self) -> None:
        self._informational += 1
        if self._informational > MOST_INFORMATIONAL:
            raise AnswerError("bad-headers", f"more than {MOST_INFORMATIONAL} informational answers")

    def _piece(self, data: bytes) -> int | None:
        self.pieces.append(data)
        self.size += len(data)
        try:
            if self.on_data is not None:
                self.on_data(data)
        except Exception as error:  # noqa: BLE001 -- kept, see above
            self.error = error
            return _ENOUGH
        if self.most_bytes and self.size > self.most_bytes:
            self.error = TooLargeError(self.size, expected=False)
        elif len(self.pieces) > MOST_CHUNKS:  # libcurl hands on each chunk by itself
            self.error = AnswerError("bad-response", f"more than {MOST_CHUNKS} chunks")
        else:
            return None
        return _ENOUGH

    def _open(self, _purpose: int, wanted: Any) -> Any:
        """Opens a socket, to an address that was looked up and found good for this request, and to no other."""
        if wanted.family not in (socket.AF_INET, socket.AF_INET6) or wanted.addr[0] not in self.place.addresses:
            self.refused = True
            return pycurl.SOCKET_BAD
        try:
            return _Lent(socket.socket(wanted.family, wanted.socktype, wanted.protocol))
        except OSError as error:  # no files left
            self.error = error
            return pycurl.SOCKET_BAD

    def _resolves(self) -> int:
        """Lets libcurl resolve addresses, but no name: that would be a question of its own."""
        return 0 if self.place.literal else 1

    def _starts(self, address: str, _local: str, _port: int, _local_port: int) -> int:
        """A request that a kept connection lost is sent again by libcurl; whether it may, and when, is not its call."""
        self.starts += 1
        self.address = address
        return int(pycurl.PREREQFUNC_OK if self.starts == 1 else pycurl.PREREQFUNC_ABORT)
