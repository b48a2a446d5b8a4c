from __future__ import annotations

from contextlib import closing
from itertools import combinations

import pytest
import redis
from scrapy.settings import Settings
from scrapy_redis.connection import get_redis_from_settings

from crawler import config
from crawler.base.errors import ConfigError
from crawler.config.check import complete
from crawler.servers.redis import SOCKET_CONNECT_SECONDS, database_of, redis_address, redis_async, redis_sync

ADDRESS = {"REDIS_URL": "redis://other:1/1", "REDIS_HOST": "h", "REDIS_PORT": 7000, "REDIS_DB": 3}


@pytest.mark.parametrize("opened", [redis_async, redis_sync])
@pytest.mark.parametrize("url", ["http://user:secret@h/0", "redis://user:secret:x@h:port/0", "secret", "secret@h:6379"])
def test_a_redis_url_that_is_none_is_refused_without_its_secrets(opened, url):
    with pytest.raises(ConfigError) as error:
        opened({"REDIS_URL": url})
    assert "REDIS_URL" in str(error.value)
    assert "secret" not in str(error.value)


@pytest.mark.parametrize("opened", [redis_async, redis_sync])
@pytest.mark.parametrize(
    "password", ["ab@:/cdsecret", "12/34secret", "12?secret", "12#secret", "1@h2/secret", "ab#secret", "s3cr[secret]"]
)
def test_a_password_that_is_not_escaped_is_refused_and_never_shown(opened, password):
    for url in (f"redis://:{password}@127.0.0.1:1/0", f"unix://u:/{password}@/s.sock"):
        with pytest.raises(ConfigError, match="escape the password: %40 for @") as error:
            opened({"REDIS_URL": url})
        assert "secret" not in str(error.value)


@pytest.mark.parametrize("opened", [redis_async, redis_sync])
@pytest.mark.parametrize("url", ["redis://h:1/frontier", "redis://h/-1", "rediss://:p@h/0/1", "redis://h/0x?db=1"])
def test_a_database_that_is_no_number_is_refused(opened, url):
    for further in ({}, {"REDIS_CLUSTER": 1}, {"REDIS_SENTINEL": "primary"}):
        with pytest.raises(ConfigError, match="expected the number of a database"):
            opened({"REDIS_URL": url, **further})


def test_a_password_may_have_an_at_sign_where_that_misleads_nobody():
    options = redis_sync({"REDIS_URL": "redis://:a@b@h:1/0/"}).connection_pool.connection_kwargs
    assert (options["password"], options["host"], options["port"], options["db"]) == ("a@b", "h", 1, 0)
    options = redis_sync({"REDIS_URL": "unix://u:p@/a/b@c.sock?db=2"}).connection_pool.connection_kwargs
    assert (options["password"], options["path"], options["db"]) == ("p", "/a/b@c.sock", 2)


@pytest.mark.parametrize("opened", [redis_async, redis_sync])
def test_redis_takes_what_the_url_says_and_never_retries(opened):
    client = opened({"REDIS_URL": "rediss://user:p%40ss@h:1/2?socket_timeout=1"})
    options = client.connection_pool.connection_kwargs
    assert (options["username"], options["password"], options["db"]) == ("user", "p@ss", 2)
    assert options["socket_timeout"] == 1
    assert options["socket_connect_timeout"] == SOCKET_CONNECT_SECONDS
    assert options["retry"].get_retries() == 0
    assert "SSL" in client.connection_pool.connection_class.__name__


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({}, {"host": "127.0.0.1", "port": 6379, "db": 0}),
        ({"REDIS_URL": config.REDIS_URL.default, "REDIS_HOST": "h"}, {"host": "127.0.0.1", "port": 6379, "db": 0}),
        ({"REDIS_HOST": "::1"}, {"host": "::1", "port": 6379, "db": 0}),
        ({"REDIS_HOST": "h", "REDIS_PORT": "7000", "REDIS_DB": 3}, {"host": "h", "port": 7000, "db": 3}),
        ({"REDIS_URL": "redis://other:1/1", "REDIS_HOST": "h"}, {"host": "other", "port": 1, "db": 1}),
        ({"REDIS_PARAMS": {"password": "p", "redis_cls": "redis.Redis"}}, {"password": "p"}),
        ({"REDIS_PARAMS": '{"socket_timeout": 9, "decode_responses": true}'}, {"socket_timeout": 9}),
    ],
)
def test_settings_of_scrapy_redis_count_where_the_url_is_not_set(settings, expected):
    options = redis_sync(settings).connection_pool.connection_kwargs
    assert {key: options[key] for key in expected} == expected
    assert options["decode_responses"] is False
    assert "redis_cls" not in options


@pytest.mark.parametrize("in_environment", [False, True])
@pytest.mark.parametrize("names", [names for size in range(5) for names in combinations(ADDRESS, size)], ids="+".join)
def test_commands_and_workers_take_the_same_address(names, in_environment, monkeypatch):
    given = {name: ADDRESS[name] for name in names}
    if in_environment and "REDIS_URL" in given:  # the others are read from settings alone
        monkeypatch.setenv("REDIS_URL", given.pop("REDIS_URL"))
    settings = Settings(given)
    completed = settings.copy()
    complete(completed)
    expected = {"REDIS_HOST": "127.0.0.1", "REDIS_PORT": 6379, "REDIS_DB": 0} | given
    url = "redis://{REDIS_HOST}:{REDIS_PORT}/{REDIS_DB}".format_map(expected)
    assert redis_address(settings) == (ADDRESS["REDIS_URL"] if "REDIS_URL" in names else url)
    complete(again := completed.copy())
    assert redis_address(settings) == redis_address(completed) == redis_address(again) == completed["REDIS_URL"]


def test_a_component_of_scrapy_redis_in_the_crawl_takes_that_address():
    settings = Settings({"REDIS_HOST": "h", "REDIS_DB": 3})
    complete(settings)
    for one in (settings, Settings(settings.copy_to_dict())):
        with closing(get_redis_from_settings(one)) as client:
            options = client.connection_pool.connection_kwargs
        assert (options["host"], options["port"], options["db"]) == ("h", 6379, 3)


@pytest.mark.parametrize(
    ("settings", "number"),
    [
        ({}, 0),
        ({"REDIS_URL": "redis://h/3"}, 3),
        ({"REDIS_URL": "unix:///s.sock?db=2"}, 2),
        ({"REDIS_URL": "redis://h", "REDIS_PARAMS": {"db": 4}}, 4),
        ({"REDIS_HOST": "h", "REDIS_DB": 5}, 5),
        ({"REDIS_URL": "redis://h", "REDIS_CLUSTER": 1}, 0),
    ],
)
def test_the_database_is_the_one_that_the_clients_use(settings, number):
    assert database_of(settings) == number


@pytest.mark.parametrize("params", ["password=secret", 5, ["secret"]])
def test_redis_params_that_are_none_are_refused_without_their_secrets(params):
    with pytest.raises(ConfigError) as error:
        redis_sync({"REDIS_PARAMS": params})
    assert "REDIS_PARAMS" in str(error.value)
    assert "secret" not in str(error.value)


async def test_redis_answers_to_a_user_of_its_acl(redis_server):
    with closing(redis_sync({"REDIS_URL": redis_server.url})) as admin:
        admin.execute_command("ACL", "SETUSER", "crawler", "on", ">p@ss", "+@all", "~*")
        try:
            url = f"redis://crawler:p%40ss@127.0.0.1:{redis_server.port}/0"
            async with redis_async({"REDIS_URL": url}) as client:
                assert await client.execute_command("ACL", "WHOAMI") == b"crawler"
        finally:
            admin.execute_command("ACL", "DELUSER", "crawler")


async def test_an_unreachable_redis_fails_at_once():
    settings = {"REDIS_URL": "redis://user:secret@127.0.0.1:1/0"}
    with closing(redis_sync(settings)) as client, pytest.raises(redis.ConnectionError) as error:
        client.ping()
    assert "secret" not in str(error.value)
    async with redis_async(settings) as client:
        with pytest.raises(redis.ConnectionError):
            await client.ping()
