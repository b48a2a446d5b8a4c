from __future__ import annotations

from contextlib import closing

import pytest

from crawler.base.errors import ConfigError, UnavailableError
from crawler.servers.kafka_clients import kafka_admin, kafka_producer, kafka_security

NOWHERE = "127.0.0.1:1"
pytestmark = pytest.mark.filterwarnings("ignore:unclosed <s:ResourceWarning")  # its failed connects leave some


@pytest.mark.parametrize("servers", ["", " , ", []])
def test_kafka_needs_an_address(servers):
    with pytest.raises(ConfigError, match="KAFKA_BOOTSTRAP_SERVERS"):
        kafka_producer({"KAFKA_BOOTSTRAP_SERVERS": servers})


@pytest.mark.parametrize("servers", [NOWHERE, f"{NOWHERE},[::1]:1", [NOWHERE], "127.0.0.1:99999", "host.invalid"])
def test_an_unreachable_kafka_is_told_by_its_address(servers):
    with pytest.raises(UnavailableError, match=r"^Kafka at .*(127\.0\.0\.1|host\.invalid).*: no connection$"):
        kafka_admin({"KAFKA_BOOTSTRAP_SERVERS": servers})


def test_kafka_is_reached_if_one_of_its_addresses_answers(kafka_server):
    settings = {"KAFKA_BOOTSTRAP_SERVERS": f"{NOWHERE}, {kafka_server.bootstrap}"}
    with closing(kafka_admin(settings)) as client:
        assert client.describe_cluster()["brokers"]


KAFKA_TLS = {"KAFKA_SECURITY_PROTOCOL": "SASL_SSL", "KAFKA_SASL_MECHANISM": "PLAIN", "KAFKA_SASL_PASSWORD": "secret"}


def test_kafkas_security_comes_from_settings_and_environment(monkeypatch, tmp_path):
    authority = tmp_path / "ca.pem"
    authority.write_text("")
    assert kafka_security({}) == {"security_protocol": "PLAINTEXT"}
    monkeypatch.setenv("KAFKA_SASL_PASSWORD", KAFKA_TLS["KAFKA_SASL_PASSWORD"])
    settings = {name: value for name, value in KAFKA_TLS.items() if name != "KAFKA_SASL_PASSWORD"}
    settings |= {"KAFKA_SASL_USERNAME": "crawler", "KAFKA_SSL_CAFILE": str(authority), "KAFKA_SSL_KEYFILE": ""}
    assert kafka_security(settings) == {
        "security_protocol": "SASL_SSL",
        "sasl_mechanism": "PLAIN",
        "sasl_plain_username": "crawler",
        "sasl_plain_password": "secret",
        "ssl_cafile": str(authority),
    }


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"KAFKA_SECURITY_PROTOCOL": "TLS"}, "KAFKA_SECURITY_PROTOCOL"),
        ({"KAFKA_SECURITY_PROTOCOL": ""}, "KAFKA_SECURITY_PROTOCOL"),
        ({"KAFKA_SECURITY_PROTOCOL": "SSL"}, "KAFKA_SECURITY_PROTOCOL"),
        ({"KAFKA_SECURITY_PROTOCOL": "SASL_PLAINTEXT", "KAFKA_SSL_CAFILE": "ca.pem"}, "KAFKA_SECURITY_PROTOCOL"),
        ({"KAFKA_SSL_CAFILE": "/nonexistent/ca.pem"}, "KAFKA_SSL_CAFILE"),
        ({"KAFKA_SASL_MECHANISM": ""}, "KAFKA_SASL_MECHANISM"),
        ({"KAFKA_SASL_MECHANISM": "plain"}, "KAFKA_SASL_MECHANISM"),
    ],
)
def test_a_security_that_contradicts_itself_is_refused_without_its_secrets(change, named):
    with pytest.raises(ConfigError) as error:
        kafka_producer({"KAFKA_BOOTSTRAP_SERVERS": NOWHERE, **KAFKA_TLS, **change})
    assert error.value.key == named
    assert "secret" not in str(error.value)


def refusal(settings) -> str:
    with pytest.raises(UnavailableError) as error:
        kafka_producer(settings)
    return str(error.value)


def test_a_refused_kafka_password_is_not_shown(monkeypatch, kafka_server):
    monkeypatch.setattr("crawler.servers.kafka_clients.BOOTSTRAP_MILLISECONDS", 200)
    security = {**KAFKA_TLS, "KAFKA_SECURITY_PROTOCOL": "SASL_PLAINTEXT", "KAFKA_SASL_USERNAME": "crawler"}
    assert "secret" not in refusal({"KAFKA_BOOTSTRAP_SERVERS": kafka_server.bootstrap, **security})
