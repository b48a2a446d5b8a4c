"""The least rights that a crawl's user needs in Redis, and the check that it has them.

Asked for as a worker starts: a right that is missing would else be noticed at the first page that needs it. A test runs
a whole crawl, and all commands, under a user with these rights and no others.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from crawler.servers.redis_cluster import is_cluster

if TYPE_CHECKING:
    from collections.abc import Mapping

    from redis.asyncio import Redis

    from crawler.frontier.keys import Keys

# Each command with arguments that make it whole: a Redis or Valkey that is asked about half a command may crash.
COMMANDS: Mapping[str, str] = {
    # On keys that begin with KEY_PREFIX, in scripts and outside.
    **dict.fromkeys(("del", "exists", "persist", "pttl", "type", "get", "hgetall", "hkeys", "hlen"), "KEY"),
    **dict.fromkeys(("hrandfield", "smembers", "spop", "srandmember", "scard", "zcard"), "KEY"),
    **dict.fromkeys(("pexpire", "expire", "set", "incrby", "hdel", "hget", "hmget", "sadd", "sismember"), "KEY 1"),
    **dict.fromkeys(("srem", "zmscore", "zrank", "zrem", "zscore"), "KEY 1"),
    **dict.fromkeys(("hscan", "sscan", "zscan"), "KEY 0"),
    **dict.fromkeys(("getrange", "zrange", "zrevrange", "zremrangebyrank", "zadd"), "KEY 0 1"),
    **dict.fromkeys(("hincrby", "hset", "hsetnx"), "KEY 1 1"),
    "bitfield": "KEY SET u32 0 1",
    # Workers wake each other through channels that begin with it.
    "publish": "KEY 1",
    "subscribe": "KEY",
    "unsubscribe": "KEY",
    "eval": "return 0",
    "evalsha": "1 0",
    "script|load": "return",
    **dict.fromkeys(("time", "multi", "exec", "info", "ping"), ""),
    "scan": "0",
    "select": "0",
}
# The client asks COMMAND which of a command's words are keys, before it sends the first one.
IN_A_CLUSTER: Mapping[str, str] = {"command": "", "cluster|slots": "", "role": "", "wait": "0 1", "waitaof": "0 0 1"}
# The crawl works without these; with them it says what a crash would lose.
OPTIONAL = ("config|get", "client|setinfo")
# Returns those commands that the caller's user may not run. Scripts alone may ask that of a user who is no admin.
MISSING = """\
local missing = {}
for number = 1, #ARGV do
  local words = {}
  for word in string.gmatch(ARGV[number], '[^ ]+') do words[#words + 1] = word end
  if not redis.acl_check_cmd(unpack(words)) then missing[#missing + 1] = number end
end
return missing
"""


def whole_commands(keys: Keys, *, cluster: bool = False) -> dict[str, str]:
    """Returns the commands by name, each as a text that could be sent."""
    key = f"{keys.prefix}:{{plans}}:right"  # neither this key nor this channel is used by anybody
    commands = {**COMMANDS, **(IN_A_CLUSTER if cluster else {})}
    return {
        name: " ".join((*name.split("|"), arguments.replace("KEY", key))).strip()
        for name, arguments in commands.items()
    }


async def missing_rights(redis: Redis, keys: Keys) -> list[str]:
    """Returns the commands that this user may not run on the frontier's keys, by name; empty: none.

    Raises:
        redis.exceptions.NoPermissionError: It may not even run scripts.
    """
    commands = whole_commands(keys, cluster=is_cluster(redis))
    numbers: Any = await redis.eval(MISSING, 0, *commands.values())
    return [list(commands)[number - 1] for number in numbers]
