"""Opens Redis, Kafka and Mongo; nothing else does.

A client is built here and belongs to its caller, who closes it. Retrying is the callers' business: they know what a
failure costs. Credentials come in with a URL or the environment and leave in no message: `redacted` strips them.
"""

from __future__ import annotations

import logging
import os
import socket
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import parse_qsl

import orjson
from redis import Redis
from redis.asyncio import Redis as AsyncRedis
from redis.asyncio.retry import Retry as AsyncRetry
from redis.backoff import NoBackoff
from redis.retry import Retry

from crawler import config
from crawler.errors import ConfigError, UnavailableError
from crawler.servers.redis_cluster import cluster_async, cluster_sync

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kafka import KafkaAdminClient, KafkaConsumer, KafkaProducer
    from pymongo import AsyncMongoClient

DEFAULT_REDIS_URL = "redis://127.0.0.1:6379/0"
REDIS_CONNECT_SECONDS = 3.0  # a node on the same network answers within ms; a dead address must not hold a heartbeat
REDIS_SOCKET_SECONDS = 5.0  # no command of ours takes 0.1 s; a third of a session is left to try again
REDIS_HEALTH_SECONDS = 15.0  # an idle connection is checked before use: firewalls drop those silently
MONGO_SELECT_MILLISECONDS = 5_000  # pymongo's 30 s would tell of an outage too late
MONGO_SOCKET_MILLISECONDS = 20_000  # a frozen server is an outage too; a batch takes under 0.1 s
KAFKA_CONNECT_SECONDS = 3.0
KAFKA_BOOTSTRAP_MILLISECONDS = 5_000
KAFKA_BLOCK_MILLISECONDS = 5_000  # waiting for a topic's metadata
KAFKA_REQUEST_MILLISECONDS = 8_000
KAFKA_DELIVERY_MILLISECONDS = 10_000  # must exceed the request's; then the sink reports the outage and tries again
KAFKA_PORT = 9_092
KAFKA_METADATA_MILLISECONDS = 2_000  # so soon a consumer notices a new topic; the library's 5 min look like a hang
KAFKA_LINGER_MILLISECONDS = 5  # the sink batches already; this joins what its two batches send at once
KAFKA_RECONNECT_MILLISECONDS = 2_000  # longest pause between two connects; the library's 30 s would outlast the outage
KAFKA_BATCH_BYTES = 256 * 1024  # a hundred pages of text; 16 kB would send each page by itself
KAFKA_PROTOCOLS = ("PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL")
KAFKA_MECHANISMS = ("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512")  # those that a name and a password are enough for
# The environment alone says these: `-s` shows in process lists. Names as in the library, upper case, after KAFKA_.
KAFKA_SECURITY = {
    "KAFKA_SECURITY_PROTOCOL": "security_protocol",
    "KAFKA_SASL_MECHANISM": "sasl_mechanism",
    "KAFKA_SASL_USERNAME": "sasl_plain_username",
    "KAFKA_SASL_PASSWORD": "sasl_plain_password",
    "KAFKA_SSL_CAFILE": "ssl_cafile",
    "KAFKA_SSL_CERTFILE": "ssl_certfile",
    "KAFKA_SSL_KEYFILE": "ssl_keyfile",
}


def redacted(url: str) -> str:
    """Returns an address without user, password and query (which may hold passwords), fit for logs and errors.

    Wrong in the safe direction: an unescaped `@`, `/` or `?` in a password hides more of the address, never less.
    """
    scheme, separator, rest = url.partition("://")
    if not separator:
        scheme, rest = "", url
    return scheme + separator + rest.rpartition("@")[2].partition("?")[0]


def redis_async(settings: Mapping[str, Any]) -> AsyncRedis:
    """Returns a client for the event loop. It connects at its first command, answers bytes and never retries.

    `rediss://USER:PASSWORD@HOST:PORT/DB` is TLS with ACL; options in the URL's query win over those set here.
    scrapy-redis's REDIS_HOST, REDIS_PORT, REDIS_DB and REDIS_PARAMS count while REDIS_URL is at its default.
    With REDIS_CLUSTER it is a Redis Cluster's: a node tells of the others; commas part the addresses of several.

    Raises:
        ConfigError: The URL or REDIS_PARAMS isn't one.
    """
    url, options = _redis_options(settings)
    try:
        if config.flag(settings, "REDIS_CLUSTER"):
            return cast("AsyncRedis", cluster_async(url, options))
        return AsyncRedis.from_url(url, **{"retry": AsyncRetry(NoBackoff(), 0), **options})
    except (ValueError, TypeError):
        raise _redis_refused(url) from None


def redis_sync(settings: Mapping[str, Any]) -> Redis:
    """Returns a blocking client, for threads and commands; otherwise as `redis_async`.

    Raises:
        ConfigError: The URL or REDIS_PARAMS isn't one.
    """
    url, options = _redis_options(settings)
    try:
        if config.flag(settings, "REDIS_CLUSTER"):
            return cast("Redis", cluster_sync(url, options))
        return Redis.from_url(url, **{"retry": Retry(NoBackoff(), 0), **options})
    except (ValueError, TypeError):
        raise _redis_refused(url) from None


def mongo(settings: Mapping[str, Any]) -> AsyncMongoClient[dict[str, Any]]:
    """Returns a client that writes with w=majority. It connects at its first operation; options in the URL win.

    Raises:
        ConfigError: MONGO_URL isn't one.
    """
    from pymongo import AsyncMongoClient  # late, as Kafka's: together half a second that most commands don't need
    from pymongo.errors import PyMongoError

    url = str(settings.get("MONGO_URL") or "")
    options: dict[str, Any] = {
        "serverSelectionTimeoutMS": MONGO_SELECT_MILLISECONDS,
        "connectTimeoutMS": MONGO_SELECT_MILLISECONDS,
        "socketTimeoutMS": MONGO_SOCKET_MILLISECONDS,  # not timeoutMS, which would lengthen the selection to as much
        "w": "majority",
        "tz_aware": True,
        "appname": "headroom",
    }
    in_url = {name.lower() for name, _ in parse_qsl(url.partition("?")[2])}
    try:
        return AsyncMongoClient(url, **{key: value for key, value in options.items() if key.lower() not in in_url})
    except (PyMongoError, ValueError, TypeError):
        raise ConfigError("MONGO_URL", redacted(url), "a mongodb:// or mongodb+srv:// URL") from None


def kafka_producer(settings: Mapping[str, Any]) -> KafkaProducer:
    """Returns a connected producer: idempotent, acks=all. Blocks for up to 5 s: keep it off the event loop.

    Raises:
        UnavailableError: No broker answers, or none accepts the credentials.
    """
    return _kafka(
        "KafkaProducer",
        settings,
        acks="all",
        enable_idempotence=True,
        linger_ms=KAFKA_LINGER_MILLISECONDS,
        batch_size=KAFKA_BATCH_BYTES,
        max_block_ms=KAFKA_BLOCK_MILLISECONDS,
        delivery_timeout_ms=KAFKA_DELIVERY_MILLISECONDS,
        metrics_enabled=False,
    )


def kafka_consumer(
    settings: Mapping[str, Any], topic: str, group: str | None = None, *, from_start: bool = False
) -> KafkaConsumer:
    """Returns a connected consumer that makes no topic. Blocks for up to 5 s.

    Args:
        settings: Where KAFKA_BOOTSTRAP_SERVERS stands.
        topic: Read from here.
        group: Consumer group that shares the topic and keeps its place there; None reads all of it, keeping no place.
        from_start: Where to begin without a kept place: at the oldest message, or at the next to come.

    Raises:
        UnavailableError: No broker answers, or none accepts the credentials.
    """
    return _kafka(
        "KafkaConsumer",
        settings,
        topic,
        group_id=group,
        enable_auto_commit=group is not None,
        auto_offset_reset="earliest" if from_start else "latest",
        allow_auto_create_topics=False,
        metadata_max_age_ms=KAFKA_METADATA_MILLISECONDS,
        metrics_enabled=False,
    )


def kafka_admin(settings: Mapping[str, Any]) -> KafkaAdminClient:
    """Returns a connected admin client, which makes topics. Blocks for up to 5 s.

    Raises:
        UnavailableError: No broker answers, or none accepts the credentials.
    """
    return _kafka("KafkaAdminClient", settings)


def kafka_security() -> dict[str, str]:
    """Returns the clients' options that the environment's KAFKA_ variables set; empty for a plain connection.

    Raises:
        ConfigError: They contradict each other, or the library would say nothing: it takes a misspelt protocol for
            PLAINTEXT, and a missing file for a broker that doesn't answer.
    """
    options = {option: value for name, option in KAFKA_SECURITY.items() if (value := os.environ.get(name))}
    protocol, mechanism = options.get("security_protocol", "PLAINTEXT"), options.get("sasl_mechanism")
    if protocol not in KAFKA_PROTOCOLS:
        raise ConfigError("KAFKA_SECURITY_PROTOCOL", protocol, " or ".join(KAFKA_PROTOCOLS))
    if protocol.startswith("SASL_") and mechanism not in KAFKA_MECHANISMS:
        raise ConfigError("KAFKA_SASL_MECHANISM", mechanism, " or ".join(KAFKA_MECHANISMS))
    if not protocol.startswith("SASL_") and any(option.startswith("sasl_") for option in options):
        raise ConfigError("KAFKA_SECURITY_PROTOCOL", protocol, "SASL_SSL or SASL_PLAINTEXT, as KAFKA_SASL_* is set")
    if not protocol.endswith("SSL") and any(option.startswith("ssl_") for option in options):
        raise ConfigError("KAFKA_SECURITY_PROTOCOL", protocol, "SSL or SASL_SSL, as KAFKA_SSL_* is set")
    for name, option in KAFKA_SECURITY.items():
        if name.endswith("FILE") and option in options and not os.access(options[option], os.R_OK):
            raise ConfigError(name, options[option], "a file that can be read")
    return options


def _redis_options(settings: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    """Returns the URL and the client's options: ours, and over them scrapy-redis's REDIS_PARAMS."""
    url = str(settings.get("REDIS_URL") or DEFAULT_REDIS_URL)
    if url == DEFAULT_REDIS_URL and (settings.get("REDIS_HOST") or settings.get("REDIS_PORT")):
        host, port = settings.get("REDIS_HOST") or "127.0.0.1", settings.get("REDIS_PORT") or 6379
        url = f"redis://{host}:{port}/{settings.get('REDIS_DB') or 0}"
    options: dict[str, Any] = {
        "socket_timeout": REDIS_SOCKET_SECONDS,
        "socket_connect_timeout": REDIS_CONNECT_SECONDS,
        "health_check_interval": REDIS_HEALTH_SECONDS,
    }
    if not url.startswith("unix:"):  # those connections don't know the option
        options["socket_keepalive"] = True
    more = settings.get("REDIS_PARAMS") or {}
    try:
        options |= orjson.loads(more) if isinstance(more, str) else dict(more)
    except (ValueError, TypeError):
        raise ConfigError("REDIS_PARAMS", type(more).__name__, "keyword arguments of redis.Redis as a dict") from None
    options.pop("redis_cls", None)  # scrapy-redis's own, a class to import
    options["decode_responses"] = False  # fingerprints are bytes
    return url, options


def _redis_refused(url: str) -> ConfigError:
    return ConfigError(
        "REDIS_URL", redacted(url), "redis://, rediss:// or unix:// and REDIS_PARAMS that redis.Redis takes"
    )


def _kafka(kind: str, settings: Mapping[str, Any], *args: str, **options: Any) -> Any:
    """Builds one of the library's clients with what they share.

    Raises:
        ConfigError: The library refuses the address or a KAFKA_ variable of the environment.
        UnavailableError: No broker answers, or none accepts the credentials.
    """
    import kafka
    from kafka.errors import KafkaError

    servers = settings.get("KAFKA_BOOTSTRAP_SERVERS") or ()
    addresses = [part.strip() for part in (servers.split(",") if isinstance(servers, str) else servers) if part.strip()]
    where = ",".join(redacted(address) for address in addresses)
    if not addresses:
        raise ConfigError("KAFKA_BOOTSTRAP_SERVERS", servers, "host:port, several with commas")
    security = kafka_security()
    _quieten_kafka()
    if not any(_answers(address) for address in addresses):
        raise UnavailableError(f"Kafka at {where}: no connection")
    try:
        return getattr(kafka, kind)(
            *args,
            bootstrap_servers=addresses,
            bootstrap_timeout_ms=KAFKA_BOOTSTRAP_MILLISECONDS,
            request_timeout_ms=KAFKA_REQUEST_MILLISECONDS,
            reconnect_backoff_max_ms=KAFKA_RECONNECT_MILLISECONDS,
            client_id="headroom",
            **security,
            **options,
        )
    except KafkaError as error:
        raise UnavailableError(f"Kafka at {where}: {type(error).__name__}") from None
    except (ValueError, TypeError, AssertionError, OSError) as error:
        raise ConfigError(
            "KAFKA_BOOTSTRAP_SERVERS", where, f"host:port and usable KAFKA_* ({type(error).__name__})"
        ) from None


def _answers(address: str) -> bool:
    """Returns whether somebody listens there.

    Asked first because the library takes seconds to see it and leaves sockets and threads behind each time, and an
    outage means many tries.
    """
    host, _, port = address.rpartition(":") if address[-1:].isdigit() and ":" in address else (address, "", KAFKA_PORT)
    try:
        socket.create_connection((host.strip("[]"), int(port)), KAFKA_CONNECT_SECONDS).close()
    except (OSError, ValueError, OverflowError):
        return False
    return True


def _quieten_kafka() -> None:
    """Turns off the library's log, unless somebody set its level: each failed connect is an error there.

    Callers tell of an outage once.
    """
    logger = logging.getLogger("kafka")
    if logger.level == logging.NOTSET:
        logger.setLevel(logging.CRITICAL)
