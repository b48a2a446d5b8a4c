"""What errors of Redis are about: a key's content, this client's rights, or the server; as a real one words them."""

from __future__ import annotations

import contextlib

import pytest
import redis
from redis.exceptions import AuthenticationError, BusyLoadingError, ResponseError
from redis.exceptions import ConnectionError as RedisConnectionError

from crawler.servers.redis_refusal import is_of_a_key, refusal, said_of

SET = "return redis.call('SET', KEYS[1], 1)"
IN_SCRIPTS = {
    "of another kind": ("return redis.call('ZADD', KEYS[1], 1, 'a')", "text"),
    "no number": ("return redis.call('HINCRBY', KEYS[1], 'field', 1)", "hash"),
    "no number to Lua": ("return redis.call('GET', KEYS[1]) + 1", "text"),
    "no JSON": ("return cjson.decode(redis.call('GET', KEYS[1]))", "text"),
}
OF_OTHER_SERVERS = [  # in a cluster that changes; while a script runs too long; when a disk is full
    "Script attempted to access a non local key in a cluster node script: on @user_script:2.",
    "Script attempted to execute a write command while the cluster is down and readonly script: on @user_script:2.",
    "Script killed by user with SCRIPT KILL. script: on @user_script:1.",
    "BUSY Redis is busy running a script. You can only call SCRIPT KILL or SHUTDOWN NOSAVE.",
    "MISCONF Errors writing to the AOF file: No space left on device script: on @user_script:2.",
]


@pytest.fixture
def client(redis_url):
    with contextlib.closing(redis.Redis.from_url(redis_url)) as client:
        client.set("text", "junk")
        client.hset("hash", "field", "junk")
        yield client


def error_of(client, script, key, header="#!lua\n"):
    with pytest.raises(ResponseError) as caught:
        client.eval(header + script, 1, key)
    return caught.value


@pytest.mark.parametrize("case", IN_SCRIPTS)
def test_what_a_key_holds_is_to_blame(client, case):
    assert is_of_a_key(error_of(client, *IN_SCRIPTS[case]))
    with pytest.raises(ResponseError) as caught:
        client.hget("text", "field")
    assert is_of_a_key(caught.value)


@pytest.mark.parametrize(("setting", "wrong", "right"), [("maxmemory", 1, 0), ("min-replicas-to-write", 1, 0)])
@pytest.mark.parametrize("header", ["#!lua\n", ""])
def test_a_redis_that_takes_no_writes_is_not(client, setting, wrong, right, header):
    client.config_set(setting, wrong)
    try:
        assert not is_of_a_key(error_of(client, SET, "key", header))
    finally:
        client.config_set(setting, right)


@pytest.mark.parametrize("header", ["#!lua\n", ""])
def test_a_primary_that_became_a_replica_is_not(client, header):
    client.replicaof("127.0.0.1", "1")
    try:
        assert not is_of_a_key(error_of(client, SET, "key", header))
    finally:
        client.replicaof("NO", "ONE")


@pytest.mark.parametrize("rights", ["~* +@all -set", "~other +@all"])
def test_a_right_that_is_missing_is_not(client, redis_url, rights):
    client.execute_command("ACL", "SETUSER", "crawl", "reset", "on", "nopass", *rights.split())
    try:
        with contextlib.closing(redis.Redis.from_url(redis_url.replace("//", "//crawl:x@"))) as user:
            error = error_of(user, SET, "key")
            assert not is_of_a_key(error)
            assert refusal(error)
    finally:
        client.execute_command("ACL", "DELUSER", "crawl")


@pytest.mark.parametrize("text", OF_OTHER_SERVERS)
def test_what_other_servers_say_of_themselves_is_not(text):
    assert not is_of_a_key(ResponseError(text))


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (
            RedisConnectionError("Error 111 connecting to here:1."),
            "Error 111 connecting to here:1; is it running? REDIS_URL names it",
        ),
        (TimeoutError(), "no answer; is it running? REDIS_URL names it"),
        (BusyLoadingError("Redis is loading the dataset in memory"), "Redis is loading the dataset in memory"),
        (AuthenticationError("WRONGPASS"), "it refuses the user or the password in REDIS_URL (WRONGPASS)"),
        (ResponseError("MISCONF it can't save."), "MISCONF it can't save"),
    ],
)
def test_where_nothing_answers_it_is_said_what_to_look_at(error, said):
    assert said_of(error) == said
