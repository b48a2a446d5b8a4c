"""`scrapy items`: where items land; watches what leaves through Kafka, and shows the items' JSON Schema."""

from __future__ import annotations

import contextlib
import sys
from typing import TYPE_CHECKING, Any, ClassVar

import orjson
from scrapy.exceptions import UsageError

from crawler import config
from crawler.base.errors import UnavailableError, existing, shown
from crawler.base.text import one_line
from crawler.cli.actions import FLAG, Action, ActionCommand, Option
from crawler.cli.output import print_answer, print_json, to_json
from crawler.cli.text_tables import print_pairs

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

    from kafka import KafkaConsumer

ALSO = ".also"  # the end of topics that tell further plans of items; no site's name has a dot
SHOWN = ("time", "title", "url")  # the fields that the line of an item shows
SHOWN_OF_ALSO = ("time", "plan", "url")


class Command(ActionCommand):
    """Says where items land, prints a site's topic as it grows, or the JSON Schema of the messages in it."""

    summary = "Where items land; watch a site's items in Kafka; show their JSON Schema"
    actions: ClassVar[dict[str, Action]] = {
        "where": Action(
            "",
            "show where items land with these settings; also without the word `where`",
            "where",
            more=("ITEM_SINKS chooses the places; ITEMS_DIR, TOPIC_PREFIX and MONGO_DATABASE name them.",),
        ),
        "tail": Action(
            "SITE",
            "print each new item of a site's Kafka topic as a line, until Ctrl-C; with --json the messages",
            "tail demo_forum --from-start",
            (
                Option("--from-start", "begin with the oldest item in the topic", FLAG),
                Option("--count", "end after N items", {"type": int, "metavar": "N"}),
            ),
            ("SITE.also is the topic of the words that further plans want an item that was delivered for another.",),
        ),
        "schema": Action(
            "",
            "print the JSON Schema of the messages",
            "schema",
            (Option("--also", "of the word that a further plan wants an item, on SITE.also", FLAG),),
        ),
    }
    default_action = "where"

    def do_where(self, _args: list[str], opts: argparse.Namespace) -> None:
        """Shows where items and media land."""
        from crawler.pipelines.media import media_place
        from crawler.pipelines.sink import chosen_classes

        places = {name: sink.place(self.values) for name, sink in chosen_classes(self.values).items()}
        media = media_place(self.values)
        answer = {"items": places, "media": media}
        lines = [*places.items(), ("images and videos", media or "nowhere: FILES_STORE is empty")]
        print_answer(opts, answer, lambda _: print_pairs(lines))

    def do_schema(self, _args: list[str], opts: argparse.Namespace) -> None:
        """Prints the JSON Schema."""
        from crawler.base.also import also_schema
        from crawler.base.item import item_schema

        print_json(also_schema() if opts.also else item_schema())

    def do_tail(self, args: list[str], opts: argparse.Namespace) -> None:
        """Prints the items of a site's topic."""
        from kafka.errors import KafkaError

        from crawler.base.item import is_site_name
        from crawler.servers.kafka_clients import kafka_consumer

        (name,) = args
        site, is_also = name.removesuffix(ALSO), name.endswith(ALSO)
        if not is_site_name(site):
            raise UsageError(f"{shown(name)} can't be a site's name")
        if opts.count is not None and opts.count < 1:
            raise UsageError("--count is at least 1")
        prefix = config.TOPIC_PREFIX.of(self.values)
        topic, columns = prefix + name, SHOWN_OF_ALSO if is_also else SHOWN
        try:
            with (
                contextlib.suppress(KeyboardInterrupt),  # how people end a tail
                contextlib.closing(kafka_consumer(self.values, topic)) as consumer,
            ):
                _begin(consumer, topic, prefix, from_start=opts.from_start)
                for number, message in enumerate(_messages(consumer, columns), 1):
                    _print_message(message, columns, as_json=opts.json)
                    if number == opts.count:
                        return
        except KafkaError as error:
            raise UnavailableError(f"Kafka: {type(error).__name__}") from None


def _begin(consumer: KafkaConsumer, topic: str, prefix: str, *, from_start: bool) -> None:
    """Moves the consumer to where the tail begins, and says so on stderr.

    A topic or partition that is made later is read from its start in any case, because everything in it is new.
    """
    if not consumer.partitions_for_topic(topic):
        from crawler.base.item import is_site_name

        there_are = {name.removeprefix(prefix) for name in consumer.topics() if name.startswith(prefix)}
        sites = [name for name in there_are if is_site_name(name.removesuffix(ALSO))]
        known = existing(topic.removeprefix(prefix), sites, "sites that have one")
        print(f"{topic}: no such topic yet, waiting for it; {known}", file=sys.stderr, flush=True)
        return
    while not consumer.assignment():
        consumer.poll(timeout_ms=100, max_records=1, update_offsets=False)
    if not from_start:
        consumer.seek_to_end()
        for partition in consumer.assignment():
            consumer.position(partition)  # the end is looked up now, rather than at the first poll
        print(f"{topic}: waiting for new items", file=sys.stderr, flush=True)


def _messages(consumer: KafkaConsumer, columns: tuple[str, ...]) -> Iterator[dict[str, Any]]:
    """Yields each record that is a message. Others are reported on stderr and skipped, and never executed."""
    for record in consumer:
        try:
            message = orjson.loads(record.value or b"")
            fault = _fault(message, ("id", *columns))
        except ValueError:
            fault = "not JSON"
        if fault:
            place = f"{record.topic}, partition {record.partition}, offset {record.offset}"
            print(f"refused: {place}: {fault}", file=sys.stderr, flush=True)
        else:
            yield message


def _fault(message: Any, required: tuple[str, ...]) -> str:
    """Returns why a JSON value isn't one of our messages; empty when it is one."""
    if not isinstance(message, dict):
        return "not an object"
    return next((f"no text in {key!r}" for key in required if not isinstance(message.get(key), str)), "")


def _print_message(message: dict[str, Any], columns: tuple[str, ...], *, as_json: bool) -> None:
    """Prints a message on one line, at once, in UTF-8 whatever the terminal's locale is."""
    line = to_json(message) if as_json else "  ".join(one_line(message[key]) for key in columns).encode()
    sys.stdout.buffer.write(line + b"\n")
    sys.stdout.buffer.flush()
