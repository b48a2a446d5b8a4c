"""The commands whose rights are asked for are whole: a server that is asked about half a command may crash."""

from __future__ import annotations

import re
from pathlib import Path

import crawler
from crawler.frontier.keys import Keys
from crawler.frontier.rights import COMMANDS, missing_rights, whole_commands

KEYS = Keys("hr")


async def test_each_has_as_many_words_as_redis_wants(redis):
    commands = whole_commands(KEYS, cluster=True)
    for name, text in commands.items():
        arity = int((await redis.execute_command("COMMAND", "INFO", name))[name]["arity"])
        number = len(text.split())
        assert number == arity or number >= -arity > 0, text


def test_those_of_the_scripts_are_among_them():
    """Also of those in files of Python, but for what start lists alone need, of which docs/servers.md tells."""
    top = Path(crawler.__file__).parent
    files = {file for file in top.rglob("*") if file.suffix in (".lua", ".py")} - {
        top / "worker/start_lists/stored_list.py"
    }
    found = {name for file in files for name in re.findall(r"call\('([A-Z]+)'", file.read_text("utf-8"))}
    assert len(found) > 20
    assert {name.lower() for name in found} <= COMMANDS.keys()


async def test_who_may_do_all_lacks_none(redis):
    assert await missing_rights(redis, KEYS) == []
    assert len(COMMANDS) > 40
