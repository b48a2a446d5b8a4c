"""Hides secrets in texts that are shown: in logs, errors and on the terminal."""

from __future__ import annotations

import base64
import re
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, unquote

import orjson

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

HIDDEN = "***"
MIN_SECRET_CHARACTERS = 4  # the shortest secret that is hidden: to hide each `1` or `no` of a log would hide the log
_SECRET_NAME = re.compile(
    r"(?:^|_)(?:pass|passwd|password|passphrase|secret|token|(?:access|api|private|secret)_?key)(?:_id)?$",
    re.IGNORECASE,
)
_NAMED_VALUE = re.compile(r"""(?P<before>(?P<name>[A-Za-z][\w-]{0,63})(?:=["']?|["']\s*:\s*["']))[^\s"'&;<>]+""")
_FIELD_VALUE = re.compile(
    r"""(?P<before>\bname=["']?(?P<name>[\w-]{1,64})["']?[^<>]{0,500}?\bvalue=["']?)[^\s"'<>]+""", re.IGNORECASE
)
_OF_SITES = "SITE_SECRET_"  # the beginning of the names of sites' secrets, whose values are hidden whatever follows
_BINDINGS = "SITE_SECRET_HOSTS"  # the setting that binds them to hosts, and is no secret itself
_USERINFO = re.compile(r"(?<=[/\\]{2})[^\s/\\?#'\"<>]*@")  # it reaches to the last @ before the path, as in a browser


def without_credentials(text: str) -> str:
    """Returns a text in which the user and password of each URL are hidden."""
    return _USERINFO.sub(f"{HIDDEN}@", text) if "@" in text else text


def has_credentials(url: str) -> bool:
    """Returns whether a URL has a user or password."""
    return _USERINFO.search(url) is not None


def redacted_address(url: str) -> str:
    """Returns a server's address without user, password and query (which may hold passwords), for logs and errors.

    An unescaped `@`, `/` or `?` in a password hides more of the address, never less. An `@` behind a `?` hides all of
    it, since it may follow a password or be in one.
    """
    scheme, separator, rest = url.partition("://")
    if not separator:
        scheme, rest = "", url
    address, _, query = rest.partition("?")
    return scheme + separator + (HIDDEN if "@" in query else address.rpartition("@")[2])


def names_secret(name: str) -> bool:
    """Returns whether what has this name (a header, a parameter) holds a password or key, to judge by the name."""
    return name.lower() == "authorization" or _SECRET_NAME.search(name.replace("-", "_")) is not None


def without_secret_values(text: str) -> str:
    """Returns a text of somebody else, such as a page, in which the values of what has a secret's name are hidden.

    They are those of queries and cookies (`password=x`), of JSON (`"token": "x"`), and of fields of a form.
    """

    def hidden(match: re.Match[str]) -> str:
        return f"{match['before']}{HIDDEN}" if names_secret(match["name"]) else match[0]

    return _FIELD_VALUE.sub(hidden, _NAMED_VALUE.sub(hidden, text))


def without_secrets(value: object) -> object:
    """Returns a value of a file in which what has a secret's name is hidden, however deep it stands."""
    if isinstance(value, dict):
        return {
            name: HIDDEN if isinstance(entry, str) and names_secret(str(name)) else without_secrets(entry)
            for name, entry in value.items()
        }
    return [without_secrets(entry) for entry in value] if isinstance(value, list) else value


def without_url_credentials(value: Any) -> Any:
    """Returns a value of a file in which the user and password of every URL are hidden, however deep it stands."""
    if isinstance(value, dict):
        return {name: without_url_credentials(entry) for name, entry in value.items()}
    if isinstance(value, list):
        return [without_url_credentials(entry) for entry in value]
    return without_credentials(value) if isinstance(value, str) else value


class Redaction:
    """Hides given secrets in texts, and the credentials of every URL.

    Args:
        secrets: Their values. Those shorter than MIN_SECRET_CHARACTERS are hidden in URLs only.
    """

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        forms = {form for secret in secrets if len(secret) >= MIN_SECRET_CHARACTERS for form in _forms(secret)}
        longest_first = sorted(forms, key=len, reverse=True)
        self._secrets = re.compile("|".join(map(re.escape, longest_first))) if forms else None

    @classmethod
    def of(cls, *sources: Mapping[str, Any]) -> Redaction:
        """Returns a redaction of the secrets in settings or environments, found by their names and in URLs."""
        return cls(
            secret for source in sources for name, value in source.items() for secret in _in_setting(name, value)
        )

    def __call__(self, text: str) -> str:
        """Returns a text without the secrets."""
        if self._secrets is not None:
            text = self._secrets.sub(HIDDEN, text)
        return without_credentials(text)


def _in_setting(name: str, value: Any) -> Iterator[str]:
    """Yields the secrets in the value of a setting, which may be a mapping (REDIS_PARAMS, FEEDS) or a list."""
    if isinstance(value, str | bytes):
        text = value if isinstance(value, str) else value.decode("latin-1")
        if _SECRET_NAME.search(name) or (name.startswith(_OF_SITES) and name != _BINDINGS):
            yield text
        yield from _in_urls(text)
        if text.lstrip().startswith(("{", "[")):
            yield from _in_json(name, text)
    elif isinstance(value, int) and not isinstance(value, bool):
        if _SECRET_NAME.search(name):
            yield str(value)
    elif hasattr(value, "items"):  # a dict, or Scrapy's settings in settings
        for key, entry in value.items():
            yield from _in_setting(str(key), entry)
            yield from _in_urls(str(key))
    elif isinstance(value, list | tuple | set | frozenset):
        for entry in value:
            yield from _in_setting(name, entry)


def _in_json(name: str, text: str) -> Iterator[str]:
    """Yields the secrets in a mapping or a list that is written as JSON; all of the text if it is no JSON after all."""
    try:
        secrets = list(_in_setting(name, orjson.loads(text)))
    except ValueError:
        yield text
        return
    yield from secrets
    if secrets and "\\" in text:  # a secret may be written in it in as many ways as JSON has escapes
        yield text


def _in_urls(text: str) -> Iterator[str]:
    """Yields the secrets in a text that is a URL, or several with commas between them (Kafka's servers)."""
    for url in re.split(r"[\s,]+(?=[\w+.-]+://)", text):
        head, separator, rest = url.partition("://")
        if not separator or not re.fullmatch(r"\s*[\w+.-]+", head):
            continue
        address, _, query = rest.partition("?")
        # An @ in a password that isn't escaped, as it should be, hides more than the password, never less.
        for part in {address, rest}:
            userinfo, at, _host = part.rpartition("@")
            if at:
                user, _, password = userinfo.partition(":")
                yield password or user
                yield from re.split("[/@?#]", password)  # the part that a library may take for the password
                yield base64.b64encode(unquote(userinfo).encode()).decode()  # as it stands in Proxy-Authorization
        yield from (value for key, value in parse_qsl(query) if _SECRET_NAME.search(key))


def _forms(secret: str) -> set[str]:
    """Returns the ways in which a secret may be written: as it is, unescaped, and as Python's repr shows these."""
    plain = {secret, unquote(secret)}
    return plain | {repr(text)[1:-1] for text in plain}
