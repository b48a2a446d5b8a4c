"""libcurl handles: what every request has in common, by Scrapy's settings, and what one of them asks.

libcurl follows, decodes, resolves, remembers and adds nothing here: no redirects, cookies, .netrc, proxies of the
environment, names, or headers beside Scrapy's own.
"""

from __future__ import annotations

import os
import re
import ssl
from typing import TYPE_CHECKING, Any, Self

import pycurl

from crawler import config
from crawler.download.limits import IDLE_SECONDS
from crawler.download.resend import may_go_again
from crawler.errors import ConfigError

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.settings import BaseSettings

    from crawler.download.targets import Target

CONNECT_SECONDS = 30.0  # to a server that answers at all: four tries of TCP lie within, and a slow handshake
# Of libcurl's options pycurl has no names for these.
_SUPPRESS_CONNECT_HEADERS, _DISALLOW_USERNAME_IN_URL = 265, 278
_METHOD = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_ODD = re.compile(rb"[\r\n\0]+")  # in a header: they would end it
_COUNTED = frozenset({b"Content-Length", b"Transfer-Encoding"})  # libcurl knows best how long a body is
_PROXY_AUTHORIZATION = b"Proxy-Authorization"
_TLS_VERSIONS = {
    "TLSv1.0": (pycurl.SSLVERSION_TLSv1_0, pycurl.SSLVERSION_MAX_TLSv1_0),
    "TLSv1.1": (pycurl.SSLVERSION_TLSv1_1, pycurl.SSLVERSION_MAX_TLSv1_1),
    "TLSv1.2": (pycurl.SSLVERSION_TLSv1_2, pycurl.SSLVERSION_MAX_TLSv1_2),
    "TLSv1.3": (pycurl.SSLVERSION_TLSv1_3, pycurl.SSLVERSION_MAX_TLSv1_3),
}


def resolved(place: Target) -> list[str]:
    """Returns how libcurl is told a host's addresses; it forgets them by and by (`+`)."""
    written = ",".join(f"[{address}]" if ":" in address else address for address in place.addresses)
    return [f"+{place.host}:{place.port}:{written}"]


class CurlHandles:
    """Makes handles.

    Args:
        options: Of every handle, besides those that never change.
    """

    def __init__(self, options: dict[int, Any]) -> None:
        self._options = {
            pycurl.NOSIGNAL: 1,
            pycurl.PROTOCOLS: pycurl.PROTO_HTTP | pycurl.PROTO_HTTPS,
            pycurl.PATH_AS_IS: 1,
            pycurl.HTTP_CONTENT_DECODING: 0,
            pycurl.USERAGENT: "",
            pycurl.PROXY: "",
            pycurl.NOPROXY: "",
            pycurl.CONNECTTIMEOUT_MS: int(CONNECT_SECONDS * 1000),
            pycurl.MAXAGE_CONN: IDLE_SECONDS,
            _SUPPRESS_CONNECT_HEADERS: 1,
            _DISALLOW_USERNAME_IN_URL: 1,
            **options,
        }

    @classmethod
    def from_settings(cls, settings: BaseSettings) -> Self:
        """Reads what Scrapy's handlers read about TLS and the own address.

        Raises:
            ConfigError: A TLS version that there isn't, or a flag that is none.
        """
        low, high = (_tls_version(settings, f"DOWNLOAD_TLS_{bound}_VERSION") for bound in ("MIN", "MAX"))
        least = low[0] if low else pycurl.SSLVERSION_TLSv1_2
        options: dict[int, Any] = {pycurl.SSLVERSION: least | (high[1] if high else 0)}
        ciphers = settings.get("DOWNLOADER_CLIENT_TLS_CIPHERS")
        if ciphers and ciphers != "DEFAULT":
            options[pycurl.SSL_CIPHER_LIST] = ciphers
        if config.flag(settings, "DOWNLOAD_VERIFY_CERTIFICATES"):
            options |= _trusted()
        else:
            for option in (pycurl.SSL_VERIFYPEER, pycurl.SSL_VERIFYHOST):
                options[option] = 0
            options[pycurl.PROXY_SSL_VERIFYPEER] = options[pycurl.PROXY_SSL_VERIFYHOST] = 0
        if bind := settings.get("DOWNLOAD_BIND_ADDRESS"):
            options |= _bound(bind)
        return cls(options)

    def new(self) -> pycurl.Curl:
        """Returns a handle for GET requests; `ask_more` makes it one for another request."""
        curl = pycurl.Curl()
        for option, value in self._options.items():
            curl.setopt(option, value)
        return curl


def is_plain(request: Request) -> bool:
    """Whether a request needs nothing but a URL and headers: such handles are used again as they are."""
    meta = request.meta
    return request.method == "GET" and not (request.body or meta.get("proxy") or meta.get("bindaddress"))


def ask_more(curl: pycurl.Curl, request: Request, proxy: str | None) -> None:
    """Sets what a request has besides its URL and headers.

    Raises:
        ValueError: The method is none.
    """
    if not _METHOD.fullmatch(request.method):
        raise ValueError(f"no method: {request.method[:40]!r}")
    if request.method == "HEAD":
        curl.setopt(pycurl.NOBODY, 1)
    elif request.body or request.method in ("POST", "PUT", "PATCH"):
        curl.setopt(pycurl.POSTFIELDS, request.body)
        curl.setopt(pycurl.CUSTOMREQUEST, request.method)
    elif request.method != "GET":
        curl.setopt(pycurl.CUSTOMREQUEST, request.method)
    if not may_go_again(request):
        curl.setopt(pycurl.FRESH_CONNECT, 1)  # libcurl sends again what is lost on a kept connection
    if bind := request.meta.get("bindaddress"):
        for option, value in _bound(bind).items():
            curl.setopt(option, value)
    if proxy is not None:
        curl.setopt(pycurl.PROXY, proxy)
        lines = [b"%b: %b" % (_PROXY_AUTHORIZATION, value) for value in request.headers.getlist(_PROXY_AUTHORIZATION)]
        curl.setopt(pycurl.PROXYHEADER, [_ODD.sub(b" ", line) for line in lines])


def header_lines(request: Request) -> list[bytes]:
    """Returns a request's headers as libcurl wants them, a line each, and without those that it would add."""
    headers = request.headers
    lines = [
        b"%b: %b" % (name, value) if value else name + b";"
        for name, values in dict.items(headers)
        if name not in _COUNTED and name != _PROXY_AUTHORIZATION
        for value in values
    ]
    lines += [b"%b:" % name for name in (b"Accept", b"Content-Type", b"Expect") if not dict.__contains__(headers, name)]
    return [_ODD.sub(b" ", line) for line in lines]


def _tls_version(settings: BaseSettings, key: str) -> tuple[int, int] | None:
    value = settings.get(key)
    if value is None:
        return None
    if value not in _TLS_VERSIONS:
        raise ConfigError(key, value, f"one of {', '.join(_TLS_VERSIONS)}")
    return _TLS_VERSIONS[value]


def _trusted() -> dict[int, Any]:
    """Returns who is trusted: the system's authorities, or those of SSL_CERT_FILE and SSL_CERT_DIR, as in Scrapy.

    A folder keeps libcurl from remembering what it has read, at some ms for each connection; so only where it must.
    """
    paths = ssl.get_default_verify_paths()
    options: dict[int, Any] = {}
    if paths.cafile:
        options[pycurl.CAINFO] = options[pycurl.PROXY_CAINFO] = paths.cafile
    if paths.capath and (not paths.cafile or paths.openssl_capath_env in os.environ):
        options[pycurl.CAPATH] = options[pycurl.PROXY_CAPATH] = paths.capath
    return options


def _bound(address: str | tuple[str, int]) -> dict[int, Any]:
    """Returns how a request leaves from one of the machine's addresses."""
    host, port = (address, 0) if isinstance(address, str) else address
    return {pycurl.INTERFACE: f"host!{host}", **({pycurl.LOCALPORT: port} if port else {})}
