"""What libcurl is told: options of every handle, by the settings, and options of one request.

libcurl follows no redirects and decodes no bodies here, resolves no names, keeps no cookies, reads neither .netrc nor
proxies of the environment, and adds no headers to Scrapy's but Host and Content-Length.
"""

from __future__ import annotations

import base64
import os
import re
import ssl
import time
from typing import TYPE_CHECKING, Any, Self

import pycurl

from crawler import config
from crawler.base.errors import ConfigError
from crawler.download.targets import scheme_and_authority, url_to_send

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.settings import BaseSettings

    from crawler.download.targets import Target

TCP_CONNECT_SECONDS = 30.0  # how long a connect may take: four tries of TCP lie within, or a slow handshake
IDLE_SECONDS = 30  # how long a connection is kept for the next request: few hosts are asked again later
# What changes something isn't sent again when a kept connection loses it, so it goes over none that the server may just
# be closing: the shortest time that servers keep idle ones is 5 s, of Apache and Node.
UNSAFE_IDLE_SECONDS = 4
# libcurl's options that pycurl has no names for.
_SUPPRESS_CONNECT_HEADERS, _DISALLOW_USERNAME_IN_URL = 265, 278
CONNECT_UPGRADED = 2  # the value of CONNECT_ONLY with which a transfer ends once the server has agreed to a WebSocket
_METHOD = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_LINE_ENDS = re.compile(rb"[\r\n\0]+")  # these would end the header that they stand in
_BODY_LENGTH = frozenset({b"Content-Length", b"Transfer-Encoding"})  # libcurl sets them by the body
_PROXY_AUTHORIZATION = b"Proxy-Authorization"
_TLS_VERSIONS = {
    "TLSv1.0": (pycurl.SSLVERSION_TLSv1_0, pycurl.SSLVERSION_MAX_TLSv1_0),
    "TLSv1.1": (pycurl.SSLVERSION_TLSv1_1, pycurl.SSLVERSION_MAX_TLSv1_1),
    "TLSv1.2": (pycurl.SSLVERSION_TLSv1_2, pycurl.SSLVERSION_MAX_TLSv1_2),
    "TLSv1.3": (pycurl.SSLVERSION_TLSv1_3, pycurl.SSLVERSION_MAX_TLSv1_3),
}
# Settings that libcurl can't keep: what they would change would silently stay as it is.
_FOR_TWISTED = (
    ("DOWNLOADER_CLIENTCONTEXTFACTORY", "SENTINEL", "none: it makes contexts for Twisted, which libcurl can't use"),
    ("DOWNLOADER_CLIENT_TLS_METHOD", "TLS", "TLS; DOWNLOAD_TLS_MIN_VERSION and DOWNLOAD_TLS_MAX_VERSION say which"),
)


class CurlOptions:
    """The options of every handle.

    Args:
        options: Beside those that no setting changes.
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
            pycurl.CONNECTTIMEOUT_MS: int(TCP_CONNECT_SECONDS * 1000),
            pycurl.MAXAGE_CONN: IDLE_SECONDS,
            _SUPPRESS_CONNECT_HEADERS: 1,
            _DISALLOW_USERNAME_IN_URL: 1,
            **options,
        }

    @classmethod
    def from_settings(cls, settings: BaseSettings) -> Self:
        """Reads what Scrapy's handlers read about TLS and the machine's own address.

        Raises:
            ConfigError: There is no such TLS version or cipher, a flag is neither on nor off, or a setting is for
                Twisted alone.
        """
        for key, value, expectation in _FOR_TWISTED:
            if settings.get(key) != value:
                raise ConfigError(key, settings.get(key), expectation)
        low, high = (_tls_version(settings, f"DOWNLOAD_TLS_{bound}_VERSION") for bound in ("MIN", "MAX"))
        least = low[0] if low else pycurl.SSLVERSION_TLSv1_2
        options: dict[int, Any] = {pycurl.SSLVERSION: least | (high[1] if high else 0)}
        ciphers = settings.get("DOWNLOADER_CLIENT_TLS_CIPHERS")
        if ciphers and ciphers != "DEFAULT":
            options[pycurl.SSL_CIPHER_LIST] = _checked_ciphers(ciphers)
        if config.DOWNLOAD_VERIFY_CERTIFICATES.of(settings):
            options |= _authorities()
        else:
            for option in (pycurl.SSL_VERIFYPEER, pycurl.SSL_VERIFYHOST):
                options[option] = 0
            options[pycurl.PROXY_SSL_VERIFYPEER] = options[pycurl.PROXY_SSL_VERIFYHOST] = 0
        if bind := settings.get("DOWNLOAD_BIND_ADDRESS"):
            options |= _bind_options(bind)
        return cls(options)

    def new_handle(self) -> pycurl.Curl:
        """Returns a handle for GET requests."""
        curl = pycurl.Curl()
        for option, value in self._options.items():
            curl.setopt(option, value)
        return curl


def is_simple(request: Request) -> bool:
    """Returns whether a request consists of a URL and headers alone.

    All other options of its handle are then those of every simple request, so the next one can use the handle as it is.
    """
    meta = request.meta
    return request.method == "GET" and not (request.body or meta.get("proxy") or meta.get("bindaddress"))


def is_safe(request: Request) -> bool:
    """Returns whether the request changes nothing at the server, and so may be sent again (RFC 9110, 9.2.1)."""
    return request.method in ("GET", "HEAD", "OPTIONS", "TRACE")


def set_timeout(curl: pycurl.Curl, deadline_s: float) -> None:
    """Sets when the transfer ends at the latest, by `time.monotonic()`."""
    curl.setopt(pycurl.TIMEOUT_MS, max(int((deadline_s - time.monotonic()) * 1000), 1))


def set_method(curl: pycurl.Curl, request: Request) -> None:
    """Sets the request's method and body.

    Raises:
        ValueError: The method isn't one.
    """
    if not _METHOD.fullmatch(request.method):
        raise ValueError(f"no method: {request.method[:40]!r}")
    if request.method == "HEAD":
        curl.setopt(pycurl.NOBODY, 1)
    elif request.body or request.method in ("POST", "PUT"):  # these say so if they have no body (RFC 9110, 8.6)
        curl.setopt(pycurl.POSTFIELDS, request.body)
        curl.setopt(pycurl.CUSTOMREQUEST, request.method)
    elif request.method != "GET":
        curl.setopt(pycurl.CUSTOMREQUEST, request.method)
    if not is_safe(request):
        curl.setopt(pycurl.MAXAGE_CONN, UNSAFE_IDLE_SECONDS)


def set_http1(curl: pycurl.Curl, *, on: bool) -> None:
    """Sets that a request goes in HTTP/1.1, or in what the server and libcurl agree on."""
    curl.setopt(pycurl.HTTP_VERSION, pycurl.CURL_HTTP_VERSION_1_1 if on else pycurl.CURL_HTTP_VERSION_NONE)


def set_resend(curl: pycurl.Curl, *, on: bool) -> None:
    """Sets that a request that was sent in vain goes over a new connection, in HTTP/1.1, or takes that back."""
    curl.setopt(pycurl.FRESH_CONNECT, int(on))
    set_http1(curl, on=on)


def set_route(curl: pycurl.Curl, request: Request, target: Target) -> None:
    """Sets the addresses to connect to, the request's own address at this end, and the proxy."""
    if not target.literal:
        addresses = ",".join(f"[{address}]" if ":" in address else address for address in target.addresses)
        curl.setopt(pycurl.RESOLVE, [f"+{target.host}:{target.port}:{addresses}"])  # +: forgotten after a minute
    if bind := request.meta.get("bindaddress"):
        for option, value in _bind_options(bind).items():
            curl.setopt(option, value)
    if target.proxy is not None:
        curl.setopt(pycurl.PROXY, target.proxy)
        _set_account(curl, request)


def set_connect_only(curl: pycurl.Curl, request: Request, target: Target) -> None:
    """Sets that a connection to the server of a request is opened, through the proxy and TLS, and no more is done."""
    curl.setopt(pycurl.URL, url_to_send(request.url))
    curl.setopt(pycurl.HTTP_VERSION, pycurl.CURL_HTTP_VERSION_1_1)
    curl.setopt(pycurl.FRESH_CONNECT, 1)
    curl.setopt(pycurl.CONNECT_ONLY, 1)
    set_route(curl, request, target)
    curl.setopt(pycurl.FORBID_REUSE, 0)  # else the connection ends at once, whosever account it is of


def set_upgrade(curl: pycurl.Curl, request: Request, target: Target) -> None:
    """Sets that a WebSocket is opened at the http(s) address of a request; the transfer ends once that is done."""
    curl.setopt(pycurl.URL, "ws" + url_to_send(request.url).removeprefix("http"))
    curl.setopt(pycurl.PROTOCOLS, pycurl.PROTO_ALL)  # those of WebSockets have no bit; no redirect is followed
    curl.setopt(pycurl.HTTPHEADER, header_lines(request))
    curl.setopt(pycurl.FRESH_CONNECT, 1)
    curl.setopt(pycurl.CONNECT_ONLY, CONNECT_UPGRADED)
    set_route(curl, request, target)


def set_connected_request(curl: pycurl.Curl, request: Request, target: Target) -> None:
    """Sets a request that is sent over a connection opened by another handle (see `set_connect_only`).

    That connection does TLS and speaks to the proxy. This handle must do neither, so it gets a placeholder as its URL
    that only means HTTP/1.1 without TLS. libcurl has checked the real URL when the connection was opened.
    """
    url = url_to_send(request.url)
    begin = scheme_and_authority(url)
    scheme, _, authority = begin.partition("://")
    path = url[len(begin) :]
    path = path if path.startswith("/") else f"/{path}"
    lines = []
    if b"Host" not in request.headers:
        lines.append(f"Host: {authority.removesuffix(':443' if scheme == 'https' else ':80')}".encode())
    if target.proxy is not None and scheme == "http" and target.proxy.startswith("http"):
        path = f"{begin}{path}"  # the absolute form, which such a proxy wants (RFC 9112, 3.2.2)
        lines += _proxy_authorization(request)
    curl.setopt(pycurl.URL, "http://127.0.0.1/")
    curl.setopt(pycurl.REQUEST_TARGET, path)
    curl.setopt(pycurl.HTTPHEADER, lines + header_lines(request))
    curl.setopt(pycurl.FRESH_CONNECT, 1)
    curl.setopt(pycurl.FORBID_REUSE, 1)
    set_method(curl, request)


def header_lines(request: Request) -> list[bytes]:
    """Returns a request's headers as lines for libcurl; `Name:` alone keeps it from adding a header of its own."""
    headers = request.headers
    lines = [
        b"%b: %b" % (name, value) if value else name + b";"
        for name, values in dict.items(headers)
        if name not in _BODY_LENGTH and name != _PROXY_AUTHORIZATION
        for value in values
    ]
    lines += [b"%b:" % name for name in (b"Accept", b"Content-Type", b"Expect") if not dict.__contains__(headers, name)]
    return [_LINE_ENDS.sub(b" ", line) for line in lines]


def _set_account(curl: pycurl.Curl, request: Request) -> None:
    """Sets whose account at the proxy a request is for: a connection, or a tunnel through it, is of one account.

    libcurl uses a connection again only for the same name and password. Of other credentials it knows nothing, so a
    connection with such is not kept.
    """
    values = request.headers.getlist(_PROXY_AUTHORIZATION)
    if account := _name_and_password(values):
        for option, value in zip((pycurl.PROXYUSERNAME, pycurl.PROXYPASSWORD), account, strict=True):
            curl.setopt(option, value)
    elif values:
        curl.setopt(pycurl.PROXYHEADER, _proxy_authorization(request))
        curl.setopt(pycurl.FRESH_CONNECT, 1)
        curl.setopt(pycurl.FORBID_REUSE, 1)


def _name_and_password(values: list[bytes]) -> tuple[bytes, bytes] | None:
    """Returns what Proxy-Authorization says in the Basic scheme (RFC 7617); None for anything else."""
    scheme, _, encoded = values[0].partition(b" ") if len(values) == 1 else (b"", b"", b"")
    try:
        name, _, password = base64.b64decode(encoded, validate=True).partition(b":")
    except ValueError:
        return None
    is_account = scheme.lower() == b"basic" and name and b"\0" not in name + password
    return (name, password) if is_account else None


def _proxy_authorization(request: Request) -> list[bytes]:
    values = request.headers.getlist(_PROXY_AUTHORIZATION)
    return [b"%b: %b" % (_PROXY_AUTHORIZATION, _LINE_ENDS.sub(b" ", value)) for value in values]


def _tls_version(settings: BaseSettings, key: str) -> tuple[int, int] | None:
    value = settings.get(key)
    if value is None:
        return None
    if value not in _TLS_VERSIONS:
        raise ConfigError(key, value, f"one of {', '.join(_TLS_VERSIONS)}")
    return _TLS_VERSIONS[value]


def _checked_ciphers(ciphers: str) -> str:
    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT).set_ciphers(ciphers)  # OpenSSL's, as libcurl's are
    except ssl.SSLError:
        raise ConfigError("DOWNLOADER_CLIENT_TLS_CIPHERS", ciphers, "a list of ciphers as OpenSSL writes it") from None
    return ciphers


def _authorities() -> dict[int, Any]:
    """Returns which authorities are trusted: the system's, or those of SSL_CERT_FILE and SSL_CERT_DIR, as in Scrapy.

    Those in a folder libcurl reads again for each connection, at some ms; so a folder is named only where it must be.
    """
    paths = ssl.get_default_verify_paths()
    options: dict[int, Any] = {}
    if paths.cafile:
        options[pycurl.CAINFO] = options[pycurl.PROXY_CAINFO] = paths.cafile
    if paths.capath and (not paths.cafile or paths.openssl_capath_env in os.environ):
        options[pycurl.CAPATH] = options[pycurl.PROXY_CAPATH] = paths.capath
    return options


def _bind_options(address: str | tuple[str, int]) -> dict[int, Any]:
    """Returns how a request leaves from one of the machine's addresses, from a given port if there is one."""
    host, port = (address, 0) if isinstance(address, str) else address
    return {pycurl.INTERFACE: f"host!{host}", **({pycurl.LOCALPORT: port} if port else {})}
