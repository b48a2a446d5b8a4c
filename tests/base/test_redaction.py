"""Secrets are found by what names and URLs say, and hidden in every form they may be written in."""

from __future__ import annotations

import pytest

from crawler.base.redaction import (
    Redaction,
    has_credentials,
    redacted_address,
    without_credentials,
    without_url_credentials,
)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("redis://:secret@a.example:6379/0", "redis://***@a.example:6379/0"),
        ("http://user:secret@a.example/x and https://t@b.example", "http://***@a.example/x and https://***@b.example"),
        ("http://user:se@cret@a.example/", "http://***@a.example/"),
        ("http:\\\\user:secret@a.example\\", "http:\\\\***@a.example\\"),
        ("//user:secret@a.example", "//***@a.example"),
        ("'http://user:secret@a.example'", "'http://***@a.example'"),
        ("http://a.example/@user", "http://a.example/@user"),
        ("http://a.example/?mail=x@y.example", "http://a.example/?mail=x@y.example"),
        ("mail x@y.example", "mail x@y.example"),
        ("", ""),
    ],
)
def test_credentials_in_urls_are_hidden_and_nothing_else(text, shown):
    assert without_credentials(text) == shown
    assert has_credentials(text) == (text != shown)


@pytest.mark.parametrize(
    "settings",
    [
        {"REDIS_URL": "redis://:s3cret-value@a.example/0"},
        {"REDIS_URL": "redis://:s3cret-value/@#?x@a.example/0"},
        {"MONGO_URL": "mongodb://user:s3cret-value@a.example,b.example/?authSource=admin"},
        {"MONGO_URL": "mongodb://a.example/?password=s3cret-value"},
        {"KAFKA": "a.example:9092, https://user:s3cret-value@b.example"},
        {"REDIS_PARAMS": {"password": "s3cret-value"}},
        {"FEEDS": {"ftp://user:s3cret-value@a.example/x": {"format": "json"}}},
        {"LIST": ["http://a.example", "http://user:s3cret-value@a.example"]},
        {"AWS_SECRET_ACCESS_KEY": "s3cret-value"},
        {"AWS_ACCESS_KEY_ID": "s3cret-value"},
        {"ZYTE_API_KEY": "s3cret-value"},
        {"FTP_PASSWORD": "s3cret-value"},
        {"MAIL_PASS": b"s3cret-value"},
        {"GITHUB_TOKEN": "s3cret-value"},
        {"password": "s3cret-value"},
        {"REDIS_PARAMS": '{"password": "s3cret-value"}'},
        {"FRONTIER_SETTINGS": ' {"FTP": [{"FTP_PASSWORD": "s3cret-value"}]}'},
        {"FRONTIER_SETTINGS": b'{"FEEDS": {"ftp://user:s3cret-value@a.example/x": {}}}'},
        {"REDIS_PARAMS": r'{"password": "s3cret\u002dvalue"}'},
    ],
)
def test_secrets_of_settings_are_hidden_wherever_they_stand(settings):
    assert Redaction.of(settings)("a s3cret-value, 's3cret-value'") == "a ***, '***'"


@pytest.mark.parametrize(
    "text",
    [
        '{"password": "s3cret-value"',
        "{'password': 's3cret-value'}",
        r'{"password": "s3cret\u002dvalue"}',
        '{"password": 12345678}',
    ],
)
def test_no_secret_is_shown_of_json_however_it_is_written(text):
    shown = Redaction.of({"REDIS_PARAMS": text})(f"REDIS_PARAMS: {text}")
    assert "***" in shown
    assert "s3cret" not in shown
    assert "12345678" not in shown


def test_json_without_a_secret_is_shown():
    text = '{"socket_timeout": 3000, "name": "plain-value", "pattern": "a\\\\b"}'
    assert Redaction.of({"REDIS_PARAMS": text})(text) == text


@pytest.mark.parametrize(
    "name", ["AUTHOR", "TOKENS_MAX", "COMPASS", "KEY_PREFIX", "HTTPPROXY_AUTH_ENCODING", "PASSAGE"]
)
def test_other_settings_are_shown(name):
    assert Redaction.of({name: "plain-value"})("plain-value") == "plain-value"


@pytest.mark.parametrize("shown", ["p%40ss/w'ord", "p@ss/w'ord", 'p@ss/w\'ord "quoted"', "dXNlcjpwQHNzL3cnb3Jk"])
def test_a_secret_is_hidden_in_all_its_forms(shown):
    redact = Redaction.of({"PROXY": "http://user:p%40ss/w'ord@a.example"})
    assert "ss/w'ord" not in redact(shown)
    assert "dXNlcjpw" not in redact(shown)


def test_a_secret_that_is_part_of_another_hides_all_of_it():
    assert Redaction(["abcd", "abcdef"])("abcdef abcd") == "*** ***"


def test_a_secret_of_some_letters_does_not_hide_the_log():
    assert Redaction(["no", "1", ""])("no 1 is known") == "no 1 is known"


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
        ("redis://user:se/cr@et@h:1/0", "redis://h:1/0"),  # unescaped, as people do
        ("redis://user:se?cr@h:1/0", "redis://***"),
        ("redis://h:1/0?password=a@secret", "redis://***"),
        ("redis://user:secret@", "redis://"),
        ("", ""),
    ],
)
def test_an_address_is_shown_without_its_secrets(url, shown):
    assert redacted_address(url) == shown


def test_secrets_of_sites_are_hidden_whatever_they_are_called():
    redact = Redaction.of({"SITE_SECRET_BOARD": "hush-hush", "SITE_SECRET_HOSTS": "SITE_SECRET_BOARD=a.example"})
    assert redact("hush-hush goes to SITE_SECRET_BOARD=a.example") == "*** goes to SITE_SECRET_BOARD=a.example"


def test_a_definition_is_shown_without_what_its_addresses_hide():
    definition = {"start": ["http://user:secret@a.test/", "http://a.test/"], "follow": {"depth": 1}, "name": "city"}
    shown = {"start": ["http://***@a.test/", "http://a.test/"], "follow": {"depth": 1}, "name": "city"}
    assert without_url_credentials(definition) == shown
