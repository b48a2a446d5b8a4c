"""Runs the consumer that README shows against the real broker: its very text, but for the topic and the address."""

from __future__ import annotations

import re
import subprocess
import sys
import threading
from contextlib import closing
from pathlib import Path

import orjson
from kafka import KafkaProducer
from pipelines.sink_samples import page

README = Path(__file__).parents[1] / "README.md"
TOPIC, ADDRESS = "items.demo_forum", "127.0.0.1:9092"  # in README's text


def consumer_of(text: str) -> str:
    blocks = re.findall(r"^```python\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
    (consumer,) = (block for block in blocks if "KafkaConsumer" in block)
    return consumer


def test_readmes_consumer_reads_each_item_once(kafka_server, topic_prefix, tmp_path):
    text, topic = consumer_of(README.read_text("utf-8")), f"{topic_prefix}demo_forum"
    assert TOPIC in text
    assert ADDRESS in text
    script = tmp_path / "consumer.py"
    script.write_text(text.replace(TOPIC, topic).replace(ADDRESS, kafka_server.bootstrap), "utf-8")
    with closing(KafkaProducer(bootstrap_servers=kafka_server.bootstrap)) as producer:
        for number in (1, 2, 1, 3, 2, 1, 4):  # at least once: some come again
            one = page(number)
            producer.send(topic, orjson.dumps(one), key=one.fingerprint.encode()).get(10)
    with subprocess.Popen([sys.executable, "-u", script], stdout=subprocess.PIPE, encoding="utf-8") as consumer:
        end = threading.Timer(60, consumer.kill)  # it has no end of its own
        end.start()
        try:
            seen = [consumer.stdout.readline() for _ in range(4)]
        finally:
            end.cancel()
            consumer.kill()
    for number, line in enumerate(seen, 1):
        assert f"Thread {number}" in line
