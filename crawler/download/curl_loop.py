"""Runs libcurl's transfers on the asyncio loop.

libcurl's sockets are watched by an epoll object, and the event loop watches only that one: however many answers came,
the loop is called back once, and to watch a socket costs one system call. Measured, that takes a third of the CPU of
pycurl's own `AsyncCurlMulti`, which has the event loop watch every socket.
"""

from __future__ import annotations

import asyncio
import select
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import pycurl

from crawler.download.watchdog import Watchdog

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

T = TypeVar("T")
MAX_IDLE = 256  # most idle connections that are kept, over all hosts: a process may have 1,024 files, as a rule
_IN, _OUT, _BROKEN = select.EPOLLIN, select.EPOLLOUT, select.EPOLLERR | select.EPOLLHUP
_EVENTS = _IN | _OUT | _BROKEN
# libcurl's word for each combination of epoll's events. A broken socket is read, by which libcurl learns the error.
_SELECTED = [
    (pycurl.CSELECT_IN if events & (_IN | _BROKEN) else 0) | (pycurl.CSELECT_OUT if events & _OUT else 0)
    for events in range(_EVENTS + 1)
]


class TransferEnd(NamedTuple):
    """How a transfer ended.

    Attributes:
        code: libcurl's error number; 0: it went well.
        message: libcurl's words for the error; empty: it went well.
    """

    code: int
    message: str


SUCCESS = TransferEnd(0, "")
MULTI_FAILED = TransferEnd(-1, "libcurl's multi handle failed")


class CurlLoop:
    """Runs the transfers of the event loop that it is made in.

    Whoever starts a transfer awaits its end or stops it; only then may its handle be changed or closed.
    """

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._running: dict[pycurl.Curl, asyncio.Future[TransferEnd]] = {}
        self._connected: set[pycurl.Curl] = set()
        self._call_now: asyncio.Handle | None = None
        self._call_later: asyncio.TimerHandle | None = None
        self._epoll = select.epoll()
        self._watched: set[int] = set()
        self._multi = pycurl.CurlMulti()
        self._multi.setopt(pycurl.M_MAXCONNECTS, MAX_IDLE)
        self._multi.setopt(pycurl.M_SOCKETFUNCTION, self._watch_socket)
        self._multi.setopt(pycurl.M_TIMERFUNCTION, self._set_timer)
        self._loop.add_reader(self._epoll.fileno(), self._sockets_ready)
        self._watchdog = Watchdog(lambda: self._watched)

    def start(self, curl: pycurl.Curl, *, connect_only: bool = False) -> asyncio.Future[TransferEnd]:
        """Starts a transfer; nothing is sent before the event loop goes on.

        Args:
            connect_only: The handle has CONNECT_ONLY set. It ends with an open connection, which `stop` closes.
        """
        if not self._running:
            self._watchdog.watch()
        if connect_only:
            self._connected.add(curl)
        ended = self._running[curl] = self._loop.create_future()
        self._multi.add_handle(curl)
        return ended

    def stop(self, curl: pycurl.Curl) -> None:
        """Ends a transfer that nobody awaits any more, and its connection, unless others are on it (HTTP/2).

        Nothing happens if the transfer has ended, but for the connection of one that is `connect_only`.
        """
        if self._running.pop(curl, None) is not None or curl in self._connected:
            self._connected.discard(curl)
            self._multi.remove_handle(curl)
            self._rest_if_idle()

    def close(self) -> None:
        """Ends all transfers and connections; whoever awaits a transfer is cancelled."""
        waiting = list(self._running.values())
        for curl in {*self._running, *self._connected}:
            self.stop(curl)
        for ended in waiting:
            ended.cancel()
        self._loop.remove_reader(self._epoll.fileno())
        for timer in (self._call_now, self._call_later):
            if timer is not None:
                timer.cancel()
        self._watchdog.close()
        self._multi.close()
        self._epoll.close()

    def guarded(self, sock: int, call: Callable[[], T]) -> T:
        """Returns what a call of libcurl about one socket returns; the watchdog cuts it off when it takes too long."""
        self._watchdog.socket = sock
        self._watchdog.calls += 1
        try:
            return call()
        finally:
            self._watchdog.calls += 1

    async def when_ready(self, curl: pycurl.Curl, call: Callable[[], T], *, writes: bool) -> T:
        """Returns what a call about an open connection returns, once the connection is ready for it.

        Raises:
            pycurl.error: The connection is lost, or was stopped meanwhile.
        """
        sock = curl.getinfo(pycurl.ACTIVESOCKET)
        add, remove = self._loop.add_reader, self._loop.remove_reader
        if writes:
            add, remove = self._loop.add_writer, self._loop.remove_writer
        while curl in self._connected:  # else the descriptor may be another's by now
            try:
                return self.guarded(sock, call)
            except BlockingIOError:
                ready = asyncio.Event()
            add(sock, ready.set)
            try:
                await ready.wait()
            finally:
                remove(sock)
        raise pycurl.error(pycurl.E_RECV_ERROR, "stopped")

    @contextmanager
    def out_of_call(self) -> Iterator[None]:
        """Within a callback of libcurl: the time that others' code takes now isn't libcurl's, which begins anew after.

        A peer can't make use of that: for each callback it has to send something, and all that it sends is bounded.
        """
        self._watchdog.calls += 1
        try:
            yield
        finally:
            self._watchdog.calls += 1

    # -- Callbacks of libcurl -----------------------------------------------------------------------------------------

    def _watch_socket(self, what: int, sock: int, _multi: pycurl.CurlMulti, _data: object) -> None:
        """Watches a socket for what libcurl waits for on it."""
        if what == pycurl.POLL_REMOVE:
            if sock in self._watched:
                self._watched.remove(sock)
                with suppress(OSError):  # it was closed before
                    self._epoll.unregister(sock)
            return
        events = (_IN if what & pycurl.POLL_IN else 0) | (_OUT if what & pycurl.POLL_OUT else 0)
        if sock in self._watched:
            self._epoll.modify(sock, events)
        else:
            self._epoll.register(sock, events)
            self._watched.add(sock)

    def _set_timer(self, milliseconds: int) -> None:
        """Sets when libcurl is called without an event; -1: never.

        libcurl sets it twice a page, and its manual says that a timer that comes too early does no harm. So one timer
        is kept, and only ever set earlier.
        """
        if milliseconds > 0:
            at_s = self._loop.time() + milliseconds / 1000
            if self._call_later is None or at_s < self._call_later.when():
                if self._call_later is not None:
                    self._call_later.cancel()
                self._call_later = self._loop.call_at(at_s, self._timer_late)
        elif milliseconds == 0 and self._call_now is None:
            self._call_now = self._loop.call_soon(self._timer_now)

    # -- Callbacks of the event loop ----------------------------------------------------------------------------------

    def _timer_late(self) -> None:
        self._call_later = None
        self._act([(pycurl.SOCKET_TIMEOUT, 0)])

    def _timer_now(self) -> None:
        self._call_now = None
        self._act([(pycurl.SOCKET_TIMEOUT, 0)])

    def _sockets_ready(self) -> None:
        self._act(self._epoll.poll(0))

    def _act(self, ready: list[tuple[int, int]]) -> None:
        """Lets libcurl work on sockets with events, then ends the transfers that are over."""
        act, watchdog = self._multi.socket_action, self._watchdog
        try:
            for sock, events in ready:
                watchdog.socket = sock if events else None  # the timer has no socket
                watchdog.calls += 1
                act(sock, _SELECTED[events & _EVENTS])
                watchdog.calls += 1
        except pycurl.error:
            watchdog.calls += 1
            for curl in list(self._running):  # libcurl won't report their ends any more
                self._end(curl, MULTI_FAILED)
        _queued, well, ill = self._multi.info_read()
        for curl in well:
            self._end(curl, SUCCESS)
        for curl, code, message in ill:
            self._end(curl, TransferEnd(code, message))
        self._rest_if_idle()

    def _end(self, curl: pycurl.Curl, how: TransferEnd) -> None:
        ended = self._running.pop(curl)
        if curl not in self._connected:
            self._multi.remove_handle(curl)
        if not ended.done():  # else its waiter was cancelled in this very round of the loop, and will call `stop`
            ended.set_result(how)

    def _rest_if_idle(self) -> None:
        if not self._running:
            self._watchdog.rest()
