"""What the frontier must do, in plain Python: the reference that the Lua scripts are held against.

A `Model` is told each call that reached Redis, and what can be seen there afterwards (`observed.py`). What a call must
do follows from the rules here. Where the scripts may choose, as in which hosts a claim serves, the model takes over
what they chose after it has checked that they were allowed to. `Model.compare` then finds every other difference.
"""

from __future__ import annotations

import copy
import math
from collections import Counter, defaultdict
from dataclasses import dataclass, field

SUSPECTED, SUSPECTED_BEGUN = -2, -1  # of `crashes`, as lua/lib/states.lua says
DAY_MS = 86_400_000
DELETED_MS = 7 * DAY_MS  # how long a deleted plan's state is kept, as in plan_state.lua
MAX_EXPIRED = 20  # as in settle.lua
MAX_CRASHES = 3  # as in claim.lua, and so are the next two
LAPSED_MAX = 10
YIELD_MS = 1_200
RECHECK_MS = 15_000  # as in lib/turns.lua
FRONTIERS = ("nav", "content")
DEPTHS = 50  # of a priority, as in lib/order.lua
DELIVERED = "+"  # as in lib/ledger.lua
SHARE, ROUND = 10, 180  # as in claim.lua: how often, and after how many seeds, others than the first have had a turn
OF_PLANS = (
    "out-of-scope",
    "lacks-words",
    "noindex",
    "budget-follow",
)  # reasons that say nothing of the page, as in lib/states.lua


class WrongError(AssertionError):
    """The frontier did what it must not do."""


def must(condition, *what):
    """Raises WrongError unless a rule holds."""
    if not condition:
        raise WrongError(" ".join(map(str, what)))


@dataclass
class SeedRecord:
    """One seed that isn't finished for all who want it, as the rules have it.

    Attributes:
        host: `+` for a page that was delivered before its plans asked for it: they are told of it without a fetch.
        plans: Those that want it; the first one's first.
        words: By plan, the combinations of its words that the seed was found by, in the order in which they came.
        ranks: By plan, how many ranks of seeds come before it: by priority, then by depth.
        rank: The one by which a ready seed is ordered; None while it waits for its time.
        state: `ready`, `quarantined`, `parked`, `executing` or `failed`.
        due_ms: For the first three, when it is due.
        since_ms: For `executing` and `failed`, since when it is.
        claim: The claim under which it executes.
        crashes: None, or the number that lua/lib/states.lua explains.
        visited: Whether it is a scheduled seed that was visited before.
    """

    host: str
    plans: list
    site: str
    interval_ms: int
    words: dict
    ranks: dict
    rank: int | None = None
    state: str = "ready"
    due_ms: int = 0
    since_ms: int = 0
    claim: str = ""
    tries: int = 0
    crashes: int | None = None
    reason: str = ""
    visited: bool = False

    @property
    def owner(self):
        return self.claim.rpartition("#")[0]

    @property
    def unheld(self):
        """Whether it waits for somebody."""
        return self.state in ("ready", "quarantined", "parked")


@dataclass
class HostRecord:
    """A host's turns, as the rules have them.

    Attributes:
        sites: Those whose politeness counts, since their seeds were met or a turn was acquired for them.
        held: Number of a turn -> (owner, token).
        not_before_ms: Number of a turn -> when its next request may start.
        backoff_ms: Until when the host asked to be left alone.
        crawl_delay_ms: What its robots.txt asks for; 0: nothing. Of an address, the delay of its budget.
        robots_seeds: How many seeds a claim takes on a turn while its robots.txt is unreachable; 0: it isn't.
        followed: Frontier -> how many seeds were taken off its budget of followed links.
        given: Frontier -> how many seeds it has given while it had more, in rounds of ROUND.
    """

    sites: set = field(default_factory=set)
    held: dict = field(default_factory=dict)
    not_before_ms: Counter = field(default_factory=Counter)
    backoff_ms: int = 0
    crawl_delay_ms: int = 0
    robots_seeds: int = 0
    followed: Counter = field(default_factory=Counter)
    given: Counter = field(default_factory=Counter)


class Model:
    """The frontier of both kinds of seeds, in one partition.

    Args:
        politeness: Site -> (delay in ms, concurrency, burst).
        max_attempts: How often a seed is tried.
        fail_days: How long failed seeds are remembered.
    """

    def __init__(self, now_ms, politeness, max_attempts, fail_days):
        self.now_ms = now_ms
        self.politeness = politeness
        self.max_attempts = max_attempts
        self.fail_ms = fail_days * DAY_MS
        self.seeds = {}  # (frontier, fingerprint) -> SeedRecord
        self.finished = defaultdict(dict)  # the same -> plan -> whether later plans can be told of the page
        self.moved = {}  # (frontier, fingerprint) -> the address that it had moved to when it was finished
        self.hosts = defaultdict(HostRecord)
        self.sessions = {}  # owner -> deadline in ms
        self.lapsed = {name: {} for name in FRONTIERS}  # owner -> deadline in ms
        self.renewed = None  # when a session was opened or renewed last, and its length, in ms
        self.spared = set()  # owners whose deadline was moved since they renewed their session
        self.plan_states = {}  # plan -> (version, edition, `active`, `paused`, `cancelled` or `deleted`)
        self.noted = defaultdict(set)  # (frontier, plan) -> what it wanted when it was cancelled, and others have now
        self.flows = Counter()  # (frontier, plan, site, what) -> seeds that took that way
        self.sums = Counter()  # (frontier, what) -> the same over all plans, those too that were forgotten
        self.fences = Counter()  # owner -> serial number up to which its calls are void
        self.reached = Counter()  # what happened without anybody's asking for it

    def copy(self):
        """Returns the model as it is now, for the day when Redis loses what it does from here on."""
        return copy.deepcopy(self)

    @property
    def stopped(self):
        """Plan -> `pause` or `cancel`."""
        stops = {"paused": "pause", "cancelled": "cancel"}
        return {plan: stops[state] for plan, (_, _, state) in self.plan_states.items() if state in stops}

    # -- Small rules --------------------------------------------------------------------------------------------------

    def count(self, frontier, seed, *what, by=1, plans=None):
        """Counts a seed in the ledger of each plan that wants it, or of some of them."""
        for plan in seed.plans if plans is None else plans:
            for one in what:
                self.flows[frontier, plan, seed.site, one] += by
                self.sums[frontier, one] += by

    def wanted(self, frontier, plan):
        """Returns fingerprint -> seed, for all that a plan wants."""
        return {
            fingerprint: seed
            for (name, fingerprint), seed in self.seeds.items()
            if name == frontier and plan in seed.plans
        }

    def make_ready(self, seed, due_ms):
        seed.state, seed.due_ms, seed.claim, seed.rank = "ready", due_ms, "", None
        if seed.crashes is not None and seed.crashes >= 0:
            seed.state = "quarantined"
        elif due_ms <= self.now_ms:
            self._rank(seed)

    @staticmethod
    def _rank(seed):
        """Gives a seed that is due its place: the best that one of its plans asks for."""
        if seed.host != DELIVERED:
            seed.rank = min(seed.ranks[plan] for plan in seed.plans)

    def make_ready_later(self, frontier, seed, due_ms):
        """A seed that only cancelled plans want fails at once."""
        if all(self.stopped.get(plan) == "cancel" for plan in seed.plans):
            self.make_failed(frontier, seed, "cancelled")
        else:
            self.make_ready(seed, due_ms)

    def make_failed(self, frontier, seed, reason):
        seed.state, seed.since_ms, seed.claim = "failed", self.now_ms, ""
        seed.tries, seed.crashes, seed.reason = 0, None, reason
        self.count(frontier, seed, "failed", f"failed:{reason}")

    def has_session(self, owner):
        return self.sessions.get(owner, -1) >= self.now_ms

    def held_by(self, frontier, owner):
        """Returns fingerprint -> seed, for all that an owner holds."""
        return {
            fingerprint: seed
            for (name, fingerprint), seed in self.seeds.items()
            if name == frontier and seed.state == "executing" and seed.owner == owner
        }

    def turns_of(self, owner):
        """Returns (host, number of the turn, token) of each turn that an owner holds."""
        return [
            (host, number, token)
            for host, record in self.hosts.items()
            for number, (holder, token) in record.held.items()
            if holder == owner
        ]

    def delay_ms(self, host):
        record = self.hosts[host]
        return max([record.crawl_delay_ms, *(self.politeness[site][0] for site in record.sites)])

    def concurrency(self, host):
        """A host with a Crawl-delay has one turn: the delay is the host's."""
        record = self.hosts[host]
        if record.crawl_delay_ms:
            return 1
        return min((self.politeness[site][1] for site in record.sites), default=1)

    def burst(self, host):
        """Returns how many of its seeds a claim may take on a turn, at most: after errors it is one."""
        record = self.hosts[host]
        return record.robots_seeds or min(self.politeness[site][2] for site in record.sites)

    def next_start_ms(self, host, number):
        """Returns when a turn may start a request. A host with one turn keeps its delay whichever it was before."""
        record = self.hosts[host]
        is_shared = not host.startswith("@") and self.concurrency(host) == 1
        return max(record.not_before_ms.values(), default=0) if is_shared else record.not_before_ms[number]

    def release_turn(self, host, owner, token, not_before_ms):
        """Frees a turn, unless somebody else holds it by now."""
        record = self.hosts[host]
        number = token % 1_000
        if record.held.get(number) == (owner, token):
            del record.held[number]
            if not_before_ms is not None:
                record.not_before_ms[number] = not_before_ms

    # -- What workers do ----------------------------------------------------------------------------------------------

    def session(self, what, owner, session_ms):
        """Returns whether the call is answered with yes."""
        self._spare_sessions()
        if what == "end":
            if self.turns_of(owner) or any(self.held_by(frontier, owner) for frontier in FRONTIERS):
                return False
            self.sessions.pop(owner, None)
            self.spared.discard(owner)
            return True
        if what == "renew" and owner not in self.sessions:
            return False
        self.sessions[owner] = self.now_ms + session_ms
        self.renewed = self.now_ms, session_ms
        self.spared.discard(owner)
        return True

    def _spare_sessions(self):
        """Where nobody has renewed a session for half of its length, Redis was away: everybody gets one more length."""
        if self.renewed is None or self.now_ms - self.renewed[0] <= self.renewed[1] / 2:
            return
        for owner, deadline in self.sessions.items():
            if deadline < self.now_ms + self.renewed[1] and owner not in self.spared:
                self.sessions[owner] = self.now_ms + self.renewed[1]
                self.spared.add(owner)
                self.reached["sessions spared"] += 1

    def offer(self, frontier, offered, due_ms, edition, budget, *, again=False):
        """Returns what became of each (fingerprint, seed): `new`, `known`, `over-budget`, `deleted` or `replaced`.

        Args:
            again: Seeds that were finished without an item are new again.
        """
        for fingerprint, new in offered:
            self._free_cancelled(frontier, fingerprint, new.plans[0])
        for fingerprint, new in offered if again else ():
            self._reopen(frontier, fingerprint, new)
        due_ms = due_ms or self.now_ms
        became = []
        for fingerprint, new in offered:
            refusal = self._refusal_of(new.plans[0], edition)
            if refusal == "replaced":
                self.count(frontier, new, refusal)
            became.append(refusal or self._offer_one(frontier, fingerprint, new, due_ms, budget))
            if became[-1] in ("new", "known") and self.stopped.get(new.plans[0]) != "cancel":
                self.noted[frontier, new.plans[0]].discard(fingerprint)
        return became

    def _free_cancelled(self, frontier, fingerprint, plan):
        """Forgets a seed that failed since its plans were cancelled: it is as good as new to a plan that isn't."""
        seed = self.seeds.get((frontier, fingerprint))
        if seed and (seed.state, seed.reason) == ("failed", "cancelled") and self.stopped.get(plan) != "cancel":
            self._note_cancelled(frontier, fingerprint, seed.plans)
            del self.seeds[frontier, fingerprint]

    def _reopen(self, frontier, fingerprint, new):
        """Forgets that a seed was finished for a plan, which can't be told of it."""
        plan, finished = new.plans[0], self.finished[frontier, fingerprint]
        is_deleted = self.plan_states.get(plan, ("", "", ""))[2] == "deleted"
        if (frontier, fingerprint) not in self.seeds and not is_deleted and finished.get(plan) is False:
            del finished[plan]
            self.count(frontier, new, "offered", "finished", by=-1)
            self.reached["finished seeds reopened"] += 1

    def _note_cancelled(self, frontier, fingerprint, plans):
        """Notes for those plans that are cancelled that a seed is others' from now on."""
        for plan in plans:
            if self.stopped.get(plan) == "cancel":
                self.noted[frontier, plan].add(fingerprint)

    def _refusal_of(self, plan, edition=0):
        """Returns why a plan takes no offers: `deleted`, or `replaced` by a newer edition than the given one; or ''."""
        _, newest, state = self.plan_states.get(plan, (0, 0, ""))
        return "deleted" if state == "deleted" else "replaced" if 0 < edition < newest else ""

    def _offer_one(self, frontier, fingerprint, new, due_ms, budget):
        plan, seed = new.plans[0], self.seeds.get((frontier, fingerprint))
        if seed and plan in seed.plans:
            seed.words[plan] += [words for words in new.words[plan] if words not in seed.words[plan]]
            self._take_smaller_depth(seed, plan, new.ranks[plan] % DEPTHS)
        finished = self.finished.get((frontier, fingerprint), {})
        if seed and plan not in finished and plan not in seed.plans:
            self._note_cancelled(frontier, fingerprint, [plan])
        if seed and plan not in finished:
            self._revive(frontier, seed, plan, budget, was_delivered=any(finished.values()))
        is_asked_for = seed and (seed.state == "failed" or plan in seed.plans or self.stopped.get(plan) == "cancel")
        if plan in finished or is_asked_for:
            self.count(frontier, new, "offered", "known")
            if plan not in finished:
                self._unpark(seed)
            return "known"
        if seed:
            self._share(seed, plan, new)
            self._unpark(seed)
        else:
            is_delivered = any(finished.values())
            if budget and not is_delivered:
                followed = self.hosts[new.host].followed
                if followed[frontier] >= budget:  # it is kept: hosts have fewer pages than may be
                    self.count(frontier, new, "offered")
                    self.seeds[frontier, fingerprint] = new
                    self.make_failed(frontier, new, "budget-follow")
                    return "over-budget"
                followed[frontier] += 1
            self.seeds[frontier, fingerprint] = new
            if is_delivered:
                new.host = DELIVERED
            new.visited = 0 < new.interval_ms < 2 * (due_ms - self.now_ms)
            self.make_ready(new, due_ms)
        self.count(frontier, new, "offered")
        return "new"

    @staticmethod
    def _share(seed, plan, new):
        """Has a further plan want a seed, which then comes as soon as that one asks for."""
        seed.plans.append(plan)
        seed.words[plan], seed.ranks[plan] = new.words[plan], new.ranks[plan]
        if seed.rank is not None:
            seed.rank = min(seed.rank, new.ranks[plan])

    def _take_smaller_depth(self, seed, plan, depth):
        """Has a seed come as soon as the shortest way says on which its plan has found it."""
        shorter = seed.ranks[plan] - max(0, seed.ranks[plan] % DEPTHS - depth)
        if shorter < seed.ranks[plan]:
            seed.ranks[plan] = shorter
            self.reached["smaller depth taken"] += 1
            if seed.rank is not None:
                seed.rank = min(seed.rank, shorter)

    def _revive(self, frontier, seed, plan, budget, *, was_delivered):
        """Makes a failed seed ready again if that doesn't count for another plan, which is about to share it.

        What says nothing of the page counts for nobody else, nor does whatever befell the page after it was delivered.
        """
        counts = not was_delivered and seed.reason not in OF_PLANS
        was_over = seed.reason == "budget-follow" and not was_delivered
        is_known = plan in seed.plans and not was_over
        if seed.state != "failed" or counts or is_known or self.stopped.get(plan) == "cancel":
            return
        if was_over and budget:
            followed = self.hosts[seed.host].followed
            if followed[frontier] >= budget:
                return
            followed[frontier] += 1
        self.count(frontier, seed, "failed", f"failed:{seed.reason}", by=-1)
        seed.reason = ""
        if was_delivered:
            seed.host = DELIVERED
        self.make_ready(seed, self.now_ms)
        self.reached["failed for others only"] += 1

    def refuse(self, frontier, seed, reason, number):
        """Counts pages that can't be offered."""
        if not self._refusal_of(seed.plans[0]):
            self.count(frontier, seed, reason, by=number)

    def _unpark(self, seed):
        """Makes a parked seed ready if one of its plans isn't stopped; returns whether it did."""
        if seed and seed.state == "parked" and any(plan not in self.stopped for plan in seed.plans):
            self.make_ready(seed, seed.due_ms)
            return True
        return False

    def begin(self, frontier, fingerprint, claim):
        seed = self.seeds.get((frontier, fingerprint))
        if seed and seed.state == "executing" and seed.claim == claim:
            seed.crashes = SUSPECTED_BEGUN

    def settle(self, frontier, owner, settlements, releases):
        """Returns the operations of those settlements that ended a claim.

        Args:
            settlements: (fingerprint, claim, operation, amount in ms, reason, whether later plans can be told of the
                page, the plans that it was delivered for; of a `fetch`, the page's host instead).
            releases: (host, token, ms since the last start, ms of backoff).
        """
        accepted = []
        for fingerprint, claim, operation, amount_ms, reason, tellable, served in settlements:
            seed = self.seeds.get((frontier, fingerprint))
            if not seed or seed.state != "executing" or seed.claim != claim:
                continue
            accepted.append(operation)
            if operation == "finish":
                self._finish(frontier, fingerprint, amount_ms, reason, tellable, served)
            elif operation == "release":
                self.make_ready(seed, amount_ms)
            elif operation == "postpone":
                self.make_ready_later(frontier, seed, self.now_ms + amount_ms)
            elif operation == "fetch":
                seed.host = served
                self.make_ready_later(frontier, seed, amount_ms)
            else:
                self._not_finished(frontier, seed, amount_ms, reason, operation == "retry", served)
        for host, token, since_start_ms, backoff_ms in releases:
            started = since_start_ms >= 0
            next_ms = self.now_ms - since_start_ms + self.delay_ms(host) if started else None
            self.release_turn(host, owner, token, next_ms)
            if backoff_ms:
                self.hosts[host].backoff_ms = max(self.hosts[host].backoff_ms, self.now_ms + backoff_ms)
        self._forget_expired(frontier)
        return accepted

    def _forget_expired(self, frontier):
        """Forgets seeds that failed long ago."""
        expired = sorted(
            (seed.since_ms, fingerprint)
            for (name, fingerprint), seed in self.seeds.items()
            if name == frontier and seed.state == "failed" and seed.since_ms <= self.now_ms - self.fail_ms
        )
        for _, fingerprint in expired[:MAX_EXPIRED]:
            del self.seeds[frontier, fingerprint]
            self.reached["failed seeds forgotten"] += 1

    def _finish(self, frontier, fingerprint, due_ms, note, tellable, served):
        seed = self.seeds[frontier, fingerprint]
        ended = [plan for plan in seed.plans if seed.interval_ms or plan in served]
        note, _, target = note.partition(" ")
        if note:
            self.count(frontier, seed, note, plans=ended)
        seed.tries, seed.crashes = 0, None
        if seed.interval_ms:
            seed.visited = True
            self.count(frontier, seed, "visits")
            self.make_ready_later(frontier, seed, max(self.now_ms, due_ms + seed.interval_ms))
            return
        before = self.moved.pop((frontier, fingerprint), "")
        if target:
            self.moved[frontier, fingerprint] = target
        if before not in ("", target):
            self.count(frontier, seed, "changed-target", plans=ended)
        self.count(frontier, seed, "finished", plans=ended)
        self.finished[frontier, fingerprint] |= dict.fromkeys(ended, tellable)
        seed.plans = [plan for plan in seed.plans if plan not in served]
        if not seed.plans:
            del self.seeds[frontier, fingerprint]
            return
        if tellable:
            seed.host = DELIVERED
        self.make_ready(seed, self.now_ms)  # for those who have asked since it was claimed

    def _not_finished(self, frontier, seed, wait_ms, reason, may_retry, served):
        seed.crashes, seed.tries, seed.reason = None, seed.tries + 1, reason
        if may_retry and seed.tries < self.max_attempts:
            self.count(frontier, seed, "retried")
            self.make_ready_later(frontier, seed, self.now_ms + wait_ms)
        elif seed.interval_ms:
            seed.visited, seed.tries = True, 0
            self.count(frontier, seed, "missed")
            self.make_ready_later(frontier, seed, self.now_ms + seed.interval_ms)
        elif reason in OF_PLANS and (later := [plan for plan in seed.plans if plan not in served]):
            refused = [plan for plan in seed.plans if plan in served]
            self.count(frontier, seed, "failed", f"failed:{reason}", plans=refused)
            seed.plans, seed.tries, seed.reason = later, 0, ""
            self.make_ready_later(frontier, seed, self.now_ms)
            self.reached["failed for some of its plans"] += 1
        else:
            self.make_failed(frontier, seed, reason)

    def claim(self, frontier, owner, claim, max_seeds, carrying, serial, seen):
        """Follows a claim.

        Args:
            serial: The call's number among all calls of this owner.
            seen: What Redis holds afterwards.

        Returns:
            The states that the answer may have, and the fingerprints that were given.
        """
        if not self.has_session(owner):
            return {"lapsed"}, []
        if serial <= self.fences[owner]:
            return {"locked"}, []
        self._reclaim(frontier)
        self._take_over_ranks(frontier, seen)
        self._obey_what_was_met(frontier, claim, seen)
        waiting = {
            fingerprint: seed
            for (name, fingerprint), seed in self.seeds.items()
            if name == frontier and seed.state in ("ready", "quarantined") and seed.due_ms <= self.now_ms
        }
        given = [fingerprint for fingerprint, by in seen.claims[frontier].items() if by == claim]
        limited = [one for one in given if not (one in waiting and self.hosts[waiting[one].host].robots_seeds)]
        must(len(limited) <= max_seeds, claim, "gave", len(limited), "seeds, asked for", max_seeds)
        for fingerprint in given:
            must(fingerprint in waiting, claim, "gave a seed that was not waiting, or not due:", fingerprint)
            seed = waiting[fingerprint]
            is_wanted = any(plan not in self.stopped for plan in seed.plans)
            must(is_wanted, claim, "gave a seed that no active plan wants:", seed)
        quarantined = [fingerprint for fingerprint in given if waiting[fingerprint].state == "quarantined"]
        holds = carrying or self.held_by(frontier, owner)
        self._check_order(frontier, given, waiting, seen)
        for fingerprint in given:
            seed = waiting[fingerprint]
            seed.state, seed.since_ms, seed.claim = "executing", self.now_ms, claim
        fetched = Counter(waiting[one].host for one in given if waiting[one].host != DELIVERED)
        for fingerprint in given:
            if waiting[fingerprint].host != DELIVERED:
                self.hosts[waiting[fingerprint].host].sites.add(waiting[fingerprint].site)
        self._take_over_sites(seen)
        for host, number in fetched.items():
            got = self._take_turns(owner, claim, host, seen)
            must(number <= len(got) * self.burst(host), claim, "gave", number, "seeds of", host, "on turns", got)
        if quarantined:
            must(not holds and len(given) == 1, claim, "gave a quarantined seed beside others")
            return {"quarantined"}, given
        is_laden = any(seed.state == "quarantined" for seed in waiting.values()) and holds and not given
        return {"ok", "laden"} if is_laden else {"ok"}, given

    def _reclaim(self, frontier):
        """Takes back what owners held whose sessions have lapsed."""
        self._spare_sessions()
        late = sorted((deadline, owner) for owner, deadline in self.sessions.items() if deadline < self.now_ms)
        for deadline, owner in late[:LAPSED_MAX]:
            del self.sessions[owner]
            self.spared.discard(owner)
            for lapsed in self.lapsed.values():
                lapsed[owner] = deadline
        for owner, deadline in sorted(self.lapsed[frontier].items(), key=lambda one: one[::-1])[:LAPSED_MAX]:
            for host, _number, token in self.turns_of(owner):
                self.release_turn(host, owner, token, deadline + self.delay_ms(host))
            for seed in self.held_by(frontier, owner).values():
                self.count(frontier, seed, "reclaimed")
                if seed.crashes is None:
                    seed.crashes = SUSPECTED
                elif seed.crashes != SUSPECTED:
                    seed.crashes += 1
                if seed.crashes >= MAX_CRASHES:
                    self.make_failed(frontier, seed, "crashed-worker")
                else:
                    self.make_ready(seed, self.now_ms)
            del self.lapsed[frontier][owner]

    def _take_over_ranks(self, frontier, seen):
        """Takes over which of the seeds whose time has come a claim has come upon: those have their places now."""
        for (name, fingerprint), seed in self.seeds.items():
            is_timed = name == frontier and seed.state == "ready" and seed.rank is None and seed.due_ms <= self.now_ms
            if is_timed and (fingerprint in seen.ranks[frontier] or seen.states[frontier].get(fingerprint) != "ready"):
                self._rank(seed)

    def _obey_what_was_met(self, frontier, claim, seen):
        """Does to those seeds that the claim came upon what the stops of their plans ask for."""
        for (name, fingerprint), seed in list(self.seeds.items()):
            if name != frontier or seed.state not in ("ready", "quarantined") or seed.due_ms > self.now_ms:
                continue
            was_met = seen.states[frontier].get(fingerprint) in ("parked", "failed")
            if (
                was_met
                or seen.plans[frontier].get(fingerprint) != seed.plans
                or claim == seen.claims[frontier].get(fingerprint)
            ):
                self._obey(frontier, fingerprint, seed)

    def _obey(self, frontier, fingerprint, seed):
        """Takes cancelled plans away from a seed that waits. With none left it fails, with paused ones it is parked."""
        cancelled = [plan for plan in seed.plans if self.stopped.get(plan) == "cancel"]
        if len(cancelled) == len(seed.plans):
            self.make_failed(frontier, seed, "cancelled")
            return
        self._note_cancelled(frontier, fingerprint, cancelled)
        self.count(frontier, seed, "failed", "failed:cancelled", plans=cancelled)
        seed.plans = [plan for plan in seed.plans if plan not in cancelled]
        if all(plan in self.stopped for plan in seed.plans):
            seed.state, seed.rank = "parked", None
        elif seed.state == "parked":
            self.make_ready(seed, seed.due_ms)

    def _check_order(self, frontier, given, waiting, seen):
        """Within a host, what has the best rank is given first, then what was due first; but for one in SHARE."""
        left, taken = defaultdict(list), defaultdict(list)
        for fingerprint, seed in waiting.items():
            is_wanted = any(plan not in self.stopped for plan in seed.plans)
            if seed.state == "ready" and is_wanted and (seed.rank is not None or seed.host == DELIVERED):
                places = taken if fingerprint in given else left
                places[seed.host].append((seed.rank or 0, seed.due_ms))
        for host in taken:
            before, now = self.hosts[host].given[frontier], seen.given(host, frontier)
            after = before + (now - before) % ROUND
            first_left = min(left[host], default=(math.inf,))
            mixed = sum(place > first_left for place in taken[host])
            must(mixed <= after // SHARE - before // SHARE, "passed over a seed that comes before", mixed, "of", host)
            self.hosts[host].given[frontier] = now
            self.reached["claimed: beside the order"] += mixed

    def _take_over_sites(self, seen):
        """Takes over for which sites a call has met seeds: those count from then on, whether seeds are given or not."""
        for host, record in self.hosts.items():
            must(record.sites <= seen.sites(host), host, "forgot a site:", record.sites, seen.sites(host))
            record.sites |= seen.sites(host)

    def _take_turns(self, owner, what, host, seen):
        """Takes over the turns of a host that a call has acquired, if they were free; returns them."""
        record = self.hosts[host]
        new = {number: held for number, held in seen.turns[host].items() if number not in record.held}
        for number, held in new.items():
            must(held[0] == owner, what, "gave a turn to somebody else:", host, held)
            must(self.now_ms >= self.next_start_ms(host, number), what, "gave turn", number, "of", host, "too early")
            must(self.now_ms >= record.backoff_ms, what, "gave a turn of", host, "during its backoff")
        record.held |= new
        return new

    def acquire_turn(self, host, site, owner, serial, seen):
        """Follows the call; returns the numbers of the turns that it acquired."""
        if not self.has_session(owner) or serial <= self.fences[owner]:
            return []
        self.hosts[host].sites.add(site)
        self._take_over_sites(seen)
        got = self._take_turns(owner, "acquire_turn", host, seen)
        must(len(got) <= 1, "one call acquired", got, "of", host)
        must(not got or len(self.hosts[host].held) <= self.concurrency(host), "too many turns of", host)
        return list(got)

    def acquire_address(self, name, owner, serial, budget, seen):
        """Follows the call; `budget`: turns, ms between two starts. Returns the numbers of the turns it acquired."""
        if not self.has_session(owner) or serial <= self.fences[owner]:
            return []
        record, (turns, record.crawl_delay_ms) = self.hosts[name], budget
        is_free = len(record.held) < turns and self.now_ms >= record.backoff_ms
        starts_ms = [record.not_before_ms[number] for number in range(1, turns + 1) if number not in record.held]
        got = self._take_turns(owner, "acquire_address", name, seen)
        must(len(got) == int(is_free and min(starts_ms) <= self.now_ms), "acquired", got, "of", name, record)
        if got:
            record.backoff_ms = self.now_ms + record.crawl_delay_ms
        return list(got)

    def turn_start(self, host, delay_ms, owner, token):
        """Returns how many other turns are held, in how many ms this one may start a request, and the host's delay.

        -1: others go first.

        The turns' next starts were a delay after their last ones: they move by what the delay grew.
        """
        record = self.hosts[host]
        before_ms, record.crawl_delay_ms = self.delay_ms(host), delay_ms
        for number in record.not_before_ms:
            record.not_before_ms[number] += self.delay_ms(host) - before_ms
        is_held = record.held.get(token % 1_000) == (owner, token)
        others = len(record.held) - is_held
        if not is_held or min(record.held) < token % 1_000:
            return others, -1, self.delay_ms(host)
        wait_ms = max(0, self.next_start_ms(host, token % 1_000) - self.now_ms)
        return others, self.delay_ms(host) if others else wait_ms, self.delay_ms(host)

    def recall(self, frontier, owner, given_up, known_seeds=None, known_turns=()):
        """Takes back what an owner doesn't know that it holds.

        Args:
            given_up: (claim id, serial number) of calls whose answers never came.
            known_seeds: All that it knows it holds; None: only what given-up calls gave is taken back.
            known_turns: `TOKEN HOST` of the turns likewise.

        Returns:
            How many seeds were taken back that no given-up call had claimed.
        """
        forgotten, claims, serials = 0, {claim for claim, _ in given_up}, {serial for _, serial in given_up}
        self.fences[owner] = max(self.fences[owner], *serials, 0)
        for fingerprint, seed in self.held_by(frontier, owner).items():
            is_forgotten = known_seeds is not None and fingerprint not in known_seeds
            if seed.claim in claims or is_forgotten:
                forgotten += seed.claim not in claims
                self.make_ready(seed, seed.since_ms)
        for host, _number, token in self.turns_of(owner):
            if token // 1_000 in serials:
                self.release_turn(host, owner, token, None)
            elif known_seeds is not None and f"{token} {host}" not in known_turns:
                self.release_turn(host, owner, token, self.now_ms + self.delay_ms(host))
        return forgotten

    # -- What operators do --------------------------------------------------------------------------------------------

    def set_aside(self, frontier, plan):
        """Returns how many seeds that wait have been parked, have failed, or have lost a plan."""
        number = 0
        for fingerprint, seed in self.wanted(frontier, plan).items():
            stops = [self.stopped.get(one) for one in seed.plans]
            is_changed = "cancel" in stops or (seed.state != "parked" and None not in stops)
            if seed.unheld and is_changed:
                self._obey(frontier, fingerprint, seed)
                number += 1
        return number

    def resume(self, frontier, plan):
        """Returns how many parked seeds of a plan are ready again."""
        return sum([self._unpark(seed) for seed in self.wanted(frontier, plan).values()])

    def retry(self, frontier, plan):
        """Returns how many failed seeds of a plan are ready again."""
        failed = [
            seed
            for seed in self.wanted(frontier, plan).values()
            if seed.state == "failed" and any(self.stopped.get(one) != "cancel" for one in seed.plans)
        ]
        for seed in failed:
            self.count(frontier, seed, "failed", f"failed:{seed.reason}", by=-1)
            seed.reason = ""
            self.make_ready(seed, self.now_ms)
        return len(failed)

    def drop(self, frontier, plan, reason, is_dropped=lambda _seed: True):
        """Returns from how many seeds a plan was taken away: as failed, unless they had failed before."""
        dropped = {one: seed for one, seed in self.wanted(frontier, plan).items() if is_dropped(seed)}
        for fingerprint, seed in dropped.items():
            if seed.state != "failed":
                self.count(frontier, seed, "failed", f"failed:{reason}", plans=[plan])
            seed.plans = [one for one in seed.plans if one != plan]
            if not seed.plans:
                del self.seeds[frontier, fingerprint]
        return len(dropped)

    def forget(self, frontier, plan, site):
        """Returns whether a plan's ledger is forgotten, which it is when none of its seeds is on its way."""
        self.drop(frontier, plan, "deleted", lambda seed: (seed.state, seed.site) == ("failed", site))
        own = [seed for name in FRONTIERS for seed in self.wanted(name, plan).values() if seed.site == site]
        if any(seed.unheld or seed.state == "executing" for seed in own):
            return False
        for key in [key for key in self.flows if key[:3] == (frontier, plan, site)]:
            if key[3] in ("offered", "known", "finished", "failed"):
                self.sums[frontier, f"deleted:{key[3]}"] += self.flows[key]
            del self.flows[key]
        return True

    # -- What must be seen --------------------------------------------------------------------------------------------

    def compare(self, seen):
        """Holds all that Redis holds against the rules."""
        self._compare_seeds(seen)
        self._compare_counts(seen)
        held = {host: record.held for host, record in self.hosts.items() if record.held}
        same("turns held", held, {host: turns for host, turns in seen.turns.items() if turns})
        by_owner = {owner for record in self.hosts.values() for owner, _ in record.held.values()}
        same(
            "turns by owner",
            {owner: {f"{token} {host}" for host, _, token in self.turns_of(owner)} for owner in by_owner},
            seen.turns_of_owners,
        )
        same("sessions", self.sessions, seen.sessions)
        same("lapsed", self.lapsed, seen.lapsed)
        same("plan states", self.plan_states, seen.plan_states)
        for host, record in self.hosts.items():
            must(record.sites <= seen.sites(host), host, "forgot a site")
            next_starts = {number: at_ms for number, at_ms in record.not_before_ms.items() if at_ms}
            same(f"next starts of {host}", next_starts, seen.next_starts_ms(host))
            same(f"limits of {host}", (record.crawl_delay_ms, record.robots_seeds), seen.limits(host))
            same(f"followed on {host}", +record.followed, Counter(seen.followed[host]))
        for frontier in FRONTIERS:
            self._compare_hosts(frontier, seen)

    def _compare_seeds(self, seen):
        for frontier in FRONTIERS:
            left = {fingerprint: seed for (name, fingerprint), seed in self.seeds.items() if name == frontier}
            finished = {one[:8]: plans for (name, one), plans in self.finished.items() if name == frontier and plans}
            executing = {fingerprint: seed for fingerprint, seed in left.items() if seed.state == "executing"}
            same("finished", finished, seen.finished[frontier])
            same("plans", {one: seed.plans for one, seed in left.items()}, seen.plans[frontier])
            words = {one: [seed.words[plan] for plan in seed.plans] for one, seed in left.items()}
            same("words", words, seen.words[frontier])
            same("delivered", {one for one, seed in left.items() if seed.host == DELIVERED}, seen.delivered[frontier])
            wanted = {plan: set(self.wanted(frontier, plan)) for seed in left.values() for plan in seed.plans}
            same("wanted", wanted, seen.wanted[frontier])
            same("moved", {one: to for (name, one), to in self.moved.items() if name == frontier}, seen.moved[frontier])
            noted = {plan: noted for (name, plan), noted in self.noted.items() if name == frontier and noted}
            same("noted", noted, seen.noted[frontier])
            ranks = {one: seed.rank for one, seed in left.items() if seed.state == "ready" and seed.rank is not None}
            same("ranks", ranks, seen.ranks[frontier])
            same("state", {one: seed.state for one, seed in left.items()}, seen.states[frontier])
            same(
                "time",
                {one: seed.due_ms if seed.unheld else seed.since_ms for one, seed in left.items()},
                seen.times[frontier],
            )
            same("claims", {one: seed.claim for one, seed in executing.items()}, seen.claims[frontier])
            same("holders", {one: seed.owner for one, seed in executing.items()}, seen.holders[frontier])
            same("tries", {one: seed.tries for one, seed in left.items() if seed.tries}, seen.tries[frontier])
            same("reasons", {one: seed.reason for one, seed in left.items() if seed.reason}, seen.reasons[frontier])
            crashes = {one: seed.crashes for one, seed in left.items() if seed.crashes is not None}
            same("crashes", crashes, seen.crashes[frontier])
            same("scheduled", {one for one, seed in left.items() if seed.visited}, seen.scheduled[frontier])

    def _compare_counts(self, seen):
        ledger, sums = Counter(self.flows), Counter(self.sums)
        states = {"ready": "ready", "quarantined": "ready", "parked": "parked", "executing": "executing"}
        for (frontier, _), seed in self.seeds.items():
            state = states.get(seed.state)
            for plan in seed.plans if state else ():
                now = [state, "waiting"] if state == "ready" and seed.visited else [state]
                ledger.update((frontier, plan, seed.site, one) for one in now)
                sums.update((frontier, one) for one in now)
        same("ledger", +ledger, seen.ledger)
        same("counts", +sums, seen.counts)

    def _compare_hosts(self, frontier, seen):
        """Every host with ready seeds is where claims find it, no later than one of its seeds can be given."""
        first = {}
        for (name, _), seed in self.seeds.items():
            if name == frontier and seed.state == "ready":
                first[seed.host] = min(first.get(seed.host, seed.due_ms), seed.due_ms)
        same("hosts", set(first), set(seen.hosts[frontier]))
        for host, due_ms in first.items():
            if host == DELIVERED:
                must(
                    seen.hosts[frontier][host] <= max(due_ms, self.now_ms), "what needs no fetch is looked at too late"
                )
                continue
            concurrency = min(self.politeness[site][1] for site in seen.sites(host) or self.politeness)
            earliest_ms = max(due_ms, seen.free_ms(host, concurrency, self.now_ms), self.now_ms)
            score = seen.hosts[frontier][host]
            must(score <= earliest_ms + YIELD_MS, host, "is looked at", score - earliest_ms, "ms too late")


def same(what, expected, found):
    """Raises WrongError where Redis holds something else than the rules say."""
    if expected != found:
        if isinstance(expected, dict):
            names = sorted(name for name in {*expected, *found} if expected.get(name) != found.get(name))
            expected, found = ({name: one.get(name) for name in names} for one in (expected, found))
        raise WrongError(f"{what}: expected {expected}, found {found}")
