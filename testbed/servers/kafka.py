"""Apache Kafka: the real broker, as one node. Maven fetches its jars once for each user."""

from __future__ import annotations

import base64
import contextlib
import fcntl
import os
import shutil
import socket
import tempfile
import uuid
from pathlib import Path
from typing import ClassVar

from kafka import KafkaAdminClient
from kafka.errors import KafkaError

from crawler.base.errors import UnavailableError
from testbed.servers.process import PROBE_SECONDS, Server, free_port, run_to_end

POM = Path(__file__).with_name("kafka-pom.xml")
JARS = "kafka-4.1.1"  # the folder in the cache; the version is the one in the pom
FETCH_SECONDS = 600.0  # 43 MB over a slow line
FORMAT_SECONDS = 60.0
# Measured on two cores, from an empty folder to the first answer: 2.8 s, against 4.0 s with Java's defaults.
JVM_OPTIONS = ("-Xms64m", "-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")
# The heartbeat and the short session let a broker that was killed in again after 2 s instead of 9. The small buffer of
# the log cleaner saves 128 MB of memory. The replication factors and partitions are those of a single node.
PROPERTIES = """\
process.roles=broker,controller
node.id={node}
controller.quorum.voters={voters}
listeners=PLAINTEXT://127.0.0.1:{port},CONTROLLER://127.0.0.1:{controller}
advertised.listeners=PLAINTEXT://127.0.0.1:{port}
controller.listener.names=CONTROLLER
inter.broker.listener.name=PLAINTEXT
listener.security.protocol.map=CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT
log.dirs={data}
broker.heartbeat.interval.ms=500
broker.session.timeout.ms=2000
log.cleaner.dedupe.buffer.size=4194304
offsets.topic.replication.factor=1
offsets.topic.num.partitions=1
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
transaction.state.log.num.partitions=1
group.initial.rebalance.delay.ms=0
"""


class Kafka(Server):
    """One broker that is its own controller (KRaft), unless it is told of others.

    The first start downloads 43 MB, which takes some 10 s; later ones find the jars in the user's cache.

    Args:
        folder: Data, configuration and log go to a folder `kafka` in it.

    Attributes:
        node: Its number; `kafka_cluster.py` sets these three before the first start.
        voters: Ports of the controllers by their numbers; empty: itself alone.
        cluster: The id that all brokers of a cluster have in common.

    Raises:
        UnavailableError: Java is missing; or the jars aren't in the cache, and Maven is missing.
    """

    START_SECONDS: ClassVar[float] = 60.0

    def __init__(self, folder: Path) -> None:
        self.port = free_port()
        self.bootstrap = f"127.0.0.1:{self.port}"
        self._jars = _cache() / JARS
        missing = [] if shutil.which("java") else ["Java (java)"]
        if not self._jars.exists() and not shutil.which("mvn"):
            missing.append("Maven (mvn)")
        if missing:
            raise UnavailableError(f"Kafka: not on PATH: {' and '.join(missing)}")
        own = folder / "kafka"
        self._data = own / "data"
        self.controller_port = free_port()
        self._properties = own / "server.properties"
        self.node = 1
        self.voters: dict[int, int] = {}
        self.cluster = base64.urlsafe_b64encode(uuid.uuid4().bytes).decode().rstrip("=")
        super().__init__("kafka", [*self._java(), "kafka.Kafka", str(self._properties)], own)

    @property
    def is_fetched(self) -> bool:
        """Whether the broker's jars are on this machine already."""
        return self._jars.exists()

    def start(self) -> None:
        """Starts the broker and waits until it answers; the first time, fetches the jars and formats the data folder.

        Raises:
            UnavailableError: One of these failed; nothing is left running.
        """
        _fetch(self._jars)
        if not (self._data / "meta.properties").exists():
            self._format()
        super().start()

    def _format(self) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        voters = self.voters or {1: self.controller_port}
        self._properties.write_text(
            PROPERTIES.format(
                port=self.port,
                controller=self.controller_port,
                data=self._data,
                node=self.node,
                voters=",".join(f"{node}@127.0.0.1:{port}" for node, port in voters.items()),
            )
        )
        arguments = ["format", f"--cluster-id={self.cluster}", "--config", str(self._properties)]
        run_to_end("kafka-format", [*self._java(), "kafka.tools.StorageTool", *arguments], self.folder, FORMAT_SECONDS)

    def _java(self) -> list[str]:
        quiet = "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn"
        return ["java", *JVM_OPTIONS, quiet, "-cp", f"{self._jars}/*"]

    def _answers(self) -> bool:
        try:
            # Asked first: the client takes seconds to notice that nobody listens.
            socket.create_connection(("127.0.0.1", self.port), PROBE_SECONDS).close()
            client = KafkaAdminClient(bootstrap_servers=self.bootstrap, bootstrap_timeout_ms=int(1000 * PROBE_SECONDS))
        except (OSError, KafkaError):
            return False
        with contextlib.closing(client):
            return bool(client.describe_cluster()["brokers"])


def _cache() -> Path:
    """Returns the user's cache folder for Headroom (XDG Base Directory Specification)."""
    base = os.environ.get("XDG_CACHE_HOME", "")
    return (Path(base) if os.path.isabs(base) else Path.home() / ".cache") / "headroom"  # noqa: PTH117 -- Path("") is no empty path


def _fetch(jars: Path) -> None:
    """Lets Maven copy the broker's jars to the folder `jars`, unless that exists. It appears whole or not at all.

    Raises:
        UnavailableError: Maven failed; the next call begins anew.
    """
    if jars.exists():
        return
    jars.parent.mkdir(parents=True, exist_ok=True)
    with (jars.parent / f"{jars.name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # Maven's own repository isn't safe for two at once
        if jars.exists():
            return
        with tempfile.TemporaryDirectory(dir=jars.parent) as work:
            # --strict-checksums: a jar that differs from its checksum is an error.
            command = [
                "mvn",
                "--quiet",
                "--batch-mode",
                "--strict-checksums",
                "-f",
                str(POM),
                "dependency:copy-dependencies",
            ]
            command += ["-DincludeScope=runtime", f"-DoutputDirectory={work}/lib"]
            run_to_end("maven", command, Path(work), FETCH_SECONDS)
            Path(work, "lib").rename(jars)
