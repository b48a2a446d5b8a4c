import io
from pathlib import Path

import pytest
from rich.console import Console

from testbed.demo import settings_for_another_terminal
from testbed.screen import Screen
from testbed.services import Services

RESULT = {
    "plan": "plans/demo.yaml",
    "search_pages": 66,
    "content_pages": 1205,
    "known": 265,
    "failures": {"robots": 3},
    "items": {"demo_forum": 1},
    "sinks": {"files": 1, "mongo": 1},
    "left_out": {"kafka": "Kafka: not on PATH: Java (java)"},
    "pages_per_minute": 2000,
    "total_s": 15.0,
    "difference": 0,
    "folder": "demo-output",
    "forum": "http://127.0.0.1:8800",
    "problems": [],
}
OWN_REDIS = {"KEY_PREFIX": "demo-1", "TOPIC_PREFIX": "demo-1.", "REDIS_URL": "redis://own"}
NAMED = {"REDIS_URL": "redis://:secret@named", "KAFKA_BOOTSTRAP_SERVERS": "named:1"}


@pytest.mark.parametrize("named", [{}, NAMED], ids=["own", "named"])
def test_servers_that_stay_up_can_be_asked_from_another_terminal(named):
    kept = settings_for_another_terminal(Services(OWN_REDIS | named), named)
    out = io.StringIO()
    with Screen(Console(file=out, width=110, highlight=False, emoji=False)) as screen:
        screen.result(RESULT | {"sinks": {"files": 1, "kafka": 1} if named else {}}, kept)
    text = out.getvalue()
    lines = [line.strip() for line in text.splitlines()]
    assert {"export KEY_PREFIX=demo-1", "export ALLOW_PRIVATE_ADDRESSES=1"} <= {*lines}
    assert f"export ITEMS_DIR={Path('demo-output/items').absolute()}" in lines
    assert ("export REDIS_URL=redis://own" in lines) == (not named)
    assert "STOP_WHEN_DONE" not in text
    assert "secret" not in text
    assert "the forum at http://127.0.0.1:8800" in text
    assert ("items tail demo_forum --from-start" in text) == bool(named)
