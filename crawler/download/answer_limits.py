"""What the settings say of the size of answers, and of answers that end too early."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

from crawler import config

if TYPE_CHECKING:
    from collections.abc import Mapping

MAX_BYTES = 1 << 40  # more than any disk has for one answer


@dataclass(frozen=True, slots=True)
class AnswerLimits:
    """The settings, checked.

    Attributes:
        max_bytes: DOWNLOAD_MAXSIZE: a body with more fails its page; 0: no limit.
        warn_bytes: DOWNLOAD_WARNSIZE: a body with more is logged; 0: none is.
        fails_on_loss: DOWNLOAD_FAIL_ON_DATALOSS: a body that ends too early fails its page.
    """

    max_bytes: int
    warn_bytes: int
    fails_on_loss: bool

    @classmethod
    def from_settings(cls, settings: Mapping[str, Any]) -> Self:
        """Reads the settings.

        Raises:
            ConfigError: A setting has a value that it can't have.
        """
        return cls(
            max_bytes=config.whole(settings, "DOWNLOAD_MAXSIZE", 0, MAX_BYTES),
            warn_bytes=config.whole(settings, "DOWNLOAD_WARNSIZE", 0, MAX_BYTES),
            fails_on_loss=config.flag(settings, "DOWNLOAD_FAIL_ON_DATALOSS"),
        )
