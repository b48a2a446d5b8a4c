"""Clients of Kafka: producer, consumer and admin. All of them block, so keep them off the event loop."""

from __future__ import annotations

import contextlib
import logging
import os
import socket
from typing import TYPE_CHECKING, Any

from crawler import config
from crawler.base.errors import AccessError, ConfigError, UnavailableError, short
from crawler.base.redaction import redacted_address
from crawler.base.urls import host_and_port

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from kafka import KafkaAdminClient, KafkaConsumer, KafkaProducer

    from crawler.config.setting import Setting

DEFAULT_PORT = 9_092
# The loggers that say why a connection failed, as kafka-python 3.0 names them.
CONNECTION_LOGGERS = ("kafka.net.manager", "kafka.net.transport")
SOCKET_CONNECT_SECONDS = 3.0
BOOTSTRAP_MILLISECONDS = 5_000
BLOCK_MILLISECONDS = 5_000  # longest wait for a topic's metadata
REQUEST_MILLISECONDS = 8_000
DELIVERY_MILLISECONDS = 10_000  # when a delivery fails, and the sink reports the outage; must exceed the request's time
METADATA_MILLISECONDS = 2_000  # how soon a consumer notices a new topic; the library's 5 min look like a hang
LINGER_MILLISECONDS = 5  # how long a message waits for others: the sink batches already, and this joins its two batches
RECONNECT_MILLISECONDS = 2_000  # longest pause between two connects; the library's 30 s would outlast the outage
# A sink's batch of a hundred pages, and near to the library's limit for a request. While more than one batch of a
# partition waits, the library wakes its thread for every message: with 256 kB a message costs 1.5 to 2 times the CPU.
BATCH_BYTES = 1_000_000
MESSAGE_BYTES = 1_048_576  # the longest message that the producer sends: brokers take no longer one by themselves
SECURITY: dict[str, Setting[str]] = {  # the library's option -> the setting
    "security_protocol": config.KAFKA_SECURITY_PROTOCOL,
    "sasl_mechanism": config.KAFKA_SASL_MECHANISM,
    "sasl_plain_username": config.KAFKA_SASL_USERNAME,
    "sasl_plain_password": config.KAFKA_SASL_PASSWORD,
    "ssl_cafile": config.KAFKA_SSL_CAFILE,
    "ssl_certfile": config.KAFKA_SSL_CERTFILE,
    "ssl_keyfile": config.KAFKA_SSL_KEYFILE,
}


def kafka_producer(settings: Mapping[str, Any]) -> KafkaProducer:
    """Returns a connected producer, idempotent and with acks=all. Blocks for up to 5 s.

    Raises:
        ConfigError: KAFKA_BOOTSTRAP_SERVERS or another KAFKA_ setting can't be used.
        UnavailableError: No broker answers.
        AccessError: None accepts the credentials, or is trusted.
    """
    return _client(
        "KafkaProducer",
        settings,
        acks="all",
        enable_idempotence=True,
        linger_ms=LINGER_MILLISECONDS,
        batch_size=BATCH_BYTES,
        max_request_size=MESSAGE_BYTES,
        max_block_ms=BLOCK_MILLISECONDS,
        delivery_timeout_ms=DELIVERY_MILLISECONDS,
        metrics_enabled=False,
    )


def kafka_consumer(settings: Mapping[str, Any], topic: str) -> KafkaConsumer:
    """Returns a connected consumer, which begins at a topic's oldest message, and creates none. Blocks for up to 5 s.

    Raises:
        ConfigError: KAFKA_BOOTSTRAP_SERVERS or another KAFKA_ setting can't be used.
        UnavailableError: No broker answers.
        AccessError: None accepts the credentials, or is trusted.
    """
    return _client(
        "KafkaConsumer",
        settings,
        topic,
        group_id=None,  # without a group the consumer keeps no place in Kafka
        enable_auto_commit=False,
        auto_offset_reset="earliest",
        allow_auto_create_topics=False,
        metadata_max_age_ms=METADATA_MILLISECONDS,
        metrics_enabled=False,
    )


def kafka_admin(settings: Mapping[str, Any]) -> KafkaAdminClient:
    """Returns a connected admin client, which creates topics. Blocks for up to 5 s.

    Raises:
        ConfigError: KAFKA_BOOTSTRAP_SERVERS or another KAFKA_ setting can't be used.
        UnavailableError: No broker answers.
        AccessError: None accepts the credentials, or is trusted.
    """
    return _client("KafkaAdminClient", settings)


def kafka_security(settings: Mapping[str, Any]) -> dict[str, str]:
    """Returns the library's options that the KAFKA_ settings stand for; those of a plain connection are one.

    Checked here since the library would not say: it takes a misspelt protocol for PLAINTEXT, and a missing file for a
    broker that doesn't answer.

    Raises:
        ConfigError: A setting can't be used, or two of them contradict each other.
    """
    options = {option: value for option, setting in SECURITY.items() if (value := setting.of(settings))}
    protocol = options["security_protocol"]
    if protocol.startswith("SASL_") and "sasl_mechanism" not in options:
        expected = config.KAFKA_SASL_MECHANISM.expected.removeprefix("nothing or ")
        raise ConfigError("KAFKA_SASL_MECHANISM", "", f"{expected}, as KAFKA_SECURITY_PROTOCOL is {protocol}")
    if not protocol.startswith("SASL_") and any(option.startswith("sasl_") for option in options):
        raise ConfigError("KAFKA_SECURITY_PROTOCOL", protocol, "SASL_SSL or SASL_PLAINTEXT, as KAFKA_SASL_* is set")
    if not protocol.endswith("SSL") and any(option.startswith("ssl_") for option in options):
        raise ConfigError("KAFKA_SECURITY_PROTOCOL", protocol, "SSL or SASL_SSL, as KAFKA_SSL_* is set")
    for option, setting in SECURITY.items():
        if option.endswith("file") and option in options and not os.access(options[option], os.R_OK):
            raise ConfigError(setting.name, options[option], "a file that can be read")
    return options


def _client(kind: str, settings: Mapping[str, Any], *args: str, **options: Any) -> Any:
    """Builds one of the library's clients, with the options that all of them share."""
    import kafka  # late: most commands don't need it
    from kafka.errors import KafkaError

    addresses = config.KAFKA_BOOTSTRAP_SERVERS.of(settings)
    where = ",".join(redacted_address(address) for address in addresses)
    security = kafka_security(settings)
    _quieten_library()
    if not any(_is_listening(address) for address in addresses):
        raise UnavailableError(f"Kafka at {where}: no connection")
    failure = _LastFailure()
    try:
        with failure.kept():
            return getattr(kafka, kind)(
                *args,
                bootstrap_servers=list(addresses),
                bootstrap_timeout_ms=BOOTSTRAP_MILLISECONDS,
                request_timeout_ms=REQUEST_MILLISECONDS,
                reconnect_backoff_max_ms=RECONNECT_MILLISECONDS,
                client_id="headroom",
                **security,
                **options,
            )
    except KafkaError as error:
        if why := failure.refusal():
            raise AccessError(f"Kafka at {where}: {why}") from None
        raise UnavailableError(f"Kafka at {where}: {type(error).__name__}") from None
    except (ValueError, TypeError, AssertionError, OSError) as error:
        raise ConfigError(
            "KAFKA_BOOTSTRAP_SERVERS", where, f"host:port and usable KAFKA_* ({type(error).__name__})"
        ) from None


def _is_listening(address: str) -> bool:
    """Returns whether somebody listens at an address.

    Asked before the library is: where nobody listens, each client of it takes seconds to see that and leaves sockets
    and threads behind, and an outage means many tries.
    """
    try:
        socket.create_connection(host_and_port(address, DEFAULT_PORT), SOCKET_CONNECT_SECONDS).close()
    except (OSError, ValueError, OverflowError):
        return False
    return True


class _LastFailure(logging.Filter):
    """Why the library's last connection failed: it tells its log alone, and its callers that time was up."""

    def __init__(self) -> None:
        super().__init__()
        self._error: BaseException | None = None
        self._closed = False  # the broker has closed a connection, which it does without a word to whom it refuses

    @contextlib.contextmanager
    def kept(self) -> Iterator[None]:
        """Listens to the library's log during the block; nothing more is logged than otherwise."""
        sources = [logging.getLogger(name) for name in CONNECTION_LOGGERS]
        levels = [source.level for source in sources]
        for source in sources:
            source.addFilter(self)
            source.setLevel(logging.ERROR)
        try:
            yield
        finally:
            for source, level in zip(sources, levels, strict=True):
                source.setLevel(level)
                source.removeFilter(self)

    def filter(self, record: logging.LogRecord) -> bool:
        """Keeps the error of a line; returns whether the line would be logged without this."""
        from kafka.errors import KafkaTimeoutError

        reason = record.args[0] if isinstance(record.args, tuple) and record.args else None
        if isinstance(reason, BaseException) and not isinstance(reason, KafkaTimeoutError):
            self._error = reason
        self._closed = self._closed or "socket disconnected" in str(record.msg)
        return logging.getLogger("kafka").isEnabledFor(record.levelno)

    def refusal(self) -> str:
        """Returns why the brokers refuse this client, and what to do; empty: they are away, or something is wrong."""
        from kafka.errors import AuthorizationError, SaslAuthenticationFailedError, UnsupportedSaslMechanismError

        message = short(str(self._error))
        if isinstance(self._error, UnsupportedSaslMechanismError):
            return f"it doesn't offer KAFKA_SASL_MECHANISM ({message})"
        if isinstance(self._error, SaslAuthenticationFailedError | AuthorizationError):
            return f"it refuses KAFKA_SASL_USERNAME or KAFKA_SASL_PASSWORD ({message})"
        if "CERTIFICATE_VERIFY_FAILED" in message:
            return f"its certificate isn't trusted: KAFKA_SSL_CAFILE names who may sign ({message})"
        if "SSL" in message:
            return f"TLS fails: see KAFKA_SECURITY_PROTOCOL ({message})"
        closes = "it closes every connection: KAFKA_SASL_* is wrong, or it wants another KAFKA_SECURITY_PROTOCOL"
        return closes if self._closed else ""


def _quieten_library() -> None:
    """Turns off the library's log, unless somebody has set its level.

    It logs each failed connect as an error; callers report an outage once.
    """
    logger = logging.getLogger("kafka")
    if logger.level == logging.NOTSET:
        logger.setLevel(logging.CRITICAL)
