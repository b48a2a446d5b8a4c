"""Who may use the monitor: a file with a name, a role and an argon2 hash each, which only its owner can read."""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import stat
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

import orjson
from argon2 import PasswordHasher
from argon2.exceptions import Argon2Error, InvalidHashError

from crawler.base.errors import HeadroomError, existing, shown

if TYPE_CHECKING:
    from collections.abc import Iterator

Role = Literal["viewer", "analyst", "operator"]
ROLES: tuple[Role, ...] = get_args(Role)  # each may do what those before it may
NAME = re.compile(r"[A-Za-z0-9._@-]{1,64}")
MIN_PASSWORD_CHARACTERS, MAX_PASSWORD_CHARACTERS = 12, 1_000  # by NIST 800-63B a long password needs no other rules
PRIVATE = 0o600
DAMAGED = ".damaged"  # the end of the new name of a file that was none of users

_hasher = PasswordHasher()  # argon2id with 64 MiB and three passes, RFC 9106's second choice
_NOBODY = _hasher.hash("nobody")  # checked where there is no such user, so that the time tells nothing


class DamagedUsersError(HeadroomError):
    """The file is none of users."""


@dataclass(frozen=True, slots=True)
class User:
    """One who may sign in.

    Attributes:
        password_hash: By argon2, with its salt and parameters.
    """

    name: str
    role: Role
    password_hash: str

    def may(self, role: Role) -> bool:
        """Returns whether the user has a role, or one that may do more."""
        return ROLES.index(self.role) >= ROLES.index(role)


class UserFile:
    """The file of all users. It is read again when it has changed, so whoever is removed is out at once."""

    def __init__(self, path: str) -> None:
        self._path = Path(path)
        self._read_as: tuple[int, int, int] | None = None
        self._users: dict[str, User] = {}

    def users(self) -> dict[str, User]:
        """Returns the users by name; empty where there is no such file yet.

        Raises:
            HeadroomError: Others may read or write the file, or it is damaged.
        """
        try:
            status = self._path.stat()
            if stat.S_IMODE(status.st_mode) & ~PRIVATE:
                raise HeadroomError(f"{self._path}: others may read or write it; chmod 600 keeps them out")
            is_the_same = self._read_as == (read_as := (status.st_mtime_ns, status.st_size, status.st_ino))
            if is_the_same:
                return self._users
            self._users, self._read_as = _parsed(self._path.read_bytes()), read_as
        except FileNotFoundError:
            return {}
        except OSError as error:
            raise HeadroomError(f"{self._path}: {error.strerror}") from error
        except (ValueError, KeyError, TypeError, AttributeError):
            raise DamagedUsersError(
                f"{self._path}: no file of users; scrapy monitor user add makes another and keeps it as {DAMAGED}"
            ) from None
        return self._users

    def put(self, name: str, role: Role, password: str) -> None:
        """Adds a user, or gives one another role and password. A damaged file is put aside, and begun anew.

        Raises:
            HeadroomError: The name or password can't be one, or the file can't be written.
        """
        if not NAME.fullmatch(name):
            raise HeadroomError(f"user {shown(name)}: expected up to 64 letters, digits and . _ @ -")
        if not MIN_PASSWORD_CHARACTERS <= len(password) <= MAX_PASSWORD_CHARACTERS:
            raise HeadroomError(f"a password has {MIN_PASSWORD_CHARACTERS} to {MAX_PASSWORD_CHARACTERS} characters")
        user = User(name, role, _hasher.hash(password))
        with self._alone():
            try:
                users = self.users()
            except DamagedUsersError:
                self._path.replace(self._path.with_name(self._path.name + DAMAGED))
                users = {}
            self._write({**users, name: user})

    def remove(self, name: str) -> None:
        """Removes a user.

        Raises:
            HeadroomError: There is none of that name, or the file can't be written.
        """
        with self._alone():
            users = self.users()
            if name not in users:
                raise HeadroomError(f"no user {shown(name)}; {existing(name, users, 'there are')}")
            self._write({other: user for other, user in users.items() if other != name})

    def check(self, name: str, password: str) -> User | None:
        """Returns the user who has this name and password; takes some 50 ms of a processor, whoever asks."""
        user = self.users().get(name)
        try:
            _hasher.verify(user.password_hash if user else _NOBODY, password[:MAX_PASSWORD_CHARACTERS])
        except (Argon2Error, InvalidHashError):
            return None
        return user

    @contextlib.contextmanager
    def _alone(self) -> Iterator[None]:
        """Has commands change the file one after the other: each reads what the one before has written."""
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            with self._path.with_name(self._path.name + ".lock").open("w") as lock:
                fcntl.flock(lock, fcntl.LOCK_EX)
                yield
        except OSError as error:
            raise HeadroomError(f"{self._path}: {error.strerror}") from error

    def _write(self, users: dict[str, User]) -> None:
        """Puts another file in the place of this one, which is whole at every moment."""
        stored = {user.name: {"role": user.role, "hash": user.password_hash} for user in users.values()}
        try:
            handle, name = tempfile.mkstemp(dir=self._path.parent)  # its mode is 0600
            with os.fdopen(handle, "wb") as file:
                file.write(orjson.dumps({"users": stored}, option=orjson.OPT_INDENT_2) + b"\n")
            Path(name).replace(self._path)
        except OSError as error:
            raise HeadroomError(f"{self._path}: {error.strerror}") from error


def _parsed(text: bytes) -> dict[str, User]:
    """Reads the file's text."""
    stored: dict[str, dict[str, Any]] = orjson.loads(text)["users"]
    users = {name: User(name, entry["role"], str(entry["hash"])) for name, entry in stored.items()}
    if any(user.role not in ROLES or not NAME.fullmatch(user.name) for user in users.values()):
        raise ValueError
    return users
