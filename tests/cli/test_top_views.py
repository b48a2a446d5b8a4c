"""What `scrapy top` shows, at any width."""

from __future__ import annotations

import io

import pytest
from rich.console import Console
from rich.screen import Screen
from rich.text import Text

from crawler.cli.top_views import VIEWS, Moment, screen
from crawler.cluster.overview import FrontierOverview, Overview, RedisOverview
from crawler.cluster.troubles import troubles
from crawler.telemetry.host_history import HostCounts

WORKER = {
    "node": "节点-with-a-long-name.example.org",
    "owner": "节点-with-a-long-name.example.org:10:1:x",
    "frontier": "content",
    "carrying": 7,
    "room": 3,
    "pages_per_minute": 1_200,
    "cpu_percent": 41.5,
    "memory_percent": 20.0,
    "age_s": 1.0,
    "session_s": 10.0,
    "drained": False,
    "why_no_browser": "",
    "sinks_down": ["kafka"],
    "egress_down_s": 0,
    "why_no_claims": "it waits for kafka (\x1b[2J)",
    "state": "alive",
    "is_overdue": False,
}


@pytest.fixture
def moment():
    frontiers = {"nav": FrontierOverview(), "content": FrontierOverview(offered=12_345, ready=12_345, hosts=9)}
    overview = Overview(
        1, frontiers, 2, {}, 0, {}, {}, [WORKER] * 300, [RedisOverview("redis", 5_000_000, 0, saves=True)]
    )
    hour = {"pages": 5, "failed:\x1b[2J": 1, "status:200": 4}
    hosts = {f"host-{number}.example.org": HostCounts(3, 2_000_000, 1) for number in range(100)}
    per_second = {"pages": 1.5, "items": 0.0, "bytes": 2_500_000.0}
    return Moment(overview, troubles(overview, [(0, hour)]), hour, per_second, hosts)


def drawn(moment, view, width=100, height=40, problem=""):
    """Returns the lines of a terminal of that size."""
    console = Console(file=io.StringIO(), width=width, height=height, force_terminal=True, no_color=True)
    console.print(Screen(screen(view, moment, problem)), end="")
    return console.file.getvalue().splitlines()


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize(("width", "height"), [(20, 10), (80, 24)])
def test_it_fits_into_any_terminal_and_acts_on_none(moment, view, width, height):
    lines = drawn(moment, view, width, height)
    assert len(lines) <= height
    assert max(Text.from_ansi(line).cell_len for line in lines) <= width
    assert "\x1b[2J" not in "".join(lines)


def test_the_views_have_the_words_of_the_other_commands(moment):
    overview = "\n".join(drawn(moment, "overview"))
    for words in (
        "last hour",
        "per second now",
        "2.5 MB",
        "12,345",
        "oldest due",
        "300 of 300",
        "Sink kafka can't be reached by",
    ):
        assert words in overview
    nodes = "\n".join(drawn(moment, "nodes", 200))
    for words in ("carries", "pages/min", "1,200", "alive, claims nothing: it waits for kafka"):
        assert words in nodes
    assert "host-0.example.org" in "\n".join(drawn(moment, "hosts"))


def test_a_small_screen_shows_why_pages_fail(moment):
    lines = drawn(moment, "overview", 80, 24)
    assert "failed in the last hour" in "\n".join(lines)
    assert any(line.rstrip().endswith("1") and "[2J" in line for line in lines)


def test_what_is_wrong_stands_above_what_was_known(moment):
    lines = drawn(moment, "overview", problem="Redis is away")
    assert "Redis is away" in lines[0]
    assert "12,345" in "\n".join(lines)
