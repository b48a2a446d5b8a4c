"""Scrapy's signals: nothing is built for one that nobody hears, and no task for receivers that don't wait."""

from __future__ import annotations

import asyncio
import logging
from inspect import CO_VARKEYWORDS, isawaitable
from types import FunctionType, MethodType
from typing import TYPE_CHECKING, Any

from pydispatch import dispatcher  # type: ignore[import-untyped]  # it has no types
from pydispatch.robustapply import robustApply  # type: ignore[import-untyped]  # likewise
from scrapy.exceptions import StopDownload
from scrapy.signalmanager import SignalManager
from scrapy.utils.defer import ensure_awaitable
from scrapy.utils.python import global_object_name
from twisted.internet.defer import Deferred
from twisted.python.failure import Failure

if TYPE_CHECKING:
    from collections.abc import Awaitable, Iterator

logger = logging.getLogger("scrapy.utils.signal")  # where Scrapy tells of receivers that raise
Answers = list[tuple[Any, Any]]


class LeanSignals(SignalManager):
    """Scrapy's signal manager. Receivers live in pydispatch, so those of another manager with this sender are heard."""

    def heard(self, signal: Any) -> bool:
        """Returns whether anybody may hear a signal of this sender."""
        for sender in (id(self.sender), id(dispatcher.Any)):
            receivers = dispatcher.connections.get(sender)
            if receivers and (receivers.get(signal) or receivers.get(dispatcher.Any)):
                return True
        return False

    def send_catch_log(self, signal: Any, **kwargs: Any) -> Answers:
        """As Scrapy's."""
        if "sender" in kwargs:
            return super().send_catch_log(signal, **kwargs)
        if not self.heard(signal):
            return []
        unlogged = (*_kinds(kwargs.pop("dont_log", ())), StopDownload)
        answers: Answers = []
        for receiver in self._receivers(signal):
            answer: Any
            try:
                answer = _tell(receiver, {"signal": signal, "sender": self.sender, **kwargs})
            except Exception as error:  # noqa: BLE001 -- one receiver doesn't keep the others from hearing
                _log(error, receiver, unlogged, kwargs)
                answer = Failure()  # type: ignore[no-untyped-call]  # Twisted's types end here
            if isinstance(answer, Deferred):
                spider = kwargs.get("spider")
                line = "Cannot return deferreds from signal handler: %(receiver)s"
                logger.error(line, {"receiver": receiver}, extra={"spider": spider})
            answers.append((receiver, answer))
        return answers

    async def send_catch_log_async(self, signal: Any, **kwargs: Any) -> Answers:
        """As Scrapy's: all receivers have begun before any is waited for."""
        if "sender" in kwargs:
            return await super().send_catch_log_async(signal, **kwargs)
        if not self.heard(signal):
            return []
        unlogged = _kinds(kwargs.pop("dont_log", ()))
        answers: Answers = []
        waiting: list[tuple[int, Awaitable[Any]]] = []
        for receiver in self._receivers(signal):
            answer: Any
            try:
                answer = _tell(receiver, {"signal": signal, "sender": self.sender, **kwargs})
            except Exception as error:  # noqa: BLE001 -- likewise
                _log(error, receiver, unlogged, kwargs)
                answer = error
            else:
                if answer is not None and isawaitable(answer):
                    waiting.append((len(answers), ensure_awaitable(answer, _warn=global_object_name(receiver))))
            answers.append((receiver, answer))
        if waiting:
            ended = await asyncio.gather(*(answer for _, answer in waiting), return_exceptions=True)
            for (index, _), answer in zip(waiting, ended, strict=True):
                receiver = answers[index][0]
                if isinstance(answer, Exception):
                    _log(answer, receiver, unlogged, kwargs)
                answers[index] = (receiver, answer)
        return answers

    def _receivers(self, signal: Any) -> Iterator[Any]:
        return iter(list(dispatcher.liveReceivers(dispatcher.getAllReceivers(self.sender, signal))))


def _tell(receiver: Any, named: dict[str, Any]) -> Any:
    """Calls a receiver with those arguments that it takes, as pydispatch's robustApply does."""
    function = receiver.__func__ if isinstance(receiver, MethodType) else receiver
    if not isinstance(function, FunctionType):
        return robustApply(receiver, **named)
    code = function.__code__
    if code.co_flags & CO_VARKEYWORDS:
        return receiver(**named)
    takes = code.co_varnames[isinstance(receiver, MethodType) : code.co_argcount]
    return receiver(**{name: named[name] for name in takes if name in named})


def _kinds(kinds: Any) -> tuple[Any, ...]:
    return tuple(kinds) if isinstance(kinds, (list, tuple)) else (kinds,)


def _log(error: Exception, receiver: Any, unlogged: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    if not isinstance(error, unlogged):
        logger.error(
            "Error caught on signal handler: %(receiver)s",
            {"receiver": receiver},
            exc_info=error,
            extra={"spider": kwargs.get("spider")},
        )
