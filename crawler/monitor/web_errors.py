"""A request that the monitor doesn't carry out, and why."""

from __future__ import annotations

from typing import Any


class RefusedRequestError(Exception):
    """A request is refused.

    Args:
        status: The answer's.
        message: A key of the messages, which says why.
        values: Of the message.
    """

    def __init__(self, status: int, message: str, **values: Any) -> None:
        super().__init__(message)
        self.status, self.message, self.values_of_message = status, message, values
