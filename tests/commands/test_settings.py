"""`scrapy settings`: what counts."""

from __future__ import annotations

import pytest
from commands.answers import error_of


@pytest.mark.parametrize(
    ("name", "settings", "environment", "shown"),
    [
        ("SESSION_SECONDS", {}, {}, "15"),
        ("SESSION_SECONDS", {}, {"SESSION_SECONDS": "20"}, "20"),
        ("SESSION_SECONDS", {"SESSION_SECONDS": "25"}, {"SESSION_SECONDS": "20"}, "25"),
        ("BOT_NAME", {}, {}, "headroom"),
        ("KAFKA_SASL_PASSWORD", {}, {"KAFKA_SASL_PASSWORD": "hunter22"}, "***"),
        ("REDIS_URL", {"REDIS_URL": "redis://user:hunter22@h:1/0"}, {}, "redis://***@h:1/0"),
    ],
)
def test_it_prints_what_counts_without_passwords(scrapy, name, settings, environment, shown):
    done = scrapy("settings", "--get", name, settings=settings, environment=environment)
    assert (done.returncode, done.stdout, done.stderr) == (0, f"{shown}\n", "")


def test_a_wrong_flag_is_one_line(scrapy):
    done = scrapy("settings", "--get", "BOT_NAME", environment={"STOP_WHEN_DONE": "perhaps"})
    assert error_of(done) == "setting STOP_WHEN_DONE in the environment: got 'perhaps', expected 1 or 0"
