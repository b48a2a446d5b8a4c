from __future__ import annotations

import pytest
from redis.asyncio.connection import Connection
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import DataError

from crawler.servers.redis import redis_async
from crawler.servers.redis_packing import packing


@pytest.mark.parametrize(
    "command",
    [
        ("GET", "key"),
        ("CONFIG GET", "save"),
        (b"CLIENT SETINFO", "LIB-NAME", "x"),
        ("EVALSHA", "digest", 1, "{hr:0}", b"\x00\r\n\xff", -1, 0.5, 10**18, "重庆", "", b""),
        ("SET", "long", b"x" * 100_000),
    ],
)
def test_a_command_is_packed_as_by_redis_py(command):
    assert b"".join(packing(Connection)().pack_command(*command)) == b"".join(Connection().pack_command(*command))


@pytest.mark.parametrize("argument", [None, [b"x"], {"a": 1}])
def test_an_argument_that_redis_can_not_read_is_refused(argument):
    with pytest.raises(DataError):
        packing(Connection)().pack_command("SET", "key", argument)


async def test_a_connection_that_is_closed_while_it_sends_says_so(redis_url, monkeypatch):
    async with redis_async({"REDIS_URL": redis_url}) as client:
        connection = await client.connection_pool.get_connection()
        monkeypatch.setattr(connection, "check_health", lambda: connection.disconnect(nowait=True))
        with pytest.raises(RedisConnectionError, match="closed while a command was sent"):
            await connection.send_command("PING")


@pytest.mark.parametrize(
    "settings",
    [
        {"REDIS_URL": "redis://h:1/0"},
        {"REDIS_URL": "rediss://h:1/0"},
        {"REDIS_URL": "unix:///a/b.sock"},
        {"REDIS_URL": "redis://h:1/0", "REDIS_SENTINEL": "primary"},
        {"REDIS_URL": "rediss://h:1/0", "REDIS_SENTINEL": "primary"},
    ],
)
def test_every_client_for_the_event_loop_packs_so(settings):
    pool = redis_async(settings).connection_pool
    assert pool.connection_class.pack_command is packing(Connection).pack_command
