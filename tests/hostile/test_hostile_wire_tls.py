"""TLS: certificates are verified by default, and a handshake is as bounded as an answer."""

from __future__ import annotations

import datetime as dt
import ipaddress
import ssl
from itertools import chain

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from hostile.hostile_wire_bodies import answer, forever
from hostile.hostile_wire_cases import FINISH
from hostile.hostile_wire_server import HOLD
from hostile.hostile_wire_worker import HANDLERS, TROUBLE, Worker, hosts

DAY = dt.timedelta(days=1)
ADDRESS = x509.IPAddress(ipaddress.ip_address("127.0.0.1"))
CERTIFICATE = b"\x16\x03\x03\x40\x00" + bytes(16_384)  # looks like the beginning of a handshake
OTHER_ENDS = {"curl": {"without-end": "connection"}}  # it would hold libcurl for ever: the watchdog cuts it off
OTHER = x509.DNSName("other.test")


class Authority:
    """Signs certificates; its own is in `folder/authority.pem`."""

    def __init__(self, folder):
        self.folder = folder
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "Test authority")])
        self.file = folder / "authority.pem"
        self.file.write_bytes(self._signed(self._name, self._key.public_key(), authority=True))

    def certificate(self, name, subject=ADDRESS, *, since=-DAY, until=DAY, self_signed=False):
        """Returns the context of a server that shows such a certificate; `since` and `until` count from now."""
        key = ec.generate_private_key(ec.SECP256R1())
        own = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
        signer = (key, own) if self_signed else (self._key, self._name)
        file = self.folder / f"{name}.pem"
        file.write_bytes(
            key.private_bytes(
                serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
            )
            + self._signed(own, key.public_key(), subject=subject, since=since, until=until, signer=signer)
        )
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(file)
        return context

    def _signed(self, name, key, *, subject=None, since=-DAY, until=DAY, authority=False, signer=None):
        signing_key, issuer = signer or (self._key, self._name)
        now = dt.datetime.now(dt.UTC)
        builder = (
            x509.CertificateBuilder(issuer, name, key, x509.random_serial_number(), now + since, now + until)
            .add_extension(x509.BasicConstraints(ca=authority, path_length=None), critical=True)
            .add_extension(x509.SubjectKeyIdentifier.from_public_key(key), critical=False)
            .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(signing_key.public_key()), critical=False)
        )
        if subject is not None:
            builder = builder.add_extension(x509.SubjectAlternativeName([subject]), critical=False)
        return builder.sign(signing_key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM)


@pytest.fixture(scope="module")
def authority(tmp_path_factory):
    return Authority(tmp_path_factory.mktemp("certificates"))


@pytest.fixture(scope="module")
def places(authority):
    """What servers show, by name: arguments of a host, and how a page ends when certificates are verified."""

    def shows(name, ends, subject=ADDRESS, **options):
        tls = authority.certificate(name, subject, **options)
        return {"script": lambda _path: [answer()], "tls": tls}, ends

    def sends(ends, *steps, then=()):
        return {"script": lambda _path: chain(steps, then), "raw": True}, ends

    return {
        "a-good-one": shows("good", FINISH),
        "self-signed": shows("self-signed", "tls", self_signed=True),
        "of-another-host": shows("another", "tls", OTHER),
        "of-no-host": shows("none", "tls", None),
        "expired": shows("expired", "tls", since=-2 * DAY, until=-DAY),
        "of-tomorrow": shows("tomorrow", "tls", since=DAY, until=2 * DAY),
        "none-but-http": sends("tls", answer()),
        "endless-http": sends("tls", then=forever(answer())),
        "none-ever": sends("timeout", HOLD),
        "by-the-byte": sends("timeout", CERTIFICATE[:5], then=forever(b"x", 0.2)),
        "without-end": sends("timeout", then=forever(CERTIFICATE)),
        "closed-at-once": sends("connection"),
        "closed-after-the-hello": sends("connection", 0.2),
    }


def crawled(redis_server, folder, authority, places, **settings):
    """Crawls a page of each place; returns how they ended, and the worker's log."""
    settings = {"ROBOTSTXT_OBEY": 0, **settings}  # or all would end as `robots-unreachable`
    worker = Worker(redis_server, folder, settings, SSL_CERT_FILE=str(authority.file))
    with hosts(*(arguments for arguments, _ in places.values())) as started, worker.process as process:
        ended = worker.crawl([host.page for host in started])
        assert process.running
    return dict(zip(places, ended.values(), strict=True)), worker.log


@pytest.mark.parametrize("handler", HANDLERS)
def test_certificates_are_verified_and_handshakes_end(redis_server, tmp_path, authority, places, handler):
    ended, log = crawled(redis_server, tmp_path, authority, places, **HANDLERS[handler])
    assert ended == {name: ends for name, (_, ends) in places.items()} | OTHER_ENDS.get(handler, {})
    assert not TROUBLE.search(log), [line for line in log.splitlines() if TROUBLE.search(line)][:5]


@pytest.mark.parametrize("handler", HANDLERS)
def test_they_aren_t_verified_when_the_operator_says_so(redis_server, tmp_path, authority, places, handler):
    signed = {name: place for name, place in places.items() if "tls" in place[0]}
    ended, log = crawled(redis_server, tmp_path, authority, signed, DOWNLOAD_VERIFY_CERTIFICATES=0, **HANDLERS[handler])
    assert set(ended.values()) == {FINISH}
    assert not TROUBLE.search(log)
