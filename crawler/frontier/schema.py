"""What Redis says of the frontier's format, and what a process of another version is told."""

from __future__ import annotations

import contextlib
import re
from typing import TYPE_CHECKING, NamedTuple

from redis.exceptions import ResponseError

from crawler.base.errors import FrontierError, shown
from crawler.frontier.keys import SCHEMA_VERSION
from crawler.servers.redis_refusal import is_of_a_key

if TYPE_CHECKING:
    from collections.abc import Iterator

MIGRATE = "stop all workers and run scrapy frontier migrate, or use another KEY_PREFIX"


@contextlib.contextmanager
def of_its_kind(key: str) -> Iterator[None]:
    """Tells of a key of another kind than the frontier's, in place of Redis's WRONGTYPE.

    Raises:
        FrontierError: It is of another kind.
    """
    try:
        yield
    except ResponseError as error:
        if not is_of_a_key(error):
            raise
        raise FrontierError(
            f"Redis holds something else than a frontier's at {key}: see what it is, and delete it, or use another "
            "KEY_PREFIX"
        ) from error


class Format(NamedTuple):
    """The format that a frontier has, or is on its way from: `2`, or `2-to-3 DONE` while it is migrated.

    Attributes:
        version: The format, or the one that the frontier had.
        done: How many parts of the step to the next format are done; None: no step was begun.
    """

    version: int
    done: int | None = None

    @classmethod
    def parse(cls, text: str) -> Format:
        """Reads what Redis holds.

        Raises:
            FrontierError: It is none of ours.
        """
        match = re.fullmatch(r"(\d{1,9})(?:-to-(\d{1,9}) (\d{1,9}))?", text, re.ASCII)
        if match is None or (match[2] and int(match[2]) != int(match[1]) + 1):
            raise FrontierError(
                f"Redis holds a frontier of format {shown(text)}, expected a number: use another KEY_PREFIX"
            )
        return cls(int(match[1]), None if match[3] is None else int(match[3]))

    def __str__(self) -> str:
        """Returns what Redis holds."""
        return str(self.version) if self.done is None else f"{self.version}-to-{self.version + 1} {self.done}"


def refuse_other(text: str) -> None:
    """Refuses a frontier of another format than this version's.

    Args:
        text: What Redis holds.

    Raises:
        FrontierError: It is another one; the text says what to do.
    """
    if text == str(SCHEMA_VERSION):
        return
    stored = Format.parse(text)
    if stored.version > SCHEMA_VERSION or (stored.version == SCHEMA_VERSION and stored.done is not None):
        newer = stored.version + (stored.done is not None)
        raise FrontierError(
            f"Redis holds a frontier of format {newer}, newer than this version's {SCHEMA_VERSION}: use the "
            "version that the other nodes have"
        )
    if stored.done is None:
        raise FrontierError(
            f"Redis holds a frontier of format {stored.version}, older than this version's {SCHEMA_VERSION}: {MIGRATE}"
        )
    raise FrontierError(
        f"Redis holds a frontier that is on its way from format {stored.version} to {stored.version + 1}: wait for "
        "scrapy frontier migrate, or run it again if it was broken off"
    )
