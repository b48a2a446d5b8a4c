from __future__ import annotations

import os
import pickle
import signal
import subprocess
import threading
from contextlib import closing, contextmanager
from pathlib import Path

import orjson
import pytest
from kafka import KafkaProducer
from pipelines.sink_samples import message, page

ROOT = Path(__file__).parents[2]


class Bomb:
    """What unpickling would execute."""

    def __init__(self, mark):
        self.mark = mark

    def __reduce__(self):
        return os.mkdir, (str(self.mark),)


@pytest.fixture
def send(kafka_server, topic_prefix):
    with closing(KafkaProducer(bootstrap_servers=kafka_server.bootstrap)) as producer:

        def send(*values):
            for value in values:
                producer.send(f"{topic_prefix}demo_forum", value).get(10)

        yield send


@pytest.fixture
def options(kafka_server, topic_prefix):
    return {
        "environment": {"KAFKA_BOOTSTRAP_SERVERS": kafka_server.bootstrap},
        "settings": {"TOPIC_PREFIX": topic_prefix},
    }


@pytest.fixture
def tailing(scrapy_command, options):
    """Runs `scrapy items tail` until the block ends."""

    @contextmanager
    def tailing(*arguments):
        words, environment = scrapy_command("items", "tail", "demo_forum", *arguments, **options)
        with subprocess.Popen(
            words,
            cwd=ROOT,
            env=os.environ | environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
        ) as process:
            end = threading.Timer(60, process.kill)  # a tail that says nothing must not hang the test
            end.start()
            try:
                yield process
            finally:
                end.cancel()
                process.kill()

    return tailing


def encoded(number: int, **fields) -> bytes:
    return orjson.dumps(page(number, **fields))


def test_tail_prints_what_is_there_from_the_start(scrapy, options, send):
    send(encoded(1, title="洪水 2026"), encoded(2))
    run = scrapy("items", "tail", "demo_forum", "--from-start", "--count", "2", **options)
    assert run.stdout.splitlines() == [
        "2026-11-21T14:00:00Z  洪水 2026  https://forum.example/thread/1",
        "2026-11-21T14:00:00Z  Thread 2  https://forum.example/thread/2",
    ]
    assert (run.returncode, run.stderr) == (0, "")


def test_tail_prints_messages_as_json(scrapy, options, send):
    send(encoded(1), encoded(2, content="two\nlines"))
    run = scrapy("items", "tail", "demo_forum", "--from-start", "--count", "2", "--json", **options)
    assert [orjson.loads(line) for line in run.stdout.splitlines()] == [
        message(page(1)),
        message(page(2, content="two\nlines")),
    ]


def test_tail_follows_a_topic_until_ctrl_c(tailing, send):
    send(encoded(1))
    with tailing() as tail:
        assert "waiting for new items" in tail.stderr.readline()
        for number in (2, 3):
            send(encoded(number))
            assert tail.stdout.readline().split("  ")[1] == f"Thread {number}"
        tail.send_signal(signal.SIGINT)
        assert tail.wait(20) == 0
        assert (tail.stdout.read(), tail.stderr.read()) == ("", "")


def test_tail_waits_for_a_topic_that_is_not_there_and_misses_nothing(tailing, send):
    with tailing("--count", "2") as tail:
        assert "no such topic yet" in tail.stderr.readline()
        send(encoded(1), encoded(2))
        assert [line.split("  ")[1] for line in tail.stdout] == ["Thread 1", "Thread 2"]
        assert tail.wait(20) == 0


def test_junk_is_reported_and_never_executed(scrapy, options, send, tmp_path):
    mark = tmp_path / "executed"
    junk = [
        pickle.dumps(Bomb(mark)),
        b"not json",
        b"",
        b"\xff\xfe",
        b"[1]",
        b'"text"',
        b"{}",
        orjson.dumps({**message(page()), "title": None}),
        b"[" * 100_000,
    ]
    send(*junk, encoded(1))
    run = scrapy("items", "tail", "demo_forum", "--from-start", "--count", "1", **options)
    assert run.stdout.count("\n") == 1
    refused = run.stderr.splitlines()
    assert len(refused) == len(junk)
    assert all(line.startswith("refused: ") and f"offset {offset}" in line for offset, line in enumerate(refused))
    assert run.returncode == 0
    assert not mark.exists()


def test_a_title_cannot_move_the_cursor(scrapy, options, send):
    send(encoded(1, title="a\x1b[2J\x07\u202eb\nc\r\x9bd"))
    run = scrapy("items", "tail", "demo_forum", "--from-start", "--count", "1", **options)
    assert run.stdout.count("\n") == 1
    assert run.stdout.rstrip("\n").isprintable()


def test_an_unreachable_kafka_is_one_line_and_status_1(scrapy):
    run = scrapy("items", "tail", "demo_forum")
    assert (run.returncode, run.stdout) == (1, "")
    assert run.stderr == "error: Kafka at 127.0.0.1:1: no connection\n"


@pytest.mark.parametrize(
    "arguments", [(), ("tail",), ("tail", "a", "b"), ("watch", "a"), ("tail", "../a"), ("tail", "a", "--count", "0")]
)
def test_a_wrong_command_line_is_one_line_and_status_1(scrapy, arguments):
    run = scrapy("items", *arguments)
    assert (run.returncode, run.stdout) == (1, "")
    assert run.stderr.startswith("error: ")
    assert run.stderr.count("\n") == 1


def test_schema_prints_the_file_that_ships(scrapy):
    assert scrapy("items", "schema").stdout == (ROOT / "crawler" / "item.schema.json").read_text(encoding="utf-8")
