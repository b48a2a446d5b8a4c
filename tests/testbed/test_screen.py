import io
from dataclasses import replace

import orjson
import pytest
from rich.console import Console

from crawler.frontier.ledger import Account
from testbed import summary
from testbed.progress import Items, Short, Snapshot, examples, pages
from testbed.screen import Screen
from testbed.summary import Summary

SHORT = Short("demo_forum", "[bold]洪水[/]", "张三", "2026-05-01", "zh", 2, 1, "今天", "http://127.0.0.1/thread/1")
SNAPSHOT = Snapshot(
    accounts={"nav": Account(offered=66, ready=26, finished=40), "content": Account(offered=9, known=4, failed=5)},
    items={"demo_forum": 1200},
    latest=SHORT,
    pages_per_minute=1234,
    sinks={"files": "up", "kafka": "starting"},
)
SUMMARY = Summary(
    plan="plans/demo.yaml",
    combinations=11,
    search_pages=66,
    content_pages=1,
    known=265,
    failures={"robots": 3},
    items={"demo_forum": 1},
    examples=[SHORT],
    sinks={"files": 1, "mongo": 1},
    left_out={"kafka": "Kafka: not on PATH: Java (java)"},
    pages_per_minute=2000,
    first_item_s=6.04,
    total_s=15.0,
    difference=0,
    folder="demo-output",
)


def console(*, terminal):
    return Console(file=io.StringIO(), force_terminal=terminal, width=100, highlight=False, emoji=False)


def test_a_terminal_shows_the_last_snapshot():
    out = console(terminal=True)
    with Screen(out) as screen:
        screen.note("redis: up")
        screen.show(SNAPSHOT)
    shown = out.file.getvalue()
    assert "redis: up" in shown
    for part in (
        "search pages",
        "26",
        "40",
        "demo_forum 1,200",
        "[bold]洪水[/]",
        "1,234 pages per minute",
        "kafka starting",
    ):
        assert part in shown


def test_lines_come_every_two_seconds_and_only_when_something_changed():
    out = console(terminal=False)
    with Screen(out) as screen:
        screen.show(SNAPSHOT)
        screen.show(replace(SNAPSHOT, items={"demo_forum": 1201}))
    (line,) = out.file.getvalue().splitlines()
    assert line.partition(" s  ")[2] == (
        "search pages 40 of 66; content pages 5 of 5; items: demo_forum 1,200; 1,234 pages per minute; "
        "sinks: files up, kafka starting"
    )


def test_the_summary_says_it_all():
    out = console(terminal=False)
    summary.show(SUMMARY, out)
    shown = out.file.getvalue()
    for part in (
        "plans/demo.yaml: 11 combinations",
        "66 search pages, 1 content page; 265 results had been found before",
        "3 pages: robots 3",
        "files 1, mongo 1, the same by id",
        "no kafka  Kafka: not on PATH: Java (java)",
        "difference 0, and a recount agrees",
        "15.0 s, the first item after 6.0 s",
        "1 item in short",
        "张三, 2026-05-01, zh, 2 images, 1 video; http://127.0.0.1/thread/1",
    ):
        assert part in shown


def test_a_summary_with_problems_claims_nothing_more():
    out = console(terminal=False)
    summary.show(replace(SUMMARY, problems=["mongo: 1 items are missing"], failures={}, first_item_s=None), out)
    shown = out.file.getvalue()
    assert "mongo: 1 items are missing" in shown
    for claim in ("the same by id", "agrees", "on purpose", "the first item"):
        assert claim not in shown


def test_the_summary_is_json():
    assert orjson.loads(orjson.dumps(SUMMARY))["examples"][0]["author"] == "张三"


def test_items_are_read_once_and_whole(tmp_path):
    message = {
        "id": "1",
        "resource": "s",
        "title": "t\x1b[2J",
        "author": None,
        "published": None,
        "language": None,
        "images": [],
        "videos": [],
        "content": "c",
        "url": "http://127.0.0.1/1",
    }
    line = orjson.dumps(message)
    items = Items(tmp_path)
    items.read()
    assert items.counts == {}
    with (tmp_path / "s.node.1.jsonl").open("wb") as file:
        for part, expected in ((line[:9], {}), (line[9:] + b"\n", {"s": 1}), (line + b"\n", {"s": 1})):
            file.write(part)
            file.flush()
            items.read()
            assert items.counts == expected
    assert items.latest.title == "t"  # no escape sequence reaches the terminal


@pytest.mark.parametrize("most", [0, 1, 3])
def test_examples_with_pictures_come_first(most):
    plain = replace(SHORT, images=0, videos=0)
    assert examples([plain, SHORT], most) == [SHORT, plain][:most]


def test_pages_are_what_was_read_or_has_failed():
    assert pages(SNAPSHOT.accounts) == 45
