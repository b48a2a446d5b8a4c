"""How Redis (one, a cluster, behind sentinels), Kafka and MongoDB are connected; no other package builds a client.

In: settings. Out: a client, which belongs to the caller, who closes it.
No client retries: callers do, since they know what a failure costs. Errors name servers without their credentials.
Read first: redis.py.
"""
