"""Scrapy's signals: nothing is built for one that nobody hears, and no task for receivers that don't wait."""

from __future__ import annotations

import asyncio
import logging
from inspect import isawaitable
from typing import TYPE_CHECKING, Any

from pydispatch import dispatcher  # type: ignore[import-untyped]  # it has no types
from pydispatch.robustapply import robustApply  # type: ignore[import-untyped]  # likewise
from scrapy.signalmanager import SignalManager
from scrapy.utils.defer import ensure_awaitable
from scrapy.utils.python import global_object_name

if TYPE_CHECKING:
    from collections.abc import Awaitable

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
        if "sender" not in kwargs and not self.heard(signal):
            return []
        return super().send_catch_log(signal, **kwargs)

    async def send_catch_log_async(self, signal: Any, **kwargs: Any) -> Answers:
        """As Scrapy's: all receivers have begun before any is waited for."""
        if "sender" in kwargs:
            return await super().send_catch_log_async(signal, **kwargs)
        if not self.heard(signal):
            return []
        unlogged = kwargs.pop("dont_log", ())
        unlogged = tuple(unlogged) if isinstance(unlogged, (list, tuple)) else (unlogged,)
        answers: Answers = []
        waiting: list[tuple[int, Awaitable[Any]]] = []
        for receiver in dispatcher.liveReceivers(dispatcher.getAllReceivers(self.sender, signal)):
            try:
                answer = robustApply(receiver, signal=signal, sender=self.sender, **kwargs)
            except Exception as error:  # noqa: BLE001 -- one receiver doesn't keep the others from hearing
                _log(error, receiver, unlogged, kwargs)
                answer = error
            else:
                if isawaitable(answer):
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


def _log(error: Exception, receiver: Any, unlogged: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    if not isinstance(error, unlogged):
        logger.error(
            "Error caught on signal handler: %(receiver)s",
            {"receiver": receiver},
            exc_info=error,
            extra={"spider": kwargs.get("spider")},
        )
