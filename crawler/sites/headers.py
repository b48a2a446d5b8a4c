"""What a site's requests carry beside the crawl's own headers, and the names of secrets in it.

A definition stands in Redis for all to read, so a secret stands in it by name alone: `${SITE_SECRET_NAME}`. Which value
that has, and to which hosts it may be sent, the operator says (`crawler/download/site_headers.py`).
"""

from __future__ import annotations

import re
from typing import Annotated

from pydantic import AfterValidator, Field

from crawler.base.redaction import names_secret

_BINDINGS = "SITE_SECRET_HOSTS"  # the setting that binds secrets to hosts, which isn't one
# Headers by which a crawl says who it is, what it takes, where the request ends, and to whom it goes.
_OF_THE_CRAWL = frozenset(
    """accept-encoding connection content-length content-type cookie expect host keep-alive range te trailer
    transfer-encoding upgrade user-agent""".split()
)
_KEEPS_BACK = ("proxy-", "if-", "sec-", "forwarded", "x-forwarded-")
_secrets = re.compile(r"\$\{([^{}]*)\}")
_is_secret_name = re.compile(r"SITE_SECRET_[A-Z0-9_]{1,50}").fullmatch


def secrets_in(value: str) -> frozenset[str]:
    """Returns the names of the secrets in a value."""
    return frozenset(_secrets.findall(value))


def with_secrets(value: str, secrets: dict[str, str]) -> str:
    """Returns a value with its secrets filled in, within one pass: nothing in a secret acts as a name."""
    return _secrets.sub(lambda match: secrets[match[1]], value)


def _header_name(name: str) -> str:
    lower = name.lower()
    if lower in _OF_THE_CRAWL or lower.startswith(_KEEPS_BACK):
        raise ValueError("another header: the crawl sets this one itself, and `cookies` has cookies")
    return name


def _value(value: str) -> str:
    for name in secrets_in(value):
        if not _is_secret_name(name) or name == _BINDINGS:
            raise ValueError("no other variables of the environment than ${SITE_SECRET_...}, in A-Z, 0-9 and _")
    if "${" in _secrets.sub("", value):
        raise ValueError("${SITE_SECRET_...}, with its closing brace")
    return value


def keep_secrets_out(values: dict[str, str]) -> dict[str, str]:
    """Returns headers or cookies.

    Raises:
        ValueError: One that by its name is a password stands there in the clear.
    """
    for name, value in values.items():
        if names_secret(name) and not secrets_in(value):
            raise ValueError(
                f"a secret by its name, {name}: ${{SITE_SECRET_...}}: definitions stand in Redis for all to read"
            )
    return values


_Value = Annotated[str, Field(min_length=1, max_length=1_000), AfterValidator(_value)]
Headers = Annotated[
    dict[
        Annotated[str, Field(pattern=r"^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}$"), AfterValidator(_header_name)],
        Annotated[_Value, Field(pattern=r"^[!-~]([ -~]*[!-~])?$")],
    ],
    Field(max_length=20),
    AfterValidator(keep_secrets_out),
]
Cookies = Annotated[
    dict[
        Annotated[str, Field(pattern=r"^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}$")],
        Annotated[_Value, Field(pattern=r"^[!-:<-~]+$")],
    ],
    Field(max_length=20),
    AfterValidator(keep_secrets_out),
]
