"""The headers and cookies that a site's file gives its requests, with the operator's secrets filled in.

An analyst writes site files, an operator has the secrets: SITE_SECRET_HOSTS binds each to the hosts that may see it,
and to no other is it sent, whatever a file says and wherever a page redirects. It goes over TLS, unless the operator
has bound it to an address that begins with `http://`.
"""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Self

from crawler import config
from crawler.base.errors import HeadroomError
from crawler.base.urls import canonical, host, origin
from crawler.config import credentials
from crawler.sites.headers import secrets_in, with_secrets

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from scrapy.settings import BaseSettings

    from crawler.sites import Site

_sendable = re.compile(r"[!-~]([ -~]*[!-~])?").fullmatch  # matches the values of headers that site files may have
_sendable_cookie = re.compile(r"[!-:<-~]+").fullmatch


class NoSecretError(HeadroomError):
    """A secret that a site's requests need isn't there; the message names it, and who can mend that."""


class SiteHeaders:
    """Knows the secrets of this process, and where each may go.

    Args:
        origins: The origins that each secret is bound to, by its name.
        read: Returns the value of a secret; empty where there is none.
    """

    def __init__(self, origins: Mapping[str, frozenset[str]], read: Callable[[str], str]) -> None:
        self._origins, self._read = origins, read

    @classmethod
    def of(cls, settings: BaseSettings) -> Self:
        """Returns the headers of a process with these settings.

        Raises:
            ConfigError: SITE_SECRET_HOSTS is wrong.
        """
        bound = config.SITE_SECRET_HOSTS.of(settings)
        return cls({name: frozenset(map(_origin, places)) for name, places in bound.items()}, _secret)

    def names(self, site: Site) -> set[str]:
        """Returns the names of all headers that the site may set."""
        return {*site.headers, *(["Cookie"] if site.cookies else [])}

    def at(self, site: Site, url: str, page_host: str) -> dict[str, str]:
        """Returns the headers of a request for a site.

        A value with a secret goes to the origins that each secret in it is bound to. Any other goes to the page's own
        host and to the site's (of its `base` and its search).

        Args:
            site: Whose file says what is sent.
            url: Canonical URL of the request.
            page_host: Of the page that the request is for; empty: of one that another host's page redirected to.

        Raises:
            NoSecretError: A secret is bound to no host, or is bound to this one and has no value that can be sent.
        """
        if not site.headers and not site.cookies:
            return {}
        is_own = host(url) == page_host or host(url) in site.own_hosts
        headers = self._filled(site, site.headers, origin(url), is_own=is_own, sendable=_sendable)
        if cookies := self._filled(site, site.cookies, origin(url), is_own=is_own, sendable=_sendable_cookie):
            headers["Cookie"] = "; ".join(f"{name}={value}" for name, value in cookies.items())
        return headers

    def bindings(self, site: Site) -> dict[str, dict[str, object]]:
        """Returns of each secret that a site names where it may go, and whether this process has a value for it."""
        return {
            name: {"hosts": sorted(self._origins.get(name, ())), "is_set": bool(self._read(name))}
            for name in sorted(site.secrets)
        }

    def _refuse_without_tls(self, site: Site, named: frozenset[str], place: str) -> None:
        """Raises NoSecretError if the site's own file asks it without TLS, and a secret may go there with TLS alone."""
        if not site.base.startswith("http:") or origin(canonical(site.base)) != place:
            return
        for secret in named:
            if place.replace("http:", "https:", 1) in self._origins[secret]:
                raise NoSecretError(
                    f"site {site.name}: {secret} goes to its host over TLS alone, and the site is asked without: "
                    f"SITE_SECRET_HOSTS binds it to {place}, if it may be read on its way"
                )

    def _filled(
        self, site: Site, values: Mapping[str, str], place: str, *, is_own: bool, sendable: Callable[[str], object]
    ) -> dict[str, str]:
        filled = {}
        for name, value in values.items():
            named = secrets_in(value)
            if unbound := sorted(named - self._origins.keys()):
                raise NoSecretError(f"site {site.name}: {unbound[0]} is bound to no host: SITE_SECRET_HOSTS binds it")
            if not all(place in self._origins[secret] for secret in named) or not (named or is_own):
                self._refuse_without_tls(site, named, place)
                continue
            secrets = {secret: self._read(secret) for secret in named}
            for secret, text in secrets.items():
                if not text:
                    raise NoSecretError(f"site {site.name}: {secret} isn't set in the environment of this process")
                if not sendable(text):
                    raise NoSecretError(f"site {site.name}: {secret} has characters that can't be sent")
            filled[name] = with_secrets(value, secrets)
        return filled


def _origin(place: str) -> str:
    return origin(canonical(place if "://" in place else f"https://{place}"))


def _secret(name: str) -> str:
    entry = credentials.read(name)
    return os.environ.get(name, "").strip() or (entry[0] if entry else "")
