"""Servers of the tests that want TLS and a password."""

from __future__ import annotations

import subprocess
from contextlib import closing

from kafka import KafkaAdminClient
from kafka.errors import KafkaError
from pymongo import MongoClient
from pymongo.errors import PyMongoError

from crawler.base.errors import UnavailableError
from testbed.servers import Kafka, Mongo
from testbed.servers import kafka as kafka_server

USER, PASSWORD = "crawler", "hunter22"
BROKER = """\
sasl.enabled.mechanisms=PLAIN
sasl.mechanism.inter.broker.protocol=PLAIN
listener.name.sasl_ssl.plain.sasl.jaas.config=org.apache.kafka.common.security.plain.PlainLoginModule required \
username="broker" password="broker" user_broker="broker" user_{user}="{password}";
ssl.keystore.type=PEM
ssl.keystore.location={key_and_certificate}
ssl.truststore.type=PEM
ssl.truststore.location={certificate}
"""


class Certificate:
    """A certificate for 127.0.0.1 that vouches for itself, with its key, as PEM files in a folder."""

    def __init__(self, folder):
        folder.mkdir(parents=True, exist_ok=True)
        self.key, self.certificate, self.both = (folder / f"{name}.pem" for name in ("key", "certificate", "both"))
        command = f"openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost -keyout {self.key}"
        command += f" -out {self.certificate} -addext subjectAltName=IP:127.0.0.1,DNS:localhost"
        try:
            subprocess.run(command.split(), check=True, capture_output=True)
        except (OSError, subprocess.CalledProcessError) as error:
            raise UnavailableError(f"openssl: {error}") from None
        self.both.write_text(self.key.read_text() + self.certificate.read_text())


class SecuredKafka(Kafka):
    """A broker with SASL_SSL and one user."""

    def __init__(self, folder):
        super().__init__(folder)
        self.tls = Certificate(folder / "kafka-tls")

    @property
    def settings(self):
        return {
            "KAFKA_BOOTSTRAP_SERVERS": self.bootstrap,
            "KAFKA_SECURITY_PROTOCOL": "SASL_SSL",
            "KAFKA_SASL_MECHANISM": "PLAIN",
            "KAFKA_SASL_USERNAME": USER,
            "KAFKA_SASL_PASSWORD": PASSWORD,
            "KAFKA_SSL_CAFILE": str(self.tls.certificate),
        }

    def _format(self):
        super()._format()
        text = self._properties.read_text()
        text = text.replace("listeners=PLAINTEXT", "listeners=SASL_SSL").replace("name=PLAINTEXT", "name=SASL_SSL")
        text = text.replace(",PLAINTEXT:PLAINTEXT", ",SASL_SSL:SASL_SSL")
        secrets = {"key_and_certificate": self.tls.both, "certificate": self.tls.certificate}
        self._properties.write_text(text + BROKER.format(user=USER, password=PASSWORD, **secrets))

    def _answers(self):
        try:
            client = KafkaAdminClient(
                bootstrap_servers=self.bootstrap,
                bootstrap_timeout_ms=int(1000 * kafka_server.PROBE_SECONDS),
                security_protocol="SASL_SSL",
                sasl_mechanism="PLAIN",
                sasl_plain_username=USER,
                sasl_plain_password=PASSWORD,
                ssl_cafile=str(self.tls.certificate),
            )
        except (OSError, KafkaError):
            return False
        with closing(client):
            return bool(client.describe_cluster()["brokers"])


class SecuredMongo(Mongo):
    """A server with TLS and one user."""

    def __init__(self, folder):
        super().__init__(folder)
        self.tls = Certificate(folder / "mongo-tls")
        self._secured = False
        self.query = f"?authSource=admin&tls=true&tlsCAFile={self.tls.certificate}"
        self.secured_url = self.url.replace("://", f"://{USER}:{PASSWORD}@") + f"/{self.query}"

    def start(self):
        super().start()
        with MongoClient(self.url) as client:
            client.admin.command("createUser", USER, pwd=PASSWORD, roles=["root"])
        self.stop()
        self._command += ("--auth", "--tls-cert-file", str(self.tls.certificate), "--tls-key-file", str(self.tls.key))
        self._secured = True
        super().start()

    def _answers(self):
        if not self._secured:
            return super()._answers()
        try:
            with MongoClient(self.secured_url, serverSelectionTimeoutMS=1_000) as client:
                client.admin.command("ping")
        except PyMongoError:
            return False
        return True
