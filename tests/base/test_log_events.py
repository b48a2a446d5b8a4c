"""Every event of the log has a name, and its row in docs/log-events.md."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from crawler.base.log_events import EVENTS, event_of

ROOT = Path(__file__).parents[2]
LEVELS = {"info", "warning", "error", "exception", "critical"}
SELDOM = {"_warn", "_complain", "warn"}  # as crawler/base/seldom.py's are called
OWN = {"time", "level", "logger", "event", "message", "spider", "traceback"}
# Templates that are Scrapy's own, or of texts that differ each time.
NAMELESS = {"%s", "Error caught on signal handler: %(receiver)s"}


def templates():
    """Yields the template of each record that the code logs, with the number of its arguments, and where."""
    for path in sorted((ROOT / "crawler").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if not (isinstance(node, ast.Call) and node.args):
                continue
            *before, name = ast.unparse(node.func).split(".")
            is_logger = before and before[-1].endswith("logger") and "scrapy" not in before[-1] and name in LEVELS
            if is_logger or name in SELDOM:
                for text in constants(node.args[0]):
                    yield text, len(node.args) - 1, f"{path.relative_to(ROOT)}:{node.lineno}"


def constants(node):
    """Yields the texts that an expression may be."""
    if isinstance(node, ast.Constant):
        yield node.value
    elif isinstance(node, ast.IfExp):
        yield from (*constants(node.body), *constants(node.orelse))


FOUND = list(templates())


def test_every_record_has_an_event_that_names_all_that_fills_it_in():
    assert len(FOUND) > 50
    nameless = [(place, text) for text, _number, place in FOUND if event_of(text) is None and text not in NAMELESS]
    assert nameless == []
    wrong = [(place, text) for text, number, place in FOUND if (one := event_of(text)) and len(one.fields) != number]
    assert wrong == []


def test_every_event_is_logged():
    trees = [
        ast.parse(path.read_text("utf-8")) for path in (ROOT / "crawler").rglob("*.py") if path.stem != "log_events"
    ]
    texts = {node.value for tree in trees for node in ast.walk(tree) if isinstance(node, ast.Constant)}
    assert EVENTS.keys() - texts == set()


def test_names_stand_for_one_event_and_fields_for_one_thing_each():
    names = [event.name for event in EVENTS.values()]
    assert len(set(names)) == len(names)
    for event in EVENTS.values():
        assert len(set(event.fields)) == len(event.fields)
        assert not OWN & set(event.fields)


def test_the_page_lists_them_all():
    rows = [
        f"| `{event.name}` | {template} | {' '.join(f'`{name}`' for name in event.fields)} |"
        for template, event in EVENTS.items()
    ]
    text = (ROOT / "docs" / "log-events.md").read_text("utf-8")
    assert [line for line in text.splitlines() if line.startswith("| `")] == rows


@pytest.mark.parametrize("more", ["", " (and 1,234 times more since it was last said)"])
def test_what_was_left_out_is_the_same_event(more):
    assert event_of("kafka: refuses messages: %s" + more).name == "kafka-refuses"


def test_anything_else_has_no_event():
    assert event_of("%s") is event_of(ValueError("kafka: refuses messages: %s")) is None
