"""What the settings say of the size of answers, and of answers that end too early."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

from crawler import config

if TYPE_CHECKING:
    from collections.abc import Mapping


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
            max_bytes=config.DOWNLOAD_MAXSIZE.of(settings),
            warn_bytes=config.DOWNLOAD_WARNSIZE.of(settings),
            fails_on_loss=config.DOWNLOAD_FAIL_ON_DATALOSS.of(settings),
        )
