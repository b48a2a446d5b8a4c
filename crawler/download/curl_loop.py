"""libcurl's transfers on the asyncio loop.

libcurl's sockets are watched by an epoll object of their own, and the loop watches that: however many answers came, the
loop is called back once, and to watch a socket costs a system call and no more. Measured, that is a third of the CPU
of pycurl's own `AsyncCurlMulti`, which gives the loop each socket by itself.
"""

from __future__ import annotations

import asyncio
import select
from contextlib import suppress
from typing import NamedTuple

import pycurl

from crawler.download.watchdog import Watchdog

MOST_IDLE = 256  # connections kept for later, over all hosts: a process may have 1,024 files, as a rule
_IN, _OUT, _BROKEN = select.EPOLLIN, select.EPOLLOUT, select.EPOLLERR | select.EPOLLHUP
_EVENTS = _IN | _OUT | _BROKEN
# What libcurl calls each of epoll's events; what is broken is read, and so found out.
_SELECTED = [
    (pycurl.CSELECT_IN if events & (_IN | _BROKEN) else 0) | (pycurl.CSELECT_OUT if events & _OUT else 0)
    for events in range(_EVENTS + 1)
]


class Ended(NamedTuple):
    """How a transfer ended: libcurl's number, 0 for well, and its words."""

    code: int
    words: str


WELL = Ended(0, "")
BROKEN = Ended(-1, "libcurl's multi handle is broken")


class CurlLoop:
    """All transfers of one loop. Whoever starts one stops it, or waits for its end; then its handle is free again."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._running: dict[pycurl.Curl, asyncio.Future[Ended]] = {}
        self._soon: asyncio.Handle | None = None
        self._later: asyncio.TimerHandle | None = None
        self._epoll = select.epoll()
        self._watched: set[int] = set()
        self._multi = pycurl.CurlMulti()
        self._multi.setopt(pycurl.M_MAXCONNECTS, MOST_IDLE)
        self._multi.setopt(pycurl.M_SOCKETFUNCTION, self._watch)
        self._multi.setopt(pycurl.M_TIMERFUNCTION, self._wake_in)
        self._loop.add_reader(self._epoll.fileno(), self._act)
        self._watchdog = Watchdog(lambda: self._watched)

    def start(self, curl: pycurl.Curl) -> asyncio.Future[Ended]:
        """Starts a transfer; nothing is sent before the loop goes on."""
        if not self._running:
            self._watchdog.watch()
        ended = self._running[curl] = self._loop.create_future()
        self._multi.add_handle(curl)
        return ended

    def stop(self, curl: pycurl.Curl) -> None:
        """Ends a transfer that nobody waits for any more, and its connection, unless others are on it (HTTP/2)."""
        if self._running.pop(curl, None) is not None:
            self._multi.remove_handle(curl)
            self._rest()

    def close(self) -> None:
        """Ends all transfers and connections; who waits for one is cancelled."""
        for curl, ended in list(self._running.items()):
            self.stop(curl)
            ended.cancel()
        self._loop.remove_reader(self._epoll.fileno())
        for timer in (self._soon, self._later):
            if timer is not None:
                timer.cancel()
        self._watchdog.close()
        self._multi.close()
        self._epoll.close()

    def _watch(self, what: int, socket: int, _multi: pycurl.CurlMulti, _data: object) -> None:
        """Hears from libcurl what it waits for on a socket."""
        if what == pycurl.POLL_REMOVE:
            if socket in self._watched:
                self._watched.remove(socket)
                with suppress(OSError):  # it was closed first
                    self._epoll.unregister(socket)
            return
        events = (_IN if what & pycurl.POLL_IN else 0) | (_OUT if what & pycurl.POLL_OUT else 0)
        if socket in self._watched:
            self._epoll.modify(socket, events)
        else:
            self._epoll.register(socket, events)
            self._watched.add(socket)

    def _wake_in(self, milliseconds: int) -> None:
        """Hears from libcurl when it wants to be called; -1: not before something happens.

        It says so twice a page. A timer that comes too early does no harm, says libcurl's manual; so one is enough.
        """
        if milliseconds > 0:
            at = self._loop.time() + milliseconds / 1000
            if self._later is None or at < self._later.when():
                if self._later is not None:
                    self._later.cancel()
                self._later = self._loop.call_at(at, self._late)
        elif milliseconds == 0 and self._soon is None:
            self._soon = self._loop.call_soon(self._now)

    def _late(self) -> None:
        self._later = None
        self._call([(pycurl.SOCKET_TIMEOUT, 0)])

    def _now(self) -> None:
        self._soon = None
        self._call([(pycurl.SOCKET_TIMEOUT, 0)])

    def _act(self) -> None:
        self._call(self._epoll.poll(0))

    def _call(self, happened: list[tuple[int, int]]) -> None:
        """Lets libcurl do what is to be done."""
        act, watchdog = self._multi.socket_action, self._watchdog
        try:
            for socket, events in happened:
                watchdog.socket = socket if events else None
                watchdog.call += 1
                act(socket, _SELECTED[events & _EVENTS])
                watchdog.call += 1
        except pycurl.error:
            watchdog.call += 1
            self._break()
        self._tell()

    def _tell(self) -> None:
        """Tells those who wait for transfers that have ended."""
        _left, well, ill = self._multi.info_read()
        for curl in well:
            self._end(curl, WELL)
        for curl, code, words in ill:
            self._end(curl, Ended(code, words))
        self._rest()

    def _rest(self) -> None:
        if not self._running:
            self._watchdog.rest()

    def _end(self, curl: pycurl.Curl, how: Ended) -> None:
        ended = self._running.pop(curl)
        self._multi.remove_handle(curl)
        if not ended.done():  # else cancelled a moment ago: `stop` finds nothing to do
            ended.set_result(how)

    def _break(self) -> None:
        """Gives up after libcurl lost its way: it won't say any more how transfers end."""
        for curl in list(self._running):
            self._end(curl, BROKEN)
