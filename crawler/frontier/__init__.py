"""The frontier: all seeds in Redis, and who holds which of them.

In: seeds that are offered, claims, and how they end; all processes of a crawl share one frontier through Redis alone.
Out: claimed seeds and turns of hosts, totals and the ledger. What must not be torn apart is a Lua script, in lua/.
Whatever asks Redis raises redis.exceptions.RedisError where that is away; calling it again then completes it.
Read first: queue.py, then lua/lib/keys.lua, which says what lies in Redis.
"""
