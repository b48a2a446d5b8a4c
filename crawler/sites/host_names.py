"""Hosts and domains in site files and plans, as canonical URLs have them."""

from __future__ import annotations

import contextlib

from crawler.base.errors import UrlError
from crawler.base.urls import canonical, hostname

BELOW = "*."  # before a domain: all hosts below it, but not itself


def checked_domain(value: str) -> str:
    """Returns a domain that stands for itself and all below it.

    Raises:
        ValueError: It is none.
    """
    with contextlib.suppress(ValueError):
        return checked_host(value)
    raise ValueError("a domain such as example.org, without scheme, port and *: all hosts below it are meant, too")


def host_pattern(value: str) -> str:
    """Returns a host, or `*.` and a domain.

    Raises:
        ValueError: It is neither.
    """
    below = BELOW if value.startswith(BELOW) else ""
    return below + checked_host(value.removeprefix(below))


def checked_host(value: str) -> str:
    """Returns the name or IP address of a host.

    Raises:
        ValueError: It is none.
    """
    with contextlib.suppress(UrlError):
        if not any(mark in value for mark in "/?#@\\* ") and (":" not in value or value.startswith("[")):
            return hostname(canonical(f"http://{value}/"))
    raise ValueError("a host's name such as www.example.org, without scheme, port and path; *. before it for all below")
