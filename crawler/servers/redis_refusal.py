"""What an error of Redis means: what a key holds is to blame, or no waiting mends it, as where it refuses a client."""

from __future__ import annotations

import re
import ssl
from typing import TYPE_CHECKING

from redis.exceptions import (
    AuthenticationError,
    BusyLoadingError,
    InvalidResponse,
    NoPermissionError,
    RedisError,
    ResponseError,
)
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import TimeoutError as RedisTimeoutError

if TYPE_CHECKING:
    from collections.abc import Iterator

RIGHTS = "docs/servers.md has the rights that it needs"
# The error's class, a part of Redis's or Valkey's words (empty: any), and what that means. The first that fits counts.
REFUSALS: tuple[tuple[type[RedisError], str, str], ...] = (
    (AuthenticationError, "already authenticated", "it asks for a password, and REDIS_URL has none"),
    (AuthenticationError, "Authentication required", "it asks for a password, and REDIS_URL has none"),
    (AuthenticationError, "", "it refuses the user or the password in REDIS_URL"),
    (NoPermissionError, "'select'", "its user may not choose a database: end REDIS_URL in /0, or grant +select"),
    (NoPermissionError, "", f"its user lacks a right; {RIGHTS}"),
    (ResponseError, "ACL failure in script", f"its user lacks a right; {RIGHTS}"),
    (ResponseError, "can't run this command", f"its user lacks a right; {RIGHTS}"),  # Redis 7.0, of scripts
    (ResponseError, "DB index is out of range", "it has no database of the number in REDIS_URL"),
    (ResponseError, "SELECT is not allowed in cluster mode", "a cluster has no database but 0: end REDIS_URL in /0"),
)
# How errors begin that are about the server: with a word for their kind, such as MISCONF or BUSY, unless redis-py has a
# class of its own for them; or, in a script on a cluster that changes, with these words.
_OF_SERVER = re.compile(r"(?!WRONGTYPE )[A-Z]{2,} |Script (?:attempted to|killed) ")
_AWAY = (RedisConnectionError, RedisTimeoutError, OSError, TimeoutError)
# The part that says which script it was, and where in it.
_IN_SCRIPT = re.compile(r" script: \S+, on .*| script: on .*", re.DOTALL)


def is_of_a_key(error: ResponseError) -> bool:
    """Returns whether what a key holds is to blame: it is of another kind, or junk that a script stumbled over.

    Whatever else is asked for would fail likewise where it isn't: Redis changes its primary, can't save, or refuses
    this client.
    """
    text = str(error)
    if type(error) is not ResponseError or _OF_SERVER.match(text) or refusal(error):
        return False
    return text.startswith("WRONGTYPE ") or "user_script:" in text


def refusal(error: BaseException) -> str:
    """Returns why no waiting mends it, and what to do; empty: Redis is away, or something else is wrong."""
    text = str(error)
    for kind, words, meaning in REFUSALS:
        if isinstance(error, kind) and words in text:
            message = _IN_SCRIPT.sub("", text).strip().rstrip(".")
            return f"{meaning} ({message})"
    for cause in _causes(error):
        if isinstance(cause, InvalidResponse):
            return f"what answers there is no Redis: REDIS_URL has the address of another server ({cause})"
        if isinstance(cause, ssl.SSLCertVerificationError):
            return (
                f"its certificate isn't trusted: ssl_ca_certs in REDIS_URL names who may sign ({cause.verify_message})"
            )
        if isinstance(cause, ssl.SSLError):
            return f"TLS fails: rediss:// is with it, redis:// without ({cause.reason or cause})"
    return ""


def said_of(error: BaseException) -> str:
    """Returns what is wrong by an error of Redis, and what to do: as `refusal`, or where nothing answers."""
    if why := refusal(error):
        return why
    message = str(error).rstrip(".") or "no answer"
    # A server that loads its data says itself that it answers.
    is_away = isinstance(error, _AWAY) and not isinstance(error, BusyLoadingError)
    return f"{message}; is it running? REDIS_URL names it" if is_away else message


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    """Yields an error, and each that it was raised from or while handling."""
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__
