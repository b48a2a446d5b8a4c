"""The address of Redis, which is said by REDIS_URL or in the three parts of scrapy-redis."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from crawler import config

if TYPE_CHECKING:
    from collections.abc import Mapping

PARTS = (config.REDIS_HOST, config.REDIS_PORT, config.REDIS_DB)
DEFAULT_HOST = "127.0.0.1"  # the same as scrapy-redis's


def redis_url(settings: Mapping[str, Any]) -> str:
    """Returns the URL that Redis is reached by.

    REDIS_URL counts wherever somebody says it. Where nobody does, but somebody says one of REDIS_HOST, REDIS_PORT and
    REDIS_DB, those three make the URL.
    """
    if config.REDIS_URL.given(settings) or not any(part.given(settings) for part in PARTS):
        return config.REDIS_URL.of(settings)
    host = config.REDIS_HOST.of(settings) or DEFAULT_HOST
    in_url = f"[{host}]" if ":" in host else host  # brackets part an IPv6 address from its port
    return f"redis://{in_url}:{config.REDIS_PORT.of(settings)}/{config.REDIS_DB.of(settings)}"
