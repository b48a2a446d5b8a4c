"""`scrapy items`: watch what leaves through Kafka, and see what shape it has."""

from __future__ import annotations

import sys
from contextlib import closing
from typing import TYPE_CHECKING, Any

import orjson
from scrapy.exceptions import UsageError

from crawler.commands.base import HeadroomCommand, as_json, print_json
from crawler.errors import UnavailableError
from crawler.text import one_line

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

    from kafka import KafkaConsumer

SHOWN = ("time", "title", "url")  # of a message, on its line
REQUIRED = ("id", *SHOWN)


class Command(HeadroomCommand):
    """Prints a site's topic as it grows, or the JSON Schema of what is in it."""

    def syntax(self) -> str:
        """The arguments, for the usage line."""
        return "tail SITE [--from-start] [--count N] [--json] | schema"

    def short_desc(self) -> str:
        """One line for `scrapy -h`."""
        return "Watch a site's items in Kafka; show their JSON Schema"

    def long_desc(self) -> str:
        """What `scrapy items -h` says."""
        return (
            "tail: prints each new item of a site's Kafka topic on a line, until Ctrl-C; --json prints the messages "
            "themselves. schema: prints the messages' JSON Schema."
        )

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Adds the options of `tail`."""
        super().add_options(parser)
        parser.add_argument("--from-start", action="store_true", help="begin with the oldest item that Kafka still has")
        parser.add_argument("--count", type=int, metavar="N", help="end after N items")

    def execute(self, args: list[str], opts: argparse.Namespace) -> None:
        """Runs `tail SITE` or `schema`.

        Raises:
            UsageError: Neither.
            UnavailableError: Kafka can't be reached, or refuses.
        """
        from crawler.pipelines.sink import SITE_NAME
        from crawler.schema import item_schema

        if args == ["schema"]:
            print_json(item_schema())
            return
        if len(args) != len(("tail", "SITE")) or args[0] != "tail":
            raise UsageError("scrapy items " + self.syntax())
        if not SITE_NAME.fullmatch(args[1]):
            raise UsageError(f"{args[1]!r} can't be a site's name")
        if opts.count is not None and opts.count < 1:
            raise UsageError("--count is at least 1")
        topic = f"{self.values['TOPIC_PREFIX']}{args[1]}"
        try:
            self._tail(topic, count=opts.count, from_start=opts.from_start, machine=opts.json)
        except KeyboardInterrupt:  # how a tail ends
            return

    def _tail(self, topic: str, *, count: int | None, from_start: bool, machine: bool) -> None:
        from kafka.errors import KafkaError

        from crawler.servers.kafka import kafka_consumer

        try:
            with closing(kafka_consumer(self.values, topic, from_start=True)) as consumer:
                _begin(consumer, topic, from_start=from_start)
                for number, message in enumerate(_messages(consumer), 1):
                    _show(message, machine=machine)
                    if number == count:
                        return
        except KafkaError as error:
            raise UnavailableError(f"Kafka: {type(error).__name__}") from None


def _begin(consumer: KafkaConsumer, topic: str, *, from_start: bool) -> None:
    """Moves the consumer to where the tail begins and says so.

    A topic that comes later, or a partition, is read from its start in any case: all in it is new.
    """
    if not consumer.partitions_for_topic(topic):
        print(f"{topic}: no such topic yet, waiting for it", file=sys.stderr, flush=True)
        return
    while not consumer.assignment():
        consumer.poll(timeout_ms=100, max_records=1, update_offsets=False)
    if not from_start:
        consumer.seek_to_end()
        for partition in consumer.assignment():
            consumer.position(partition)  # now, rather than at the first poll
        print(f"{topic}: waiting for new items", file=sys.stderr, flush=True)


def _messages(consumer: KafkaConsumer) -> Iterator[dict[str, Any]]:
    """Yields each record that is a message; what else is in the topic is reported and skipped, never executed."""
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
    """Returns why a JSON value isn't one of our messages; empty when it is."""
    if not isinstance(message, dict):
        return "not an object"
    return next((f"no text in {key!r}" for key in REQUIRED if not isinstance(message.get(key), str)), "")


def _show(message: dict[str, Any], *, machine: bool) -> None:
    """Prints a message on a line at once, in UTF-8 whatever the terminal's locale."""
    line = as_json(message) if machine else "  ".join(one_line(message[key]) for key in SHOWN).encode()
    sys.stdout.buffer.write(line + b"\n")
    sys.stdout.buffer.flush()
