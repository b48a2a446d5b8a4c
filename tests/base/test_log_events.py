"""Every event of the log names all that fills its message in, and has its row in docs/log-events.md."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from crawler.base.log_events import EVENTS, FAST_ENGINE_MISSING, KAFKA_REFUSES, event_of

ROOT = Path(__file__).parents[2]
OWN = {"time", "level", "logger", "event", "message", "spider", "traceback"}


def test_names_stand_for_one_event_and_fields_for_one_thing_each():
    assert len({event.name for event in EVENTS}) == len(EVENTS) > 50
    for event in EVENTS:
        assert len(re.findall("%[^%]", event.replace("%%", ""))) == len(event.fields), event.name
        assert len(set(event.fields)) == len(event.fields), event.name
        assert not OWN & set(event.fields), event.name


def test_the_page_lists_them_all():
    rows = [f"| `{event.name}` | {event} | {' '.join(f'`{name}`' for name in event.fields)} |" for event in EVENTS]
    text = (ROOT / "docs" / "log-events.md").read_text("utf-8")
    assert [line for line in text.splitlines() if line.startswith("| `")] == rows


@pytest.mark.parametrize("event", [KAFKA_REFUSES, KAFKA_REFUSES.after_others(1_234)])
def test_what_was_left_out_is_the_same_event(event):
    assert event_of(event).name == "kafka-refuses"


def test_the_fast_engines_texts_are_known_and_others_are_not():
    assert event_of("FAST_ENGINE: Scrapy has no %s any more; Scrapy's own engine runs") is FAST_ENGINE_MISSING
    assert event_of("%s") is event_of(ValueError(KAFKA_REFUSES)) is None
