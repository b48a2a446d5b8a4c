"""Scripts reach Redis with all parts that they are made of, and the parts say truly what they give."""

from __future__ import annotations

import functools
import re
from importlib import resources

import pytest

from crawler.frontier import keys, scripts

LUA = resources.files("crawler.frontier") / "lua"
PARTS = {name: (LUA / "lib" / f"{name}.lua").read_text() for name in scripts.PARTS}
FILTER = (LUA / "lib" / "filter.lua").read_text()  # stands behind `finished` where DEDUP_MODE is `bloom`
SCRIPTS = {path.name.removesuffix(".lua"): path.read_text() for path in LUA.iterdir() if path.name.endswith(".lua")}


def code_of(text):
    return re.sub(r"--.*|'[^']*'", "", text)


def locals_of(text):
    """The names that a part defines for what stands behind it."""
    return set(re.findall(r"^local function (\w+)", text, re.MULTILINE)) | {
        name
        for names in re.findall(r"^local ((?!function)\w[\w, \n]*?) *(?:=|--|$)", text, re.MULTILINE)
        for name in re.split(r"[,\s]+", names)
    }


@functools.cache
def given_by(part):
    """The names that a part's head says it gives; those of `keys` are all that it has."""
    if part == "keys":
        return locals_of(code_of(PARTS[part]).replace(",\n", ","))
    head = PARTS[part].partition("\n\n")[0].replace("\n--", " ") + " "
    return set(re.findall(r"`(\w+)`", re.search(r"Gives the scripts: (.*?)\.\s", head, re.DOTALL)[1]))


@pytest.mark.parametrize("part", [name for name in PARTS if name != "keys"])
def test_a_part_says_which_names_it_gives(part):
    behind = [PARTS[name] for name in scripts.PARTS[scripts.PARTS.index(part) + 1 :]]
    used = {word for text in [*behind, FILTER, *SCRIPTS.values()] for word in re.findall(r"\w+", code_of(text))}
    assert given_by(part) == locals_of(code_of(PARTS[part])) & used


def test_a_line_is_no_longer_than_one_of_python():
    long = {
        name: line
        for name, text in (PARTS | SCRIPTS | {"filter": FILTER}).items()
        for line in text.splitlines()
        if len(line) > 120
    }
    assert long == {}  # ruff holds the others to it


def test_lua_names_the_keys_in_the_order_of_python():
    names = re.search(r"local ([\w, \n]+?) = unpack\(KEYS\)", PARTS["keys"])[1]
    in_lua = re.split(r"[,\s]+", names)
    others = [f"other_{name}" for name in keys.OTHER_KEYS]
    assert in_lua == [name.removesuffix(":") for name in (*keys.FRONTIER_KEYS, *keys.SHARED_KEYS, *others)]
    header = PARTS["keys"].partition("\n\n")[0]
    for name in in_lua[: -len(others)]:
        assert re.search(rf"^--   .*\b{name}\b", header, re.MULTILINE), f"no word of {name}"


def test_only_what_leads_to_more_is_refused_by_a_full_redis():
    assert {name for name, text in SCRIPTS.items() if text.startswith("#!lua\n")} == {"claim", "offer", "take_page"}
    assert all(text.startswith(("#!lua\n", "#!lua flags=allow-oom\n")) for text in SCRIPTS.values())
    assert scripts.source("settle").startswith("#!lua flags=allow-oom\n")


async def test_a_redis_that_has_not_seen_a_script_is_sent_it(frontier, redis):
    script_keys = frontier.keys.partition(0).script_keys("content")
    for _ in range(2):
        await redis.script_flush()
        assert await scripts.run(redis, "session", script_keys, ["renew", "nobody", 1]) == 0
        await redis.script_flush()
        first = ["INCR", frontier.key("counter")]
        assert await scripts.run_after(redis, "session", script_keys, ["renew", "nobody", 1], first=first) == 0
    assert await redis.get(frontier.key("counter")) == b"4"  # the command before is sent again, too


def test_no_script_reads_the_whole_of_what_grows_with_the_crawl():
    """Neither of what an owner holds, nor of the plans there are; a host's turns, states and reasons are few."""
    text = "\n".join([*PARTS.values(), *SCRIPTS.values()])
    assert set(re.findall(r"call\('(?:SMEMBERS|HGETALL|HKEYS|HVALS)', ([^)]+)\)", text)) == {
        "turn .. host",
        "plan_ledger",
        "counts",
    }
    assert set(re.findall(r"call\('ZRANGE', ([^,]+), 0, -1", text)) == {"sessions"}


@functools.cache
def used_by(text, behind):
    """The parts of which a text uses names, which stands behind so many of them, and those that these use in turn."""
    words = set(re.findall(r"(?<![.\w])\w+", code_of(text)))
    places = {at for at in range(behind) if words & given_by(scripts.PARTS[at])}
    names = {scripts.PARTS[at] for at in places}
    return names.union(*(used_by(PARTS[scripts.PARTS[at]], at) for at in places))


@pytest.mark.parametrize("name", SCRIPTS)
def test_a_script_s_head_names_the_parts_that_it_uses_and_no_others(name):
    head = scripts.NEEDS.search(SCRIPTS[name])
    assert set(re.findall(r"\w+", head[1])) == used_by(SCRIPTS[name], len(scripts.PARTS))
