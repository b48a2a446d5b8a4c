"""The table of settings."""

from __future__ import annotations

import pytest
from scrapy.settings import default_settings

from crawler import config
from crawler.base.redaction import HIDDEN, Redaction


def test_an_entry_says_what_it_does_in_sentences():
    assert [setting.name for setting in config.ALL if not (setting.why.endswith(".") and setting.expected)] == []


def test_a_default_is_a_value_that_the_setting_takes():
    for setting in config.ALL:
        assert setting.parse(setting.default) == setting.default, setting.name


def test_names_of_scrapys_are_marked_as_its_own():
    """FILES_STORE is the exception: it has a value for the crawl alone, which containers set."""
    of_scrapy = {setting.name for setting in config.ALL if hasattr(default_settings, setting.name)} - {"FILES_STORE"}
    assert {setting.name for setting in config.ALL if setting.owner == "Scrapy"} >= of_scrapy


@pytest.mark.parametrize("setting", [one for one in config.ALL if one.secret], ids=lambda setting: setting.name)
def test_a_secret_is_hidden_wherever_it_is_shown(setting):
    values = {
        "REDIS_URL": "redis://user:hunter22@h/0",
        "MONGO_URL": "mongodb://user:hunter22@h/",
        "REDIS_PARAMS": {"password": "hunter22"},
        "FRONTIER_SETTINGS": '{"FTP_PASSWORD": "hunter22"}',
    }
    redact = Redaction.of({setting.name: values.get(setting.name, "hunter22")})
    assert redact("got hunter22") == f"got {HIDDEN}"
