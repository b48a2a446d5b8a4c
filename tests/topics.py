"""What Kafka's topics hold, read to their present end: a wait would end too early on a busy machine."""

from __future__ import annotations

from contextlib import closing

from kafka import KafkaConsumer, TopicPartition


def names(bootstrap, prefix):
    """Returns the names of the topics that begin with `prefix`."""
    with closing(KafkaConsumer(bootstrap_servers=bootstrap)) as consumer:
        return {topic for topic in consumer.topics() if topic.startswith(prefix)}


def records(bootstrap, *topics):
    """Returns all records of some topics, read by a consumer of its own; none of a topic that is missing."""
    with closing(KafkaConsumer(bootstrap_servers=bootstrap, auto_offset_reset="earliest")) as consumer:
        parts = [
            TopicPartition(topic, number) for topic in topics for number in consumer.partitions_for_topic(topic) or ()
        ]
        consumer.assign(parts)
        ends = consumer.end_offsets(parts) if parts else {}
        found = []
        while any(consumer.position(part) < end for part, end in ends.items()):
            for batch in consumer.poll(1_000).values():
                found += batch
        return found
