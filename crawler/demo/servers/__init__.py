"""Redis, Kafka, Mongo and the demo's forum, each started as a process of one's own.

For the first run and the tests; real installations bring their own. None is ever left behind: process.py says how.
"""

from crawler.demo.servers.forum import Forum
from crawler.demo.servers.kafka import Kafka
from crawler.demo.servers.mongo import Mongo
from crawler.demo.servers.process import Process, Server
from crawler.demo.servers.redis import Redis

__all__ = ["Forum", "Kafka", "Mongo", "Process", "Redis", "Server"]
