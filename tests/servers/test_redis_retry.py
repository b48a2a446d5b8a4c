"""What must outlast an outage of Redis is called again until it is answered."""

from __future__ import annotations

from redis.exceptions import ConnectionError as RedisConnectionError

from crawler.servers import redis_retry
from crawler.servers.redis_retry import until_redis_answers


async def test_it_is_called_until_it_is_answered(monkeypatch, caplog):
    monkeypatch.setattr(redis_retry, "RETRY_SECONDS", 0.001)
    errors = [RedisConnectionError("reset"), OSError("no route")]

    async def ask():
        if errors:
            raise errors.pop(0)
        return "answer"

    assert await until_redis_answers("a question", ask) == "answer"
    assert [record.getMessage() for record in caplog.records] == [
        "a question: waiting for Redis: reset",
    ]
