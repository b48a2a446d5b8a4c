"""Registrable domains: what somebody has registered, by the public suffix list, with all hosts below it."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from publicsuffixlist import PublicSuffixList


def registrable_domain(host: str) -> str:
    """Returns the domain that a host's name belongs to; empty for a public suffix, the address itself for an address.

    Names below `github.io` and its like, whose owner gives them to others, are domains of their own.
    """
    if host.startswith("[") or host.replace(".", "").isdecimal():
        return host
    return _public_suffixes().privatesuffix(host) or ""


@cache
def _public_suffixes() -> PublicSuffixList:
    """Returns the list that comes with its package: nothing is fetched."""
    from publicsuffixlist import PublicSuffixList

    return PublicSuffixList()
