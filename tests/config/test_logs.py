"""No log record holds a secret, a control character, or a line that begins like a record of its own."""

from __future__ import annotations

import io
import json
import logging
import sys
from types import SimpleNamespace

import pytest
from scrapy.settings import Settings
from scrapy.utils import log as log_of_scrapy

from crawler.base import log_events
from crawler.base.errors import UnavailableError
from crawler.config import logs


@pytest.fixture(autouse=True)
def _installed():
    """Has the process log as ours do, with a secret among its settings."""
    factory, redact = logging.getLogRecordFactory(), logs.InertRecord.redact
    logs.install({"REDIS_URL": "redis://:s3cret-value@a.example/0"})
    yield
    logging.setLogRecordFactory(factory)
    logs.InertRecord.redact = redact


@pytest.fixture
def log():
    """Returns a function that logs with a handler of somebody else's, and gives what it wrote."""
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    handler.setFormatter(logging.Formatter("%(levelname)s: %(message)s"))
    logger = logging.getLogger("tests.logs")
    logger.setLevel(logging.INFO)
    logger.addHandler(handler)

    def written(*arguments, **options):
        logger.info(*arguments, **options)
        return stream.getvalue()

    yield written
    logger.removeHandler(handler)


class Failing:
    """Something that raises with a text that it has from a page."""

    def __iter__(self):
        raise ValueError("a\nINFO: forged \x1b[2J s3cret-value")


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r", "\x0b", "\x0c", "\x1c", "\x85", "\u2028", "\u2029"])
def test_a_record_is_one_line(log, end):
    assert log("title %s", f"a{end}INFO: forged") == "INFO: title a INFO: forged\n"


@pytest.mark.parametrize(
    "text", ["\x1b[2J", "\x9b2J", "\x1b]0;x\x07", "a\0b", "\x08", "\x7f", "\u202e", "\u200b", "\ud800"]
)
def test_what_does_not_show_is_replaced(log, text):
    assert log("title %s", text).removesuffix("\n").isprintable()


def test_a_dump_goes_on_in_lines_that_are_indented(log):
    assert log("settings:\n%s", "{'a': 1,\n 'b': 2}") == "INFO: settings:\n    {'a': 1,\n     'b': 2}\n"


def test_a_traceback_goes_on_in_lines_that_are_indented(log):
    try:
        list(Failing())
    except ValueError:
        lines = log("it failed", exc_info=True).split("\n")
    assert lines[0] == "INFO: it failed"
    assert lines[1] == "    Traceback (most recent call last):"
    assert all(line.startswith("    ") for line in lines[1:-1])
    assert lines[-2] == "    INFO: forged \ufffd[2J ***"


def test_an_error_for_the_operator_is_one_line(log):
    written = log("Error processing %s", "it", exc_info=UnavailableError("kafka: closed before it was delivered"))
    assert written == "INFO: Error processing it: kafka: closed before it was delivered\n"


def test_a_stack_goes_on_in_lines_that_are_indented(log):
    lines = log("here", stack_info=True).split("\n")
    assert len(lines) > 3
    assert all(line.startswith("    ") for line in lines[1:-1])


def test_secrets_are_hidden(log):
    assert log("%s at http://user:x@b.example", "s3cret-value") == "INFO: *** at http://***@b.example\n"


def test_a_record_is_not_endless(log):
    assert len(log("%s", "x" * 1_000_000)) < 2 * logs.MAX_RECORD_CHARACTERS


def json_of(*arguments, level=logging.WARNING, exc_info=None, **extra):
    """Returns what a record becomes as JSON."""
    record = logging.getLogger("tests.logs").makeRecord(
        "tests.logs", level, "file", 1, arguments[0], arguments[1:], exc_info, extra=extra
    )
    line = logs.JsonLines().format(record)
    assert line.isprintable()
    return json.loads(line)


def test_a_line_of_json_has_the_event_and_what_fills_in_its_message():
    found = json_of(log_events.SINK_DOWN, "kafka", ConnectionError("no broker"))
    assert found.pop("time").endswith("Z")
    assert found == {
        "level": "WARNING",
        "logger": "tests.logs",
        "event": "sink-down",
        "message": "kafka: down, its items wait: no broker",
        "sink": "kafka",
        "error": "no broker",
    }
    assert json_of(log_events.SESSION_NOT_RENEWED, 7, "x")["partition"] == 7


def test_json_has_no_secret_and_nothing_that_acts():
    found = json_of(log_events.KAFKA_REFUSES, "s3cret-value \x1b[2J\n{}", spider=SimpleNamespace(name="consumer"))
    assert found["error"] == "*** \N{REPLACEMENT CHARACTER}[2J {}"
    assert (found["message"], found["spider"]) == ("kafka: refuses messages: " + found["error"], "consumer")


def test_json_has_a_traceback_in_the_same_line():
    try:
        list(Failing())
    except ValueError:
        found = json_of("it failed", exc_info=sys.exc_info())
    assert "event" not in found
    assert found["traceback"].splitlines()[0].strip() == "Traceback (most recent call last):"
    assert "s3cret-value" not in found["traceback"]


def test_scrapys_handlers_write_json_where_they_are_told_to(tmp_path, monkeypatch):
    path = tmp_path / "log"
    monkeypatch.setattr(log_of_scrapy, "_get_handler", log_of_scrapy._get_handler)  # it is put back behind the test
    logs.install({"LOG_JSON": "1"})
    handler = log_of_scrapy._get_handler(Settings({"LOG_FILE": str(path)}))
    handler.emit(
        logging.getLogger("tests.logs").makeRecord("a", logging.INFO, "", 1, log_events.CLAIMS_RESUMED, (), None)
    )
    handler.close()
    assert json.loads(path.read_text())["event"] == "claims-resumed"
