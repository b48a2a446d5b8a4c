"""Who is signed in, and how often somebody may try to. Both are the monitor's own: a restart forgets them."""

from __future__ import annotations

import hmac
import secrets
import time
from collections import OrderedDict, deque
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from crawler.monitor.users import User, UserFile

LIFE_SECONDS = 12 * 3600.0  # a working day; a page that is left open asks all the time, so idleness tells nothing
SIGN_INS_MAX = 1_000  # at once; the oldest ends where there are more
TOKEN_BYTES = 32
WINDOW_SECONDS = 300.0  # in which failures are counted
FAILURES_MAX = {"pair": 5, "address": 15, "name": 50}  # of a name from an address, of an address, of a name
REMEMBERED_MAX = 10_000  # names and addresses whose failures are counted; the oldest is forgotten where there are more


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

    def __init__(self, users: UserFile, clock: Callable[[], float] = time.monotonic) -> None:
        self._users = users
        self._clock = clock
        self._by_token: OrderedDict[str, SignIn] = OrderedDict()

    def begin(self, user: User) -> str:
        """Signs a user in; returns the token."""
        token = secrets.token_urlsafe(TOKEN_BYTES)
        self._by_token[token] = SignIn(user, secrets.token_urlsafe(TOKEN_BYTES), self._clock() + LIFE_SECONDS)
        while len(self._by_token) > SIGN_INS_MAX:
            self._by_token.popitem(last=False)
        return token

    def of(self, token: str) -> SignIn | None:
        """Returns the sign-in of a token; None where it is over, or its user was removed or changed.

        Raises:
            HeadroomError: The file of users can't be read.
        """
        sign_in = self._by_token.get(token)
        if sign_in and (sign_in.ends_at <= self._clock() or self._users.users().get(sign_in.user.name) != sign_in.user):
            del self._by_token[token]
            return None
        return sign_in

    def end(self, token: str) -> None:
        """Signs out."""
        self._by_token.pop(token, None)


class SignInTries:
    """Failures of signing in, over the last WINDOW_SECONDS: who has too many must wait, whatever the password is."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._failures: OrderedDict[tuple[str, ...], deque[float]] = OrderedDict()

    def may_try(self, name: str, address: str) -> bool:
        """Returns whether an address may try a name's password now."""
        since = self._clock() - WINDOW_SECONDS
        for kind, key in _keys(name, address):
            failures = self._failures.get(key, deque[float]())
            while failures and failures[0] <= since:
                failures.popleft()
            if len(failures) >= FAILURES_MAX[kind]:
                return False
        return True

    def fail(self, name: str, address: str) -> None:
        """Counts a failure."""
        for kind, key in _keys(name, address):
            self._failures.setdefault(key, deque(maxlen=FAILURES_MAX[kind])).append(self._clock())
            self._failures.move_to_end(key)
        while len(self._failures) > REMEMBERED_MAX:
            self._failures.popitem(last=False)


def _keys(name: str, address: str) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Returns under what a failure is counted, each with its kind."""
    name = name[:64]  # no user's is longer
    return (("pair", ("pair", name, address)), ("address", ("address", address)), ("name", ("name", name)))
