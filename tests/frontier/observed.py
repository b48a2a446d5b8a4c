"""All that a small frontier holds in Redis, read by one script and put into words."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from dataclasses import dataclass, field

from frontier.model import DELIVERED, FRONTIERS, RECHECK_MS, must

from crawler.frontier.finished import groups_of
from crawler.frontier.order import SPAN_MILLISECONDS, due_of

DUMP = """
local commands = { hash = { 'HGETALL' }, set = { 'SMEMBERS' }, string = { 'GET' },
  zset = { 'ZRANGE', 0, -1, 'WITHSCORES' } }
local found = {}
for _, key in ipairs(redis.call('KEYS', ARGV[1])) do
  local kind = redis.call('TYPE', key).ok
  local command = commands[kind]
  found[#found + 1] = key
  found[#found + 1] = kind
  found[#found + 1] = redis.call(command[1], key, unpack(command, 2))
end
return found
"""
SAVE = """
local found = {}
for _, key in ipairs(redis.call('KEYS', ARGV[1])) do
  found[#found + 1] = key
  found[#found + 1] = math.max(0, redis.call('PTTL', key))
  found[#found + 1] = redis.call('DUMP', key)
end
return found
"""
LOAD = """
for _, key in ipairs(redis.call('KEYS', ARGV[1])) do redis.call('DEL', key) end
for i = 2, #ARGV, 3 do redis.call('RESTORE', ARGV[i], ARGV[i + 1], ARGV[i + 2]) end
return 1
"""
SETS = {"execute": "executing", "fail": "failed", "suspects": "quarantined"}  # key -> the state of what is in it
VALUES = {  # key -> how its members and their values are read
    "claims": (bytes, bytes.decode),
    "reasons": (bytes, bytes.decode),
    "moved": (bytes, bytes.decode),
    "tries": (bytes, int),
    "crashes": (bytes, int),
    "hosts": (bytes.decode, int),
    "lapsed": (bytes.decode, int),
}
OF_PLANS = {"wanted": "wanted", "cancelled": "noted"}  # key of fingerprints for each plan -> its name here
RANKS = 500  # of ten priorities, each with 50 depths, as lua/lib/order.lua says


def _by_frontier():
    return {name: {} for name in FRONTIERS}


def _words_in(text):
    """Returns the combinations that the JSON of a seed names, the first one's first."""
    stored = json.loads(text)
    return [*([stored["k"]] if "k" in stored else []), *stored.get("c", [])]


def _sets_by_frontier():
    return {name: set() for name in FRONTIERS}


@dataclass
class Observed:
    """What was found; the names are those of `Model`."""

    states: dict = field(default_factory=_by_frontier)
    times: dict = field(default_factory=_by_frontier)  # when a seed is due, or since when it executes or has failed
    ranks: dict = field(default_factory=_by_frontier)  # how many ranks come before a ready seed that is due
    plans: dict = field(default_factory=_by_frontier)
    words: dict = field(default_factory=_by_frontier)  # for each of a seed's plans, what found it
    delivered: dict = field(default_factory=_sets_by_frontier)
    wanted: dict = field(default_factory=_by_frontier)  # plan -> fingerprints
    noted: dict = field(default_factory=_by_frontier)  # the same, of cancelled plans, whose seeds are others'
    finished: dict = field(default_factory=_by_frontier)  # the first bytes of fingerprints -> plan -> tellable
    moved: dict = field(default_factory=_by_frontier)
    claims: dict = field(default_factory=_by_frontier)
    holders: dict = field(default_factory=_by_frontier)
    tries: dict = field(default_factory=_by_frontier)
    reasons: dict = field(default_factory=_by_frontier)
    crashes: dict = field(default_factory=_by_frontier)
    scheduled: dict = field(default_factory=_sets_by_frontier)
    hosts: dict = field(default_factory=_by_frontier)  # host -> when claims look at it
    lapsed: dict = field(default_factory=_by_frontier)
    sessions: dict = field(default_factory=dict)
    turns: dict = field(default_factory=lambda: defaultdict(dict))  # host -> number of the turn -> (owner, token)
    turn_fields: dict = field(default_factory=lambda: defaultdict(dict))
    turns_of_owners: dict = field(default_factory=dict)
    plan_states: dict = field(default_factory=dict)
    followed: dict = field(default_factory=lambda: defaultdict(dict))  # host -> frontier -> seeds off its budget
    ledger: Counter = field(default_factory=Counter)
    counts: Counter = field(default_factory=Counter)

    @classmethod
    async def read(cls, redis, stem):
        """Reads all keys that begin with `stem`, and checks that each seed is in one place only."""
        seen, seeds, further, numbers = cls(), _by_frontier(), _by_frontier(), _by_frontier()
        flat = await redis.eval(DUMP, 0, f"{stem}:*")
        for key, kind, value in zip(flat[::3], flat[1::3], flat[2::3], strict=True):
            if kind in (b"hash", b"zset"):
                value = dict(zip(value[::2], value[1::2], strict=True))  # noqa: PLW2901 -- the same, put otherwise
            frontier, _, name = key.decode().removeprefix(f"{stem}:").partition(":")
            if frontier not in FRONTIERS:
                seen._take_shared(frontier, name, value)
            elif name in (own := {"seed": seeds, "also": further, "plan_numbers": numbers}):
                own[name][frontier] = value
            else:
                seen._take(frontier, *name.split(":", 1), value=value)
        for frontier in FRONTIERS:
            must(set(seeds[frontier]) == set(seen.states[frontier]), frontier, "seeds in no set, or without a record")
            must(set(further[frontier]) <= set(seeds[frontier]), frontier, "plans want a seed that isn't there")
            for fingerprint, value in seeds[frontier].items():
                host, plan, _ = value.decode().split(" ", 2)
                lines = further[frontier].get(fingerprint, b"").decode().splitlines()
                seen.plans[frontier][fingerprint] = [plan, *(line.split(" ", 1)[0] for line in lines)]
                jsons = [value.decode().split(" ", 4)[4], *(line.split(" ", 1)[1] for line in lines)]
                seen.words[frontier][fingerprint] = list(map(_words_in, jsons))
                if host == DELIVERED:
                    seen.delivered[frontier].add(fingerprint)
            plans = {int(number): plan.decode() for plan, number in numbers[frontier].items()}
            for member, marks in seen.finished[frontier].items():
                must(len(marks) == len({mark // 2 for mark in marks}), "a seed finished twice for a plan")
                seen.finished[frontier][member] = {plans[mark // 2]: mark % 2 == 1 for mark in marks}
        return seen

    def sites(self, host):
        """Returns the sites whose politeness counts for a host."""
        return set(filter(None, self.turn_fields[host].get("s", "").split(",")))

    def free_ms(self, host, concurrency, now_ms):
        """Returns when a turn of a host may start next, as far as is known."""
        fields = self.turn_fields[host]
        if "e" in fields or "r" in fields:
            concurrency = 1
        backoff_ms = int(fields.get("x", 0))
        free = [number for number in range(1, concurrency + 1) if number not in self.turns[host]]
        if len(self.turns[host]) >= concurrency or not free:
            return now_ms + RECHECK_MS
        starts_ms = [int(fields.get(f"n{number}", 0)) for number in free]
        return max(
            backoff_ms, max(self.next_starts_ms(host).values(), default=0) if concurrency == 1 else min(starts_ms)
        )

    def next_starts_ms(self, host):
        """Returns number of a turn -> when it may start its next request."""
        fields = self.turn_fields[host]
        return {int(name[1:]): int(at) for name, at in fields.items() if name.startswith("n") and int(at)}

    def given(self, host, frontier):
        """Returns how many seeds of a frontier a host has given while it had more, in rounds."""
        return int(self.turn_fields[host].get(f"o{frontier}", 0))

    def limits(self, host):
        """Returns what a host's robots.txt asks for in ms, and how many seeds a claim takes while it is unreachable."""
        return int(self.turn_fields[host].get("r", 0)), int(self.turn_fields[host].get("b", 0))

    def _take(self, frontier, name, rest="", *, value):
        """Takes one key of a frontier."""
        if name in ("ready", "parked") or name in SETS:
            for fingerprint, at in value.items():
                must(fingerprint not in self.states[frontier], "a seed is in two places:", name, fingerprint)
                self.states[frontier][fingerprint] = SETS.get(name, name)
                self.times[frontier][fingerprint] = due_of(int(at))
            ranked = {one: int(at) // SPAN_MILLISECONDS + RANKS for one, at in value.items() if int(at) < 0}
            self.ranks[frontier] |= ranked
        elif name == "held":
            self.holders[frontier] |= dict.fromkeys(value, rest)
        elif name == "finished":
            self.finished[frontier] = _marks(value)
        elif name == "counts":
            self.counts |= {
                (frontier, what.decode()): int(number)
                for what, number in value.items()
                if what not in (b"finished_buckets", b"refused") and int(number)
            }
        elif name in VALUES:
            read_name, read_value = VALUES[name]
            getattr(self, name)[frontier] = {read_name(one): read_value(what) for one, what in value.items()}
        elif name in OF_PLANS:
            getattr(self, OF_PLANS[name])[frontier][rest] = set(value)
        elif name == "scheduled":
            self.scheduled[frontier] = set(value)
        elif name == "followed":
            self.followed[rest][frontier] = int(value)

    def _take_shared(self, name, rest, value):
        """Takes one key of both frontiers."""
        if name == "sessions":
            self.sessions = {owner.decode(): int(at) for owner, at in value.items()}
        elif name == "turns":
            self.turns_of_owners[rest] = {entry.decode() for entry in value}
        elif name == "turn":
            self._take_turns(rest, {one.decode(): what.decode() for one, what in value.items()})
        elif name == "plan_states":
            stored = {plan.decode(): words.decode().split() for plan, words in value.items()}
            self.plan_states = {
                plan: (int(version), int(edition), state) for plan, (version, edition, state) in stored.items()
            }
        elif name == "ledger":
            plan, site = rest.split(":")
            for what, number in value.items():
                frontier, state = what.decode().split(":", 1)
                if int(number):
                    self.ledger[frontier, plan, site, state] = int(number)

    def _take_turns(self, host, fields):
        self.turn_fields[host] = fields
        for one, holder in fields.items():
            if one.startswith("h"):
                owner, token = holder.split(" ")
                self.turns[host][int(one[1:])] = (owner, int(token))


def _marks(buckets):
    """Returns the first bytes of finished fingerprints -> the marks that stand behind them."""
    found = defaultdict(list)
    for number, packed in buckets.items():
        must(len(packed) < 2 or groups_of(packed), "junk in a bucket", number)
        for mark, seeds, width, stride in groups_of(packed):
            for at in range(0, len(seeds), stride):
                begins, ends = seeds[at : at + width - 4], seeds[at + width - 4 : at + width]
                found[begins + int(number).to_bytes(4, "big")[width - 4 :] + ends].append(mark)
    return dict(found)
