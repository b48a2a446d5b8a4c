"""TLS certificates: a server whose certificate can't be shown to be its own is refused.

Twisted 26.10 looks at a certificate's names itself, and lets pass what it fails to look at: one of a trusted authority
without names (subjectAltName) would do for every host.
"""

from __future__ import annotations

import ipaddress
from typing import TYPE_CHECKING, Any

from OpenSSL.SSL import VERIFY_FAIL_IF_NO_PEER_CERT, VERIFY_PEER, Connection
from service_identity.hazmat import DNS_ID, IPAddress_ID, verify_service_identity
from service_identity.pyopenssl import extract_patterns
from twisted.internet.interfaces import IOpenSSLClientConnectionCreator
from twisted.python.failure import Failure
from twisted.web.iweb import IPolicyForHTTPS
from zope.interface import implementer  # type: ignore[import-untyped]

from crawler.errors import AnswerError

if TYPE_CHECKING:
    from OpenSSL.crypto import X509


@implementer(IPolicyForHTTPS)
class StrictPolicy:
    """A policy that verifies certificates, with the gap closed.

    Args:
        policy: What says which authorities and ciphers are trusted.
    """

    def __init__(self, policy: Any) -> None:
        self._policy = policy

    def creatorForNetloc(self, hostname: bytes, port: int) -> _StrictCreator:  # noqa: N802 -- Twisted's names
        """Returns what makes connections to that host."""
        return _StrictCreator(self._policy.creatorForNetloc(hostname, port), hostname.decode("ascii"))


@implementer(IOpenSSLClientConnectionCreator)
class _StrictCreator:
    def __init__(self, creator: Any, hostname: str) -> None:
        self._creator = creator
        try:
            self._name: DNS_ID | IPAddress_ID = IPAddress_ID(str(ipaddress.ip_address(hostname.strip("[]"))))
        except ValueError:
            self._name = DNS_ID(hostname)

    def clientConnectionForTLS(self, tlsProtocol: Any) -> Connection:  # noqa: N802, N803
        connection: Connection = self._creator.clientConnectionForTLS(tlsProtocol)
        protocol = tlsProtocol

        def verified(_connection: Connection, certificate: X509, _error: int, depth: int, ok: int) -> bool:
            """Called for each certificate of the chain, the server's own last; nothing may be raised."""
            nonlocal protocol
            if depth or not ok:
                return bool(ok)
            try:
                verify_service_identity(extract_patterns(certificate), [self._name], [])
            except Exception as error:  # noqa: BLE001 -- whatever it is, nothing was shown
                refused = AnswerError("tls", f"{type(error).__name__}: {error}")
                protocol.failVerification(Failure(refused))  # type: ignore[no-untyped-call]
                return False
            finally:
                protocol = None  # it holds the connection, which holds us
            return True

        connection.set_verify(VERIFY_PEER | VERIFY_FAIL_IF_NO_PEER_CERT, verified)
        return connection
