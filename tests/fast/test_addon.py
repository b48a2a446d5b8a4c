"""The add-on replaces Scrapy's parts unless it is off, or a project or another add-on has replaced them before."""

import pytest
import scrapy
from scrapy.core.engine import ExecutionEngine
from scrapy.exceptions import NotConfigured
from scrapy.settings import Settings
from scrapy.utils.test import get_crawler

from crawler.fast.addon import FastEngine
from crawler.fast.stats import LeanStats


@pytest.fixture(autouse=True)
def _tested_version(monkeypatch):
    monkeypatch.setattr(scrapy, "__version__", "2.19.0")


@pytest.mark.parametrize(("version", "flag"), [("2.20.0", True), ("2.17.0", True), ("2.19.0", False)])
def test_scrapys_own_parts_stay_where_the_add_on_is_off_or_was_not_tested(monkeypatch, caplog, version, flag):
    monkeypatch.setattr(scrapy, "__version__", version)
    caplog.set_level("INFO")
    crawler = get_crawler()
    settings = Settings({"FAST_ENGINE": flag})
    with pytest.raises(NotConfigured):
        FastEngine(crawler).update_settings(settings)
    assert "_create_engine" not in vars(crawler)
    assert settings["STATS_CLASS"] == Settings()["STATS_CLASS"]
    assert (f"not tested with Scrapy {version}" in caplog.text) == flag
    assert "WARNING" not in caplog.text  # all works as well


def test_scrapys_own_parts_stay_where_a_method_that_is_overridden_is_gone(monkeypatch, caplog):
    monkeypatch.delattr(ExecutionEngine, "_download")
    with pytest.raises(NotConfigured):
        FastEngine(get_crawler()).update_settings(Settings())
    assert "no ExecutionEngine._download" in caplog.text


def test_scrapys_own_parts_stay_without_asyncio(caplog):
    """They wait for asyncio's futures, which no other reactor brings to an end."""
    caplog.set_level("INFO")
    settings = Settings({"TWISTED_REACTOR": "twisted.internet.selectreactor.SelectReactor"})
    with pytest.raises(NotConfigured):
        FastEngine(get_crawler()).update_settings(settings)
    assert settings["STATS_CLASS"] == Settings()["STATS_CLASS"]
    assert "it needs asyncio" in caplog.text
    FastEngine(get_crawler()).update_settings(settings := Settings({"TWISTED_REACTOR_ENABLED": False}))
    assert settings["STATS_CLASS"] == LeanStats


def test_a_switch_that_is_neither_true_nor_false_is_refused():
    with pytest.raises(ValueError, match=r"^FAST_ENGINE: "):
        FastEngine(get_crawler()).update_settings(Settings({"FAST_ENGINE": "perhaps"}))


def test_what_a_project_sets_itself_goes_before():
    settings = Settings({"LOG_FORMATTER": "the.projects.Own"})
    FastEngine(get_crawler()).update_settings(settings)
    assert settings["LOG_FORMATTER"] == "the.projects.Own"
    assert settings["STATS_CLASS"] == LeanStats
