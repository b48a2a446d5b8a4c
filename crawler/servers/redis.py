"""Clients of Redis, for the event loop and for threads; with REDIS_CLUSTER, of a Redis Cluster."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import parse_qsl

from redis import Redis
from redis.asyncio import Redis as AsyncRedis
from redis.asyncio.retry import Retry as AsyncRetry
from redis.backoff import NoBackoff
from redis.retry import Retry

from crawler import config
from crawler.base.errors import ConfigError
from crawler.base.redaction import redacted_address
from crawler.config.redis_url import redis_url
from crawler.servers.redis_cluster import cluster_async, cluster_sync
from crawler.servers.redis_packing import packing
from crawler.servers.redis_sentinel import sentinel_async, sentinel_sync

if TYPE_CHECKING:
    from collections.abc import Mapping

# Options in REDIS_URL's query that name files; redis-py wouldn't say which one it couldn't read.
FILES = ("ssl_ca_certs", "ssl_certfile", "ssl_keyfile")
# A URL whose path is a database's number, or missing; redis-py would take database 0 for any other path.
WITH_DATABASE = re.compile(r"rediss?://[^/?#]*(/([0-9]+/?)?)?([?#].*)?", re.DOTALL)
SOCKET_CONNECT_SECONDS = 3.0  # how long a connect may take: it takes ms on a network, and must not delay a renewal
# How long a command may take, which takes under 0.1 s; a third of SESSION_SECONDS lets renewals be retried.
SOCKET_SECONDS = 5.0
HEALTH_CHECK_SECONDS = 15.0  # after how long an idle connection is checked before use: firewalls drop those silently


def redis_async(settings: Mapping[str, Any]) -> AsyncRedis:
    """Returns a client for the event loop. It connects at its first command, answers in bytes and never retries.

    `rediss://USER:PASSWORD@HOST:PORT/DB` is TLS with an ACL user; options in the URL's query win over those set here.
    The URL may be said in scrapy-redis's settings (`redis_url`), whose REDIS_PARAMS wins over it. With REDIS_CLUSTER
    it may name several nodes, separated by commas; one that answers tells of all others. With REDIS_SENTINEL it names
    sentinels, likewise.

    Raises:
        ConfigError: REDIS_URL or REDIS_PARAMS can't be used.
    """
    url, options = _options(settings)
    try:
        if config.REDIS_CLUSTER.of(settings):
            return cast("AsyncRedis", cluster_async(url, options))
        options = {"retry": AsyncRetry(NoBackoff(), 0), **options}
        if primary := config.REDIS_SENTINEL.of(settings):
            client = sentinel_async(url, primary, options, _login(settings))
        else:
            client = AsyncRedis.from_url(url, **options)
    except (ValueError, TypeError):
        raise _refused(url) from None
    client.connection_pool.connection_class = packing(client.connection_pool.connection_class)
    return client


def redis_sync(settings: Mapping[str, Any], *, timeout_s: float = SOCKET_SECONDS) -> Redis:
    """Returns a blocking client, for threads and commands; otherwise as `redis_async`.

    Args:
        settings: As for `redis_async`.
        timeout_s: The longest wait for a connection, and for an answer.

    Raises:
        ConfigError: REDIS_URL or REDIS_PARAMS can't be used.
    """
    url, options = _options(settings, timeout_s)
    try:
        if config.REDIS_CLUSTER.of(settings):
            return cast("Redis", cluster_sync(url, options))
        if primary := config.REDIS_SENTINEL.of(settings):
            return sentinel_sync(url, primary, {"retry": Retry(NoBackoff(), 0), **options}, _login(settings))
        return Redis.from_url(url, **{"retry": Retry(NoBackoff(), 0), **options})
    except (ValueError, TypeError):
        raise _refused(url) from None


def database_of(settings: Mapping[str, Any]) -> int:
    """Returns the number of the database that the clients use; a Redis Cluster has none but 0.

    Raises:
        ConfigError: REDIS_URL or REDIS_PARAMS can't be used.
    """
    if config.REDIS_CLUSTER.of(settings):
        return 0
    return int(redis_sync(settings).connection_pool.connection_kwargs.get("db") or 0)


def redis_address(settings: Mapping[str, Any]) -> str:
    """Returns where Redis is, without credentials, for messages.

    Raises:
        ConfigError: REDIS_URL, REDIS_HOST, REDIS_PORT or REDIS_DB can't be used.
    """
    return redacted_address(redis_url(settings))


def _login(settings: Mapping[str, Any]) -> dict[str, str]:
    """Returns the user name and password for the sentinels; of these, what is set."""
    login = {
        "username": config.REDIS_SENTINEL_USERNAME.of(settings),
        "password": config.REDIS_SENTINEL_PASSWORD.of(settings),
    }
    return {name: value for name, value in login.items() if value}


def _options(settings: Mapping[str, Any], timeout_s: float = SOCKET_SECONDS) -> tuple[str, dict[str, Any]]:
    """Returns the URL and the client's options: those set here, overridden by scrapy-redis's REDIS_PARAMS."""
    url = redis_url(settings)
    if config.REDIS_CLUSTER.of(settings) and (primary := config.REDIS_SENTINEL.of(settings)):
        raise ConfigError(config.REDIS_SENTINEL.name, primary, "nothing, as REDIS_CLUSTER is on")
    if not url.startswith("unix:") and not WITH_DATABASE.fullmatch(url):
        expected = "the number of a database behind the host and its port, or nothing: redis://HOST:PORT/0"
        raise ConfigError(config.REDIS_URL.name, redacted_address(url), expected)
    for name, path in parse_qsl(url.partition("?")[2]):
        if name in FILES and not os.access(path, os.R_OK):
            raise ConfigError(config.REDIS_URL.name, f"{name}={path}", "a file that can be read")
    options: dict[str, Any] = {
        "socket_timeout": timeout_s,
        "socket_connect_timeout": min(timeout_s, SOCKET_CONNECT_SECONDS),
        "health_check_interval": HEALTH_CHECK_SECONDS,
    }
    if not url.startswith("unix:"):  # connections over a Unix socket don't know the option
        options["socket_keepalive"] = True
    options |= config.REDIS_PARAMS.of(settings)
    options.pop("redis_cls", None)  # scrapy-redis's own option: a class that it would import
    options["decode_responses"] = False  # fingerprints are bytes
    return url, options


def _refused(url: str) -> ConfigError:
    expected = f"{config.REDIS_URL.expected}; and REDIS_PARAMS that redis.Redis takes"
    return ConfigError(config.REDIS_URL.name, redacted_address(url), expected)
