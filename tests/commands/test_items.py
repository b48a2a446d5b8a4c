"""`scrapy items`, on a real Kafka."""

from __future__ import annotations

import os
import pickle
import signal
from contextlib import closing

import orjson
import pytest
from command_line import ROOT
from commands.answers import error_of, json_of, lines_of
from kafka import KafkaProducer
from pipelines.sink_samples import message, page
from samples import Bomb
from waiting import PATIENCE_SECONDS, until

from crawler.base.also import Also
from crawler.base.models import Seed


@pytest.fixture
def send(kafka_server, topic_prefix):
    with closing(KafkaProducer(bootstrap_servers=kafka_server.bootstrap)) as producer:

        def send(*values):
            for value in values:
                producer.send(f"{topic_prefix}demo_forum", value).get(PATIENCE_SECONDS)

        yield send


@pytest.fixture
def options(kafka_server, topic_prefix):
    """As operators and the demo say where Kafka is: by the environment."""
    return {"environment": {"KAFKA_BOOTSTRAP_SERVERS": kafka_server.bootstrap, "TOPIC_PREFIX": topic_prefix}}


@pytest.fixture
def tail(spawn, options):
    """Returns a function that starts `scrapy items tail`, and one that gives the lines that it has printed."""

    def start(*arguments, site="demo_forum"):
        process = spawn("items", "tail", site, *arguments, **options)
        return process, lambda: process.log.read_text(encoding="utf-8").splitlines()

    return start


def encoded(number: int, **fields) -> bytes:
    return orjson.dumps(page(number, **fields))


def test_tail_prints_what_is_there_from_the_start(scrapy, options, send):
    send(encoded(1, title="洪水 2026"), encoded(2, title="a\x1b[2J\x07\u202eb\nc\r\x9bd"))
    run = scrapy("items", "tail", "demo_forum", "--from-start", "--count", "2", **options)
    first, second = run.stdout.removesuffix("\n").split("\n")
    assert first == "2026-11-21T14:00:00Z  洪水 2026  https://forum.example/thread/1"
    assert second.isprintable()  # a title can't move the cursor
    assert (run.returncode, run.stderr) == (0, "")


def test_tail_follows_a_topic_until_ctrl_c(tail, send):
    send(encoded(1))
    process, lines = tail()
    until(lambda: lines()[-1:] and "waiting for new items" in lines()[-1], "the tail to begin")
    for number in (2, 3):
        send(encoded(number))
        until(lambda: f"Thread {number}" in lines()[-1], "the new item")  # noqa: B023 -- called before the next
    os.kill(process.pid, signal.SIGINT)
    assert process.wait(PATIENCE_SECONDS) == 0
    assert len(lines()) == 3


def test_tail_waits_for_a_topic_that_is_not_there_and_misses_nothing(tail, send):
    process, lines = tail("--count", "2")
    until(lambda: lines() and "no such topic yet" in lines()[0], "the tail to begin")
    send(encoded(1), encoded(2))
    assert process.wait(PATIENCE_SECONDS) == 0
    assert [line.split("  ")[1] for line in lines()[1:]] == ["Thread 1", "Thread 2"]


def test_a_misspelt_site_is_told_the_nearest_that_has_a_topic(tail, send):
    send(encoded(1))
    process, lines = tail("--count", "1", site="demo_form")
    until(lines, "the tail to begin")
    assert lines()[0].endswith("demo_form: no such topic yet, waiting for it; did you mean demo_forum?")
    process.kill()


def test_tail_shows_who_else_wants_an_item(scrapy, options, kafka_server, topic_prefix):
    told = Also.of(Seed("https://forum.example/thread/1", "flood", "demo_forum", keywords=("洪水",)))
    with closing(KafkaProducer(bootstrap_servers=kafka_server.bootstrap)) as producer:
        producer.send(f"{topic_prefix}demo_forum.also", orjson.dumps(told)).get(PATIENCE_SECONDS)
    words = ("items", "tail", "demo_forum.also", "--from-start", "--count", "1")
    assert scrapy(*words, **options).stdout == f"{told.time}  flood  https://forum.example/thread/1\n"
    assert orjson.loads(scrapy(*words, "--json", **options).stdout) == orjson.loads(orjson.dumps(told))


def test_each_sink_says_where_its_items_land(scrapy, tmp_path):
    settings = {
        "ITEM_SINKS": "files,kafka,mongo",
        "ITEMS_DIR": tmp_path / "out",
        "FILES_STORE": tmp_path / "media",
        "TOPIC_PREFIX": "news.",
        "MONGO_DATABASE": "news",
    }
    environment = {
        "KAFKA_BOOTSTRAP_SERVERS": "k1:9092,k2:9092",
        "MONGO_URL": "mongodb://me:secret@db:27017/?tls=true",
    }
    done = scrapy("items", settings=settings, environment=environment)
    assert lines_of(done) == [
        f"files {tmp_path}/out/SITE.*.jsonl (ITEMS_DIR): an item on each line, a file for each worker",
        "mongo collection items of database news (MONGO_DATABASE) at mongodb://db:27017/",
        "kafka topic news.SITE (TOPIC_PREFIX) at k1:9092,k2:9092",
        f"images and videos {tmp_path}/media",
    ]
    assert not (tmp_path / "out").exists()
    own = {"SINKS": '{"own": "crawler.pipelines.files.FilesSink"}', "ITEM_SINKS": "own", "FILES_STORE": "s3://bucket/m"}
    answer = json_of(scrapy("items", "where", "--json", settings=own))
    assert list(answer["items"]) == ["own"]
    assert answer["media"] == "s3://bucket/m"


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


def test_an_unreachable_kafka_is_one_line_and_status_1(scrapy):
    assert error_of(scrapy("items", "tail", "demo_forum")) == "Kafka at 127.0.0.1:1: no connection"


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("watch a", "'watch' after items; actions: schema, tail, where"),
        ("tail", "items tail: expected SITE"),
        ("tail a b", "items tail: expected SITE"),
        ("tail ../a", "'../a' can't be a site's name"),
        ("tail a --count 0", "--count is at least 1"),
    ],
)
def test_a_wrong_command_line_is_one_line(scrapy, words, expected):
    assert error_of(scrapy("items", *words.split())) == expected


def test_schema_prints_the_file_that_ships(scrapy):
    assert scrapy("items", "schema").stdout == (ROOT / "crawler" / "base" / "item.schema.json").read_text(
        encoding="utf-8"
    )
