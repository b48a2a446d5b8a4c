"""An authority of our own, and the certificates that it signs, good and bad."""

from __future__ import annotations

import datetime as dt
import ipaddress
import ssl

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

DAY = dt.timedelta(days=1)
THIS_HOST = x509.IPAddress(ipaddress.ip_address("127.0.0.1"))
OTHER_HOST = x509.DNSName("other.test")


class Authority:
    """Signs certificates; its own is in `folder/authority.pem`."""

    def __init__(self, folder):
        self.folder = folder
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "Test authority")])
        self.file = folder / "authority.pem"
        self.file.write_bytes(self._signed(self._name, self._key.public_key(), authority=True))

    def certificate(self, name, subject=THIS_HOST, *, since=-DAY, until=DAY, self_signed=False):
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
