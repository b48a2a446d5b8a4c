"""Real servers, each started as a process of its own: for the demo and the tests, not for real installations.

In: a folder for data and logs. Out: a server that answers at its `url` (Kafka: `bootstrap`) until it is stopped, or
until the process that started it has ended. Read `process.py` first: what all of them share. `redis_cluster.py`,
`kafka_cluster.py` and `many_hosts.py` serve the tests alone.
"""

from testbed.servers.forum import ForumServer
from testbed.servers.kafka import Kafka
from testbed.servers.mongo import Mongo
from testbed.servers.process import Process, Server
from testbed.servers.redis import Redis

__all__ = ["ForumServer", "Kafka", "Mongo", "Process", "Redis", "Server"]
