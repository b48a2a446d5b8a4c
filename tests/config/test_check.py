"""What a process refuses as it starts, and what it sets for those who read settings by themselves."""

from __future__ import annotations

import pytest
from scrapy.settings import Settings

from crawler import config
from crawler.base.errors import ConfigError, HeadroomError, UnknownSettingError
from crawler.config.check import check, complete, misspelt_names, redaction_of
from crawler.spiders.consumer import ConsumerSpider


def project(**values):
    settings = Settings()
    settings.setdict(values, "project")
    return settings


@pytest.fixture
def in_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def write(text):
        (tmp_path / "scrapy.cfg").write_text(f"[headroom]\n{text}\n")

    return write


def test_defaults_and_names_of_others_pass():
    check(Settings())
    check(project(KAFKA_TOPIC="mine", MONGO_URI="mongodb://h", MY_OWN=1))


@pytest.mark.parametrize(
    "setting", [one for one in config.ALL if "any text" not in one.expected], ids=lambda one: one.name
)
def test_every_wrong_value_is_refused_by_name(setting):
    with pytest.raises(ConfigError, match=rf"^setting {setting.name}: got .*, expected ."):
        check(project(**{setting.name: "\0wrong,"} if not isinstance(setting.default, tuple) else {setting.name: 5}))


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("KAFKA_SECURTY_PROTOCOL", "KAFKA_SECURITY_PROTOCOL"),
        ("ITEM_SINK", "ITEM_SINKS"),
        ("NODE_MEMORY_LIMIT", "NODE_MEMORY_LIMIT_PERCENT"),
    ],
)
@pytest.mark.parametrize("priority", ["project", "spider", "cmdline"])
def test_a_misspelt_name_is_refused_with_the_nearest_one(name, meant, priority):
    settings = Settings()
    settings.set(name, "1", priority)
    with pytest.raises(UnknownSettingError, match=rf"^setting '{name}': there is none; did you mean {meant}\?; if "):
        check(settings)


def test_who_sets_both_names_knows_which_is_which():
    check(project(ITEM_SINK="mine", ITEM_SINKS="files"))


def test_in_scrapy_cfg_every_unknown_name_is_refused(in_file):
    in_file("ITEMS_DIR = items")
    check(Settings())
    in_file("SITES_DRI = sites")
    with pytest.raises(UnknownSettingError, match=r"did you mean SITES_DIR\?$"):
        check(Settings())
    in_file("MY_OWN = 1")
    with pytest.raises(UnknownSettingError, match=r"^setting 'MY_OWN' in .*scrapy.cfg: there is none"):
        check(Settings())
    in_file("DOWNLOAD_TIMEOUT = 5")  # Scrapy's own: it would do nothing there
    with pytest.raises(UnknownSettingError):
        check(Settings())


def test_a_misspelt_variable_is_told_but_not_refused(monkeypatch):
    monkeypatch.setenv("KAFKA_SECURTY_PROTOCOL", "SSL")
    monkeypatch.setenv("REDIS_PORT", "tcp://10.0.0.1:6379")  # Kubernetes makes it for a service called redis
    check(Settings())
    line = "the environment's KAFKA_SECURTY_PROTOCOL is no setting and does nothing here"
    assert misspelt_names() == [f"{line}; did you mean KAFKA_SECURITY_PROTOCOL?"]
    monkeypatch.setenv("KAFKA_SECURITY_PROTOCOL", "SSL")
    assert misspelt_names() == []


def test_a_misspelt_credential_is_told_but_not_refused(monkeypatch, tmp_path):
    monkeypatch.setenv("CREDENTIALS_DIRECTORY", str(tmp_path))
    for name in ("MONGO_URI", "redis_url", "KAFKA_SASL_PASSWORT", "tls.crt", "ITEMS_DIR"):
        (tmp_path / name).write_text("hunter22")
    check(Settings())
    does_nothing = "in CREDENTIALS_DIRECTORY is no setting and does nothing here; did you mean"
    assert misspelt_names() == [
        f"the file KAFKA_SASL_PASSWORT {does_nothing} KAFKA_SASL_PASSWORD?",
        f"the file MONGO_URI {does_nothing} MONGO_URL?",
        f"the file redis_url {does_nothing} REDIS_URL?",
    ]
    (tmp_path / "REDIS_URL").write_text("redis://h")
    assert not any("redis_url" in line for line in misspelt_names())


def test_complete_sets_what_nobody_has_set(monkeypatch):
    monkeypatch.setenv("FILES_STORE", "/media")
    monkeypatch.setenv("ITEMS_DIR", "/items")
    settings = project(ITEMS_DIR="/own", FAST_ENGINE="off", CONCURRENT_REQUESTS=7)
    complete(settings)
    assert settings["FILES_STORE"] == "/media"
    assert settings["ITEMS_DIR"] == "/own"
    assert (settings["FAST_ENGINE"], settings.getpriority("FAST_ENGINE")) == (False, 20)
    assert (settings["CONCURRENT_REQUESTS"], settings["DOWNLOAD_TIMEOUT"]) == (7, 60)
    assert settings["SESSION_SECONDS"] == 15


def test_a_spider_of_the_frontier_is_refused_however_it_is_started():
    with pytest.raises(HeadroomError, match="did you mean ITEM_SINKS"):
        ConsumerSpider.update_settings(project(ITEM_SINK="kafka"))


def test_a_secret_in_scrapy_cfg_is_hidden(in_file):
    in_file("KAFKA_SASL_PASSWORD = hunter22\nREDIS_URL = redis://user:hunter%2333@h")
    assert redaction_of(Settings())("hunter22 and hunter%2333, hunter#33") == "*** and ***, ***"


def test_a_credential_that_cant_be_read_hides_the_others_all_the_same(monkeypatch, tmp_path):
    monkeypatch.setenv("CREDENTIALS_DIRECTORY", str(tmp_path))
    (tmp_path / "KAFKA_SASL_PASSWORD").write_text("hunter22")
    for name in ("ITEMS_DIR", "MONGO_URL"):  # before and behind it in the table
        (tmp_path / name).write_bytes(b"\xff")
    assert redaction_of(Settings())("hunter22") == "***"
