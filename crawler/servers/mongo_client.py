"""A client of MongoDB for the event loop."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl

from crawler import config
from crawler.base.errors import ConfigError
from crawler.base.redaction import redacted_address

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pymongo import AsyncMongoClient

SELECT_MILLISECONDS = 5_000  # how soon an outage is reported; pymongo's 30 s would be too late
# How long a command may take: a batch takes under 0.1 s, and a frozen server is an outage, too.
SOCKET_MILLISECONDS = 20_000


def mongo_client(settings: Mapping[str, Any]) -> AsyncMongoClient[dict[str, Any]]:
    """Returns a client that writes with w=majority. It connects at its first operation; options in the URL win.

    Raises:
        ConfigError: MONGO_URL can't be used.
    """
    from pymongo import AsyncMongoClient  # late, like Kafka's library: together half a second that few commands need
    from pymongo.errors import PyMongoError

    url = config.MONGO_URL.of(settings)
    options: dict[str, Any] = {
        "serverSelectionTimeoutMS": SELECT_MILLISECONDS,
        "connectTimeoutMS": SELECT_MILLISECONDS,
        "socketTimeoutMS": SOCKET_MILLISECONDS,  # not timeoutMS, which would lengthen the server selection as well
        "w": "majority",
        "tz_aware": True,
        "appname": "headroom",
    }
    _quieten_library()
    in_url = {name.lower() for name, _ in parse_qsl(url.partition("?")[2])}
    try:
        return AsyncMongoClient(url, **{key: value for key, value in options.items() if key.lower() not in in_url})
    except (PyMongoError, ValueError, TypeError):
        raise ConfigError("MONGO_URL", redacted_address(url), config.MONGO_URL.expected) from None


def _quieten_library() -> None:
    """Turns off the library's lines for debugging, unless somebody has set its level: they hold what is written.

    It makes them whatever LOG_LEVEL is, since that is the level of Scrapy's handler alone.
    """
    logger = logging.getLogger("pymongo")
    if logger.level == logging.NOTSET:
        logger.setLevel(logging.INFO)
