"""A Kafka of three brokers on this machine, each of them a controller, too."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from testbed.servers.kafka import Kafka

if TYPE_CHECKING:
    from pathlib import Path

BROKERS = 3


class KafkaCluster:
    """Three brokers; topics that clients make without a wish of their own have one copy, as by Kafka's defaults.

    Args:
        folder: Each broker's data, configuration and log go to a folder of its own in it.

    Raises:
        UnavailableError: As `Kafka`.
    """

    def __init__(self, folder: Path) -> None:
        self.brokers = [Kafka(folder / f"broker-{number}") for number in range(1, BROKERS + 1)]
        voters = {number: broker.controller_port for number, broker in enumerate(self.brokers, 1)}
        for number, broker in enumerate(self.brokers, 1):
            broker.node, broker.voters, broker.cluster = number, voters, self.brokers[0].cluster
        self.bootstrap = ",".join(broker.bootstrap for broker in self.brokers)

    def start(self) -> None:
        """Starts all at once, since one alone has no majority of controllers and answers nobody.

        Raises:
            UnavailableError: One didn't start; what was started runs on until `stop`.
        """
        with ThreadPoolExecutor(BROKERS) as pool:
            list(pool.map(Kafka.start, self.brokers))

    def stop(self) -> None:
        """Ends all brokers."""
        with ThreadPoolExecutor(BROKERS) as pool:
            list(pool.map(Kafka.kill, self.brokers))
