"""`scrapy items`: watches what leaves through Kafka, and shows the items' JSON Schema."""

from __future__ import annotations

import contextlib
import sys
from typing import TYPE_CHECKING, Any, ClassVar

import orjson
from scrapy.exceptions import UsageError

from crawler.cli.actions import ActionCommand
from crawler.cli.output import print_json, to_json
from crawler.errors import UnavailableError, shown
from crawler.text import one_line

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

    from kafka import KafkaConsumer

SHOWN = ("time", "title", "url")  # what the line of a message shows of it
REQUIRED = ("id", *SHOWN)


class Command(ActionCommand):
    """Prints a site's topic as it grows, or the JSON Schema of the messages in it."""

    summary = "Watch a site's items in Kafka; show their JSON Schema"
    actions: ClassVar[dict[str, tuple[str, str]]] = {
        "tail": (
            "SITE",
            "print each new item of a site's Kafka topic as a line, until Ctrl-C; with --json the messages",
        ),
        "schema": ("", "print the JSON Schema of the messages; with --also of those on SITE.also"),
    }

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Adds the options of `tail` and `schema`."""
        super().add_options(parser)
        parser.add_argument("--from-start", action="store_true", help="tail: begin with the oldest item in the topic")
        parser.add_argument("--also", action="store_true", help="schema: of the word that a further plan wants an item")
        parser.add_argument("--count", type=int, metavar="N", help="tail: end after N items")

    def do_schema(self, _args: list[str], opts: argparse.Namespace) -> None:
        """Prints the JSON Schema."""
        from crawler.also import also_schema
        from crawler.item import item_schema

        print_json(also_schema() if opts.also else item_schema())

    def do_tail(self, args: list[str], opts: argparse.Namespace) -> None:
        """Prints the items of a site's topic.

        Raises:
            UsageError: The name can't be a site's, or --count is less than 1.
            UnavailableError: Kafka can't be reached, or refuses.
        """
        from kafka.errors import KafkaError

        from crawler.item import is_site_name
        from crawler.servers.kafka import kafka_consumer

        (site,) = args
        if not is_site_name(site):
            raise UsageError(f"{shown(site)} can't be a site's name")
        if opts.count is not None and opts.count < 1:
            raise UsageError("--count is at least 1")
        topic = f"{self.values['TOPIC_PREFIX']}{site}"
        try:
            with (
                contextlib.suppress(KeyboardInterrupt),  # how people end a tail
                contextlib.closing(kafka_consumer(self.values, topic, from_start=True)) as consumer,
            ):
                _begin(consumer, topic, from_start=opts.from_start)
                for number, message in enumerate(_messages(consumer), 1):
                    _print_message(message, as_json=opts.json)
                    if number == opts.count:
                        return
        except KafkaError as error:
            raise UnavailableError(f"Kafka: {type(error).__name__}") from None


def _begin(consumer: KafkaConsumer, topic: str, *, from_start: bool) -> None:
    """Moves the consumer to where the tail begins, and says so on stderr.

    A topic or partition that is made later is read from its start in any case, because everything in it is new.
    """
    if not consumer.partitions_for_topic(topic):
        print(f"{topic}: no such topic yet, waiting for it", file=sys.stderr, flush=True)
        return
    while not consumer.assignment():
        consumer.poll(timeout_ms=100, max_records=1, update_offsets=False)
    if not from_start:
        consumer.seek_to_end()
        for partition in consumer.assignment():
            consumer.position(partition)  # the end is looked up now, rather than at the first poll
        print(f"{topic}: waiting for new items", file=sys.stderr, flush=True)


def _messages(consumer: KafkaConsumer) -> Iterator[dict[str, Any]]:
    """Yields each record that is a message. Others are reported on stderr and skipped, and never executed."""
    for record in consumer:
        try:
            message = orjson.loads(record.value or b"")
            fault = _fault(message)
        except ValueError:
            fault = "not JSON"
        if fault:
            place = f"{record.topic}, partition {record.partition}, offset {record.offset}"
            print(f"refused: {place}: {fault}", file=sys.stderr, flush=True)
        else:
            yield message


def _fault(message: Any) -> str:
    """Returns why a JSON value isn't one of our messages; empty when it is one."""
    if not isinstance(message, dict):
        return "not an object"
    return next((f"no text in {key!r}" for key in REQUIRED if not isinstance(message.get(key), str)), "")


def _print_message(message: dict[str, Any], *, as_json: bool) -> None:
    """Prints a message on one line, at once, in UTF-8 whatever the terminal's locale is."""
    line = to_json(message) if as_json else "  ".join(one_line(message[key]) for key in SHOWN).encode()
    sys.stdout.buffer.write(line + b"\n")
    sys.stdout.buffer.flush()
