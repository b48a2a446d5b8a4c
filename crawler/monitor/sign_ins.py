"""Who is signed in, and how often somebody may try to. Both are the monitor's own: a restart forgets them."""

from __future__ import annotations

import hmac
import secrets
import time
from collections import OrderedDict
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

    from crawler.monitor.users import User, UserFile

# How long a sign-in lasts, a working day; a page left open asks all the time, so idleness tells nothing.
LIFE_SECONDS = 12 * 3600.0
MAX_USER_SIGN_INS = 20  # most sign-ins of one user: where there are more, the oldest of the same user ends
TOKEN_BYTES = 32
# Failures that cost nothing but the time of a check: of a name from one address, and of a name from all of them. The
# next one has a pause of a second follow, and each further one twice that. An address by itself has no limit, since all
# users of a tunnel or a proxy have the same one.
FREE_FAILURES = {"pair": 5, "name": 50}
MAX_PAUSE_SECONDS = 300.0
FORGOTTEN_SECONDS = 3_600.0  # after how long without a failure those before count no more
MAX_REMEMBERED = 10_000  # most names, and names with addresses, whose failures are known; the oldest is forgotten first


@dataclass(frozen=True, slots=True)
class SignIn:
    """One browser of a user.

    Attributes:
        user: As the file had them then: one who has another password or role since must sign in again.
        csrf: What each form of this browser sends, which no other page can know.
        ends_at: By the monotonic clock.
    """

    user: User
    csrf: str
    ends_at: float

    def sent(self, csrf: str) -> bool:
        """Returns whether a form came from a page of this sign-in."""
        return hmac.compare_digest(csrf.encode(), self.csrf.encode())


class SignIns:
    """All browsers that are signed in, by the token in their cookie."""

    def __init__(self, users: UserFile) -> None:
        self._users = users
        self._by_token: OrderedDict[str, SignIn] = OrderedDict()

    def begin(self, user: User) -> str:
        """Signs a user in; returns the token."""
        token = secrets.token_urlsafe(TOKEN_BYTES)
        self._by_token[token] = SignIn(user, secrets.token_urlsafe(TOKEN_BYTES), time.monotonic() + LIFE_SECONDS)
        own = [other for other, sign_in in self._by_token.items() if sign_in.user.name == user.name]
        for oldest in own[:-MAX_USER_SIGN_INS]:
            del self._by_token[oldest]
        return token

    def of(self, token: str) -> SignIn | None:
        """Returns the sign-in of a token; None where it is over, or its user was removed or changed.

        Raises:
            HeadroomError: The file of users can't be read.
        """
        sign_in = self._by_token.get(token)
        if sign_in is None:
            return None
        if sign_in.ends_at <= time.monotonic() or self._users.users().get(sign_in.user.name) != sign_in.user:
            del self._by_token[token]
            return None
        return sign_in

    def end(self, token: str) -> None:
        """Signs out."""
        self._by_token.pop(token, None)


class Failures(NamedTuple):
    """How often signing in failed.

    Attributes:
        last_at: By the monotonic clock.
    """

    number: int
    last_at: float


class SignInTries:
    """Failures of signing in: whoever has too many must wait, whatever the password is, and longer each time."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._failures: OrderedDict[tuple[str, ...], Failures] = OrderedDict()

    def wait_s(self, name: str, address: str) -> float:
        """Returns for how many seconds an address may not try a name's password; 0: it may."""
        return max(self._pause_s(kind, key) for kind, key in _keys(name, address))

    def fail(self, name: str, address: str) -> None:
        """Counts a failure."""
        for _kind, key in _keys(name, address):
            self._failures[key] = Failures(self._number(key) + 1, self._clock())
            self._failures.move_to_end(key)
        while len(self._failures) > MAX_REMEMBERED:
            self._failures.popitem(last=False)

    def _number(self, key: tuple[str, ...]) -> int:
        failures = self._failures.get(key)
        return failures.number if failures and self._clock() - failures.last_at < FORGOTTEN_SECONDS else 0

    def _pause_s(self, kind: str, key: tuple[str, ...]) -> float:
        beyond = self._number(key) - FREE_FAILURES[kind]
        if beyond < 0:
            return 0.0
        until = self._failures[key].last_at + min(2.0**beyond, MAX_PAUSE_SECONDS)
        return max(0.0, until - self._clock())


def _keys(name: str, address: str) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Returns under what a failure is counted, each with its kind."""
    name = name[:64]  # no user's is longer
    return (("pair", ("pair", name, address)), ("name", ("name", name)))
