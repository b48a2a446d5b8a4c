"""Figures are kept beside the frontier: in the same Redis, and once more in a Redis Cluster (`pytest.mark.faults`)."""

from frontier.conftest import redis, redis_settings

__all__ = ["redis", "redis_settings"]
