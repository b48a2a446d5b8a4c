import io
from pathlib import Path

import pytest
from rich.console import Console

from crawler.frontier.ledger import Account
from testbed.demo import settings_for_another_terminal
from testbed.screen import Screen
from testbed.services import Services

NAV, CONTENT = Account(offered=66, ready=26, finished=40), Account(offered=1209, known=4, failed=5)
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
CLAIMS = ("the same by id", "a recount agrees", "Try next")
OWN_REDIS = {"KEY_PREFIX": "demo-1", "TOPIC_PREFIX": "demo-1.", "REDIS_URL": "redis://own"}
NAMED = {"REDIS_URL": "redis://:secret@named", "KAFKA_BOOTSTRAP_SERVERS": "named:1"}


@pytest.fixture
def shown():
    """Returns `shown(STEPS, terminal=False)`: what a screen prints that `STEPS(screen)` was done with."""

    def show(steps, *, terminal=False):
        out = io.StringIO()
        with Screen(Console(file=out, force_terminal=terminal, width=110, highlight=False, emoji=False)) as screen:
            steps(screen)
        return out.getvalue()

    return show


def test_a_terminal_shows_bars_below_the_notes(shown):
    def steps(screen):
        screen.note("redis: [bold]up[/]\x1b[2J")
        screen.progress(NAV, CONTENT, "7 items")

    text = shown(steps, terminal=True)
    for part in ("redis: [bold]up[/]\N{REPLACEMENT CHARACTER}[2J", "search pages", "40/66", "5/1205", "7 items"):
        assert part in text


def test_the_result_says_it_all(shown):
    text = shown(lambda screen: screen.result(RESULT, None))
    parts = ("66 search pages, 1,205 content pages; 265 results", "robots 3", "files 1, mongo 1", "15.0 s")
    for part in (*parts, *CLAIMS, "no kafka  Kafka: not on PATH: Java (java)"):
        assert part in text


@pytest.mark.parametrize("named", [{}, NAMED], ids=["own", "named"])
def test_servers_that_stay_up_can_be_asked_from_another_terminal(named, shown):
    kept = settings_for_another_terminal(Services(OWN_REDIS | named), named)
    text = shown(lambda screen: screen.result(RESULT | {"sinks": {"files": 1, "kafka": 1} if named else {}}, kept))
    lines = [line.strip() for line in text.splitlines()]
    assert {"export KEY_PREFIX=demo-1", "export ALLOW_PRIVATE_ADDRESSES=1"} <= {*lines}
    assert f"export ITEMS_DIR={Path('demo-output/items').absolute()}" in lines
    assert ("export REDIS_URL=redis://own" in lines) == (not named)
    assert "STOP_WHEN_DONE" not in text
    assert "secret" not in text
    assert "the forum at http://127.0.0.1:8800" in text
    assert ("items tail demo_forum --from-start" in text) == bool(named)
