"""Redis, Kafka, Mongo and the demo's forum, each started as a process of one's own.

For the first run and the tests; real installations bring their own. None is ever left behind: process.py says how.
"""

from testbed.servers.forum import Forum
from testbed.servers.kafka import Kafka
from testbed.servers.mongo import Mongo
from testbed.servers.process import Process, Server
from testbed.servers.redis import Redis

__all__ = ["Forum", "Kafka", "Mongo", "Process", "Redis", "Server"]
