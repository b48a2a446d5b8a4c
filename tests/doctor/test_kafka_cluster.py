"""Topics that an operator makes by docs/kafka.md, on three brokers: what the doctor says of them, and as brokers go."""

from __future__ import annotations

import asyncio
import contextlib
import json
import sys

import pytest
from documents.reader import Reader
from documents.walk import ROOT
from kafka.admin import ConfigResource, ConfigResourceType, KafkaAdminClient
from needs import started
from waiting import until

from crawler.doctor.finding import State
from crawler.frontier.keys import Keys
from testbed.servers.kafka_cluster import BROKERS, KafkaCluster

pytestmark = [
    pytest.mark.faults,
    pytest.mark.process,
    pytest.mark.filterwarnings("ignore:unclosed <s:ResourceWarning"),  # of clients that are closed while they connect
]
STRICT = "min.insync.replicas"
# What docs/kafka.md asks of Kafka's own tool, which needs jars that no broker does.
KAFKA_TOPICS = """#!{python}
import argparse
from kafka.admin import KafkaAdminClient
parser = argparse.ArgumentParser()
parser.add_argument("--create", action="store_true", required=True)
for name in ("bootstrap-server", "topic"):
    parser.add_argument("--" + name, required=True)
for name in ("partitions", "replication-factor"):
    parser.add_argument("--" + name, type=int, required=True)
parser.add_argument("--config", action="append", default=[])
given = parser.parse_args()
admin = KafkaAdminClient(bootstrap_servers=given.bootstrap_server)
configs = dict(one.split("=") for one in given.config)
wanted = {{"num_partitions": given.partitions, "replication_factor": given.replication_factor, "configs": configs}}
admin.create_topics({{given.topic: wanted}}, wait_for_metadata=True)
admin.close()
"""


def test_topics_are_made_by_the_page_and_brokers_go(redis, examined, tmp_path):
    redis.hset(Keys("hr").sites, "demo_forum", json.dumps({"version": 1, "definition": {"name": "demo_forum"}}))
    with started(KafkaCluster, tmp_path) as cluster:

        def kafka():
            found = asyncio.run(examined(ITEM_SINKS="kafka", KAFKA_BOOTSTRAP_SERVERS=cluster.bootstrap))
            return {name: one for name, one in found.items() if name.startswith("kafka")}

        def becomes(state, text):
            found = kafka()["kafka-replication"]
            return found.state is state and text in found.text

        before = kafka()
        assert before["kafka"].text.startswith(f"{BROKERS} brokers (")
        assert before["kafka-replication"].state is State.BETTER
        assert "has one copy: " in before["kafka-replication"].text
        assert "brokers (now" not in before["kafka-replication"].text  # there are enough

        reader = Reader(ROOT / "docs" / "kafka.md", tmp_path, {"KAFKA_BOOTSTRAP_SERVERS": cluster.bootstrap})
        tool = tmp_path / "bin" / "kafka-topics.sh"
        tool.write_text(KAFKA_TOPICS.format(python=sys.executable))
        tool.chmod(0o755)
        reader.follow("Make them")
        made = kafka()
        assert {name: one.state for name, one in made.items()} == dict.fromkeys(before, State.OK), made

        cluster.brokers[2].kill()
        until(lambda: becomes(State.BETTER, "has 2 of its 3 copies in sync"), "a copy that is missed", poll_seconds=0.5)
        with contextlib.closing(KafkaAdminClient(bootstrap_servers=cluster.bootstrap)) as admin:
            admin.alter_configs([ConfigResource(ConfigResourceType.TOPIC, "items.demo_forum", {STRICT: "3"})])
        until(lambda: becomes(State.STOPS, "wants 3 copies in sync, and 2 are"), "a topic that stops", poll_seconds=0.5)
        cluster.brokers[2].start()
        until(lambda: becomes(State.OK, "3 copies or more"), "a copy that is back", poll_seconds=0.5)
