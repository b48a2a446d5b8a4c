from __future__ import annotations

import gc
from contextlib import closing

import pytest
import redis
from pymongo import WriteConcern

from crawler.errors import ConfigError, UnavailableError
from crawler.servers import connections

NOWHERE = "127.0.0.1:1"
leaves_sockets = pytest.mark.filterwarnings(
    "ignore:unclosed <socket:ResourceWarning"
)  # Kafka's library, where it can't connect


@pytest.fixture
def collected():
    """Has what a test left collected while the warning about it is off."""
    yield
    gc.collect()


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("redis://127.0.0.1:6379/0", "redis://127.0.0.1:6379/0"),
        ("rediss://user:secret@cache.example:6380/2", "rediss://cache.example:6380/2"),
        ("redis://:secret@h:1", "redis://h:1"),
        ("redis://h:1/0?password=secret", "redis://h:1/0"),
        ("unix://user:secret@/run/redis.sock?db=1", "unix:///run/redis.sock"),
        ("mongodb://user:secret@a:1,b:2/db?authSource=admin", "mongodb://a:1,b:2/db"),
        ("mongodb+srv://user:secret@cluster.example", "mongodb+srv://cluster.example"),
        ("kafka-1.example:9092", "kafka-1.example:9092"),
        ("user:secret@h:9092", "h:9092"),
        ("redis://user:se/cr@et?@h:1/0", "redis://h:1/0"),  # unescaped, as people do
        ("redis://user:secret@", "redis://"),
        ("", ""),
    ],
)
def test_an_address_is_shown_without_its_secrets(url, shown):
    assert connections.redacted(url) == shown


@pytest.mark.parametrize("opened", [connections.redis_async, connections.redis_sync])
@pytest.mark.parametrize("url", ["http://user:secret@h/0", "redis://user:secret:x@h:port/0", "h:6379"])
def test_a_redis_url_that_is_none_is_refused_without_its_secrets(opened, url):
    with pytest.raises(ConfigError) as error:
        opened({"REDIS_URL": url})
    assert "REDIS_URL" in str(error.value)
    assert "secret" not in str(error.value)


@pytest.mark.parametrize("opened", [connections.redis_async, connections.redis_sync])
def test_redis_takes_what_the_url_says_and_never_retries(opened):
    client = opened({"REDIS_URL": "rediss://user:p%40ss@h:1/2?socket_timeout=1"})
    options = client.connection_pool.connection_kwargs
    assert (options["username"], options["password"], options["db"]) == ("user", "p@ss", 2)
    assert options["socket_timeout"] == 1
    assert options["socket_connect_timeout"] == connections.REDIS_CONNECT_SECONDS
    assert options["retry"].get_retries() == 0
    assert "SSL" in client.connection_pool.connection_class.__name__


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({}, {"host": "127.0.0.1", "port": 6379, "db": 0}),
        ({"REDIS_URL": connections.DEFAULT_REDIS_URL, "REDIS_HOST": "h"}, {"host": "h", "port": 6379, "db": 0}),
        ({"REDIS_HOST": "h", "REDIS_PORT": "7000", "REDIS_DB": 3}, {"host": "h", "port": 7000, "db": 3}),
        ({"REDIS_URL": "redis://other:1/1", "REDIS_HOST": "h"}, {"host": "other", "port": 1, "db": 1}),
        ({"REDIS_PARAMS": {"password": "p", "redis_cls": "redis.Redis"}}, {"password": "p"}),
        ({"REDIS_PARAMS": '{"socket_timeout": 9, "decode_responses": true}'}, {"socket_timeout": 9}),
    ],
)
def test_settings_of_scrapy_redis_count_where_the_url_is_not_set(settings, expected):
    options = connections.redis_sync(settings).connection_pool.connection_kwargs
    assert {key: options[key] for key in expected} == expected
    assert options["decode_responses"] is False
    assert "redis_cls" not in options


@pytest.mark.parametrize("params", ["password=secret", 5, ["secret"]])
def test_redis_params_that_are_none_are_refused_without_their_secrets(params):
    with pytest.raises(ConfigError) as error:
        connections.redis_sync({"REDIS_PARAMS": params})
    assert "REDIS_PARAMS" in str(error.value)
    assert "secret" not in str(error.value)


async def test_redis_answers_to_a_user_of_its_acl(redis_server):
    with closing(connections.redis_sync({"REDIS_URL": redis_server.url})) as admin:
        admin.execute_command("ACL", "SETUSER", "crawler", "on", ">p@ss", "+@all", "~*")
        try:
            url = f"redis://crawler:p%40ss@127.0.0.1:{redis_server.port}/0"
            async with connections.redis_async({"REDIS_URL": url}) as client:
                assert await client.execute_command("ACL", "WHOAMI") == b"crawler"
        finally:
            admin.execute_command("ACL", "DELUSER", "crawler")


async def test_an_unreachable_redis_fails_at_once():
    settings = {"REDIS_URL": f"redis://user:secret@{NOWHERE}/0"}
    with closing(connections.redis_sync(settings)) as client, pytest.raises(redis.ConnectionError) as error:
        client.ping()
    assert "secret" not in str(error.value)
    async with connections.redis_async(settings) as client:
        with pytest.raises(redis.ConnectionError):
            await client.ping()


async def test_mongo_writes_to_the_majority_unless_the_url_says_otherwise():
    async with connections.mongo({"MONGO_URL": "mongodb://h/?retryWrites=false"}) as client:
        assert client.write_concern == WriteConcern("majority")
        assert client.codec_options.tz_aware
        assert client.options.server_selection_timeout == connections.MONGO_SELECT_MILLISECONDS / 1000
    async with connections.mongo({"MONGO_URL": "mongodb://h/?w=1&serverSelectionTimeoutMS=70"}) as client:
        assert client.write_concern == WriteConcern(1)
        assert client.options.server_selection_timeout == 0.07


@pytest.mark.parametrize("url", ["", "http://user:secret@h", "mongodb://user:se:cret@h", "mongodb://u:secret@h:port"])
async def test_a_mongo_url_that_is_none_is_refused_without_its_secrets(url):
    with pytest.raises(ConfigError) as error:
        connections.mongo({"MONGO_URL": url})
    assert "MONGO_URL" in str(error.value)
    assert "cret" not in str(error.value)


@pytest.mark.parametrize("servers", ["", None, " , ", []])
def test_kafka_needs_an_address(servers):
    with pytest.raises(ConfigError, match="KAFKA_BOOTSTRAP_SERVERS"):
        connections.kafka_producer({"KAFKA_BOOTSTRAP_SERVERS": servers})


@pytest.mark.parametrize("servers", [NOWHERE, f"{NOWHERE},[::1]:1", [NOWHERE], "127.0.0.1:99999", "host.invalid"])
def test_an_unreachable_kafka_is_told_by_its_address(servers):
    with pytest.raises(UnavailableError, match=r"^Kafka at .*(127\.0\.0\.1|host\.invalid).*: no connection$"):
        connections.kafka_admin({"KAFKA_BOOTSTRAP_SERVERS": servers})


@pytest.mark.usefixtures("collected")
@leaves_sockets
def test_kafka_is_reached_if_one_of_its_addresses_answers(kafka_server):
    settings = {"KAFKA_BOOTSTRAP_SERVERS": f"{NOWHERE}, {kafka_server.bootstrap}"}
    with closing(connections.kafka_admin(settings)) as client:
        assert client.describe_cluster()["brokers"]


KAFKA_TLS = {"KAFKA_SECURITY_PROTOCOL": "SASL_SSL", "KAFKA_SASL_MECHANISM": "PLAIN", "KAFKA_SASL_PASSWORD": "secret"}


@pytest.fixture
def kafka_environment(monkeypatch):
    def become(variables):
        for name in connections.KAFKA_SECURITY:
            monkeypatch.delenv(name, raising=False)
        for name, value in variables.items():
            monkeypatch.setenv(name, value)

    return become


def test_kafkas_security_comes_from_the_environment(kafka_environment, tmp_path):
    authority = tmp_path / "ca.pem"
    authority.write_text("")
    kafka_environment({})
    assert connections.kafka_security() == {}
    kafka_environment(
        {**KAFKA_TLS, "KAFKA_SASL_USERNAME": "crawler", "KAFKA_SSL_CAFILE": str(authority), "KAFKA_SSL_KEYFILE": ""}
    )
    assert connections.kafka_security() == {
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
def test_a_security_that_contradicts_itself_is_refused_without_its_secrets(kafka_environment, change, named):
    kafka_environment({**KAFKA_TLS, **change})
    with pytest.raises(ConfigError) as error:
        connections.kafka_producer({"KAFKA_BOOTSTRAP_SERVERS": NOWHERE})
    assert error.value.key == named
    assert "secret" not in str(error.value)


def refusal(settings) -> str:
    with pytest.raises(UnavailableError) as error:
        connections.kafka_producer(settings)
    return str(error.value)


@pytest.mark.usefixtures("collected")
@leaves_sockets
def test_a_refused_kafka_password_is_not_shown(monkeypatch, kafka_environment, kafka_server):
    monkeypatch.setattr(connections, "KAFKA_BOOTSTRAP_MILLISECONDS", 200)
    kafka_environment({**KAFKA_TLS, "KAFKA_SECURITY_PROTOCOL": "SASL_PLAINTEXT", "KAFKA_SASL_USERNAME": "crawler"})
    assert "secret" not in refusal({"KAFKA_BOOTSTRAP_SERVERS": kafka_server.bootstrap})
