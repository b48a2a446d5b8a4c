"""Random interleavings of five owners and an operator, on a real frontier and on its model at once.

A program is a list of steps. A step is a call to the frontier, which is heard, loses its answer, or arrives late; time
that passes; a silence or a death; or Redis losing what it did last. After each, all that Redis holds is compared with
the model.

A `random.Random` draws the programs, and steps are left out of one that fails for as long as it still does: that finds
a fault in fewer programs than Hypothesis does, and leaves far fewer steps of it to read.
"""

from __future__ import annotations

import functools
import itertools
import math

from frontier.driver import FrontierDriver, content, nav
from frontier.model import DAY_MS, DELETED_MS, DELIVERED, FRONTIERS, Model, SeedRecord, WrongError, must, same
from frontier.observed import LOAD, SAVE, Observed
from redis.exceptions import ConnectionError as RedisConnectionError

from crawler.frontier import recount, scripts
from crawler.frontier.offer import IS_NEW, OfferTerms, Proposal
from crawler.frontier.seed_admin import SeedAdmin
from crawler.frontier.settlement import Settlement, TurnRelease
from crawler.worker.offers.known_pages import KnownPages

CLOCK = "clock"  # the key that holds the time, in ms
BEGIN_MS = 1_700_000_000_000
TIME = "local redis_time = call('TIME')"
OWN_TIME = f"""local own_ms = tonumber(call('GET', '{CLOCK}'))
local redis_time = {{ string.format('%d', math.floor(own_ms / 1000)), string.format('%d', own_ms % 1000 * 1000) }}"""

SESSION_MS = 60_000
INTERVAL_SECONDS = 3_600
MAX_ATTEMPTS = 3
FAIL_DAYS = 30
HOSTS = ("a.test", "b.test", "c.test")
PLANS = ("one", "two")
SITES = {"quick": (0, 2, 2), "slow": (1_000, 1, 3)}  # delay in ms, concurrency, burst
ADDRESS, ADDRESS_BUDGET = "@192.0.2.1", (2, 500)  # turns, and ms between two starts on any of them
SITES_OF = {"a.test": ("quick",), "b.test": ("slow",), "c.test": ("quick", "slow")}
PAGES = 4  # of each host
WORDS = ((), ("x",), ("x", "y"), ("[y",))  # by which pages are found
PRIORITIES, DEPTHS = (0, 5, 5, 5, 9), (0, 0, 1, 70)  # from the 49th on, depths are the same
SLOT_FRONTIERS = ("nav", "nav", "content", "content", "content")
DRAIN_ROUNDS = 400


def _one_of(*values):
    return lambda chance: chance.choice(values)


def _some_of(draw, least, most):
    return lambda chance: [draw(chance) for _ in range(chance.randint(least, most))]


def _page(chance):
    page = chance.choice(HOSTS), chance.randint(1, PAGES), chance.randrange(2), chance.choice(PLANS)
    return *page, chance.choice(WORDS), chance.choice(PRIORITIES), chance.choice(DEPTHS)


WHO = _one_of(*range(len(SLOT_FRONTIERS)))
FATE = _one_of(*["heard"] * 6, "lost", "late")
PLAN, FRONTIER, HOST = _one_of(*PLANS), _one_of(*FRONTIERS), _one_of(*HOSTS)
YES_OR_NO = _one_of(*map(bool, (0, 1)))
ENDING = _one_of(*["finish"] * 6, *["retry"] * 4, *["fail"] * 2, *["release"] * 2, "postpone")
STEPS = {  # each kind of step: how likely it is, and what it takes
    "offer": (
        16,
        {
            "who": WHO,
            "frontier": FRONTIER,
            "pages": _some_of(_page, 2, 8),
            "due_in_ms": _one_of(None, None, 0, 300, 2_000, 1_000 * INTERVAL_SECONDS),
            "scheduled": YES_OR_NO,
            "budget": _one_of(0, 0, 0, 3),
            "editions_ago": _one_of(None, None, None, 0, 1),
            "again": _one_of(*map(bool, (0, 0, 0, 0, 1))),
            "fate": FATE,
        },
    ),
    "refuse": (1, {"frontier": FRONTIER, "page": _page}),
    "claim": (
        40,
        {
            "who": WHO,
            "max_seeds": _one_of(*range(1, 9)),
            "preferred": _one_of((), (), *((host,) for host in HOSTS), HOSTS, ("no.test", "+", *HOSTS[1:])),
            "fate": FATE,
        },
    ),
    "begin": (6, {"who": WHO}),
    "settle": (
        36,
        {
            "who": WHO,
            "endings": _some_of(ENDING, 1, 6),
            "wait_ms": _one_of(0, 400, 3_000),
            "backoff_ms": _one_of(0, 0, 0, 0, 700),
            "tellable": YES_OR_NO,
            "note": _one_of("", "", "redirected", "moved /one", "moved /other"),
            "left_out": _one_of("", "", *PLANS),
            "signs": _one_of((1, 0, 0), (1, 0, 0), (0, 0, 0), (0, 1, 0), (0, 0, 1)),
            "fate": _one_of(*["heard"] * 8, "lost", "late", "twice"),
        },
    ),
    "settle_again": (5, {"fate": FATE}),
    "acquire_turn": (6, {"who": WHO, "host": HOST, "starts": YES_OR_NO, "fate": FATE}),
    "acquire_address": (3, {"who": WHO, "fate": FATE}),
    "keep_crawl_delay": (2, {"who": WHO, "delay_ms": _one_of(400, 1_500)}),
    "drop_crawl_delay": (2, {"host": HOST}),
    "hold_for_robots": (2, {"who": WHO, "seeds": _one_of(0, 0, 5)}),
    "recall": (3, {"who": WHO}),
    "renew": (6, {}),
    "leave": (1, {"who": WHO}),
    "lapse": (2, {"who": WHO}),
    "die": (5, {"who": WHO, "times": _one_of(1, 1, 1, 1, 5)}),
    "come_late": (2, {"who": WHO}),
    "wait": (24, {"ms": _one_of(1, 50, 200, 500, 1_000, 1_000, 1_000, 2_500, 10_000)}),
    "wait_long": (2, {"ms": _one_of(*[40_000, 3_600_000] * 3, (FAIL_DAYS + 1) * DAY_MS)}),
    "arrive": (5, {"number": WHO}),
    "save": (2, {}),
    "lose": (2, {}),
    "tell_state": (
        4,
        {
            "plan": PLAN,
            "state": _one_of(*["active"] * 8, *["paused"] * 4, *["cancelled"] * 4, "deleted"),
            "is_new_edition": _one_of(*map(bool, (0, 0, 0, 1))),
            "is_late": _one_of(*map(bool, (0, 0, 0, 0, 0, 1))),
        },
    ),
    "set_aside": (2, {"frontier": FRONTIER, "plan": PLAN}),
    "resume": (2, {"frontier": FRONTIER, "plan": PLAN}),
    "retry": (2, {"frontier": FRONTIER, "plan": PLAN}),
    "drop": (1, {"frontier": FRONTIER, "plan": PLAN}),
    "forget": (1, {"frontier": FRONTIER, "plan": PLAN, "site": _one_of(*SITES)}),
}


def program(chance, steps):
    """Returns a program of so many steps, drawn from a `random.Random`."""
    names = chance.choices(list(STEPS), [weight for weight, _ in STEPS.values()], k=steps)
    return [(name, {what: draw(chance) for what, draw in STEPS[name][1].items()}) for name in names]


def without_needless(failing, fails):
    """Returns a program that still fails, but no more without any one of its steps.

    Args:
        fails: Runs a program; returns whether it fails.
    """
    size = len(failing) // 2
    while size:
        for start in range(len(failing) - size, -1, -size):
            shorter = failing[:start] + failing[start + size :]
            if fails(shorter):
                failing = shorter
        size //= 2
    return failing


def with_own_time(source):
    """Returns `scripts.source`, but for the clock: the scripts read the time from a key."""

    @functools.cache
    def read(name):
        text = source(name)
        assert text.count(TIME) == text.count("call('TIME')") <= 1, "lua/lib/clock.lua reads the time otherwise by now"
        return text.replace(TIME, OWN_TIME)

    return read


class Transport:
    """Carries calls of scripts to Redis; the fate of the next one is chosen beforehand."""

    FATEFUL = ("offer", "claim", "settle", "acquire_turn")

    def __init__(self):
        self.fate = "heard"
        self.late = None  # the call that was held back last
        self.now_ms = BEGIN_MS  # by the clocks of workers, too

    def through(self, real):
        """Returns `scripts.run` or `scripts.run_after`, but for what becomes of the call."""

        async def run(redis, name, *arguments, **options):
            fate, self.fate = (self.fate, "heard") if name in self.FATEFUL else ("heard", self.fate)
            if fate == "late":
                self.late = functools.partial(real, redis, name, *arguments, **options)
                raise RedisConnectionError("it is on its way")
            answer = await real(redis, name, *arguments, **options)
            if fate == "lost":
                raise RedisConnectionError("its answer is lost")
            return answer

        return run


class Slot:
    """A worker's place: its owner now, and what that one knows it holds."""

    def __init__(self, number):
        self.number = number
        self.frontier = SLOT_FRONTIERS[number]
        self.generations = itertools.count(1)
        self.renew_owner()

    def renew_owner(self):
        """Begins anew, with nothing, under an owner id that is never used again."""
        self.owner = f"w{self.number}:{next(self.generations)}"
        self.held = []
        self.turns = {}  # (host, token) -> when its last request was started; None: none was
        self.unheard = []  # settle calls without an answer


class Interleaving:
    """One program's run.

    Args:
        redis: Empty.
        transport: Carries the calls of scripts.
        reached: Counts what the frontier was made to do.
    """

    def __init__(self, redis, transport, reached):
        self.redis = redis
        self.transport = transport
        self.reached = reached
        self.driver = FrontierDriver(redis, max_attempts=MAX_ATTEMPTS, fail_days=FAIL_DAYS)
        self.admins = {name: SeedAdmin(queue) for name, queue in self.driver.queues.items()}
        self.model = Model(BEGIN_MS, SITES, MAX_ATTEMPTS, FAIL_DAYS)
        self.stem = self.driver.keys.partition(0).stem
        self.slots = [Slot(number) for number in range(len(SLOT_FRONTIERS))]
        transport.now_ms = BEGIN_MS
        self.known = [KnownPages(self.driver.queues["content"], 1_000) for _ in self.slots]  # by slot
        self.late = []  # calls on their way: what runs them, and what follows them in the model
        self.saved = None
        self.seen = None  # what the step's last call has left in Redis

    async def run(self, program):
        """Runs a program, and brings all that it leaves to an end."""
        await self.redis.set(CLOCK, BEGIN_MS)
        for site, politeness in SITES.items():
            await self.driver.polite(site, *politeness)
        for slot in self.slots:
            await self._open(slot)
        for name, arguments in program:
            self.seen = None
            await getattr(self, name)(**arguments)
            self.model.compare(self.seen or await self._seen())
            for slot in self.slots:
                self._check_in_flight(slot)
        await self._drain()
        self.reached.update(self.model.reached)
        for (_frontier, what), number in self.model.sums.items():
            self.reached[f"counted: {what}"] += number

    async def _seen(self):
        return await Observed.read(self.redis, self.stem)

    def _check_in_flight(self, slot):
        """The queue knows of all that is held, and beyond that only of what may have ended unheard."""
        known = self._in_flight(slot).seeds
        held = {claimed.fingerprint: claimed.claim for claimed in slot.held}
        unheard = {end.claimed.fingerprint for ended, _ in slot.unheard for end in ended}
        same("in flight", held, {one: claim for one, claim in known.items() if one in held or one not in unheard})

    def _in_flight(self, slot):
        return self.driver.queues[slot.frontier]._in_flight[0, slot.owner]

    # -- Calls of workers ---------------------------------------------------------------------------------------------

    async def _sent(self, fate, call, follow):
        """Sends a call, and follows it in the model as soon as it has reached Redis.

        Args:
            follow: Called with what Redis holds then; returns what the answer must be.

        Returns:
            Whether it was answered, the answer, and what it must be.
        """
        self.transport.fate = fate
        try:
            answer = await call
        except RedisConnectionError:
            if fate == "late":
                self.late.append((self.transport.late, follow))
            else:
                await self._follow(follow)
            return False, None, None
        finally:
            self.transport.fate = "heard"
        return True, answer, await self._follow(follow)

    async def _follow(self, follow):
        self.seen = await self._seen()
        return follow(self.seen)

    def _follow_recall(self, slot):
        """The queue first takes back what unanswered calls gave: so does the model."""
        if unanswered := self._in_flight(slot).unanswered:
            self.model.recall(slot.frontier, slot.owner, list(unanswered))
            self.reached["recalled: never answered"] += 1

    @staticmethod
    def _seed(frontier, page, *, scheduled=False):
        host, number, site, plan, words, priority, depth = page
        make = nav if frontier == "nav" else content
        interval_s = INTERVAL_SECONDS if scheduled and frontier == "nav" else 0
        site = SITES_OF[host][site % len(SITES_OF[host])]
        order = {"priority": priority, "depth": depth}
        return make(number, host, plan=plan, site=site, interval_s=interval_s, keywords=words, **order)

    @staticmethod
    def _record(seed):
        words = {seed.plan: [list(seed.keywords)] if seed.keywords else []}
        ranks = {seed.plan: (9 - seed.priority) * 50 + min(seed.depth, 49)}
        return SeedRecord(seed.host, [seed.plan], seed.site, seed.interval_s * 1_000, words, ranks)

    async def offer(self, who, frontier, pages, due_in_ms, scheduled, budget, editions_ago, again, fate):
        seeds = [self._seed(frontier, page, scheduled=scheduled) for page in pages]
        due_ms = 0 if due_in_ms is None else self.model.now_ms + due_in_ms
        newest = max((edition for _, edition, _ in self.model.plan_states.values()), default=0)
        edition = 0 if editions_ago is None else max(0, newest - editions_ago)
        fate = "lost" if fate == "late" else fate  # a late one is like a later one
        if frontier == "content" and fate == "heard":
            await self._offer_unknown(who, seeds, edition, budget, again)
            return

        def follow(_seen):
            offered = [(seed.fingerprint, self._record(seed)) for seed in seeds]
            became = self.model.offer(frontier, offered, due_ms, edition, budget)
            self.reached.update(f"offered: {what}" for what in became)
            return [what == "new" for what in became]

        heard, answer, expected = await self._sent(
            fate, self.driver.offer(*seeds, due_ms=due_ms, edition=edition, budget=budget), follow
        )
        if heard:
            same("offer", expected, answer)

    async def _offer_unknown(self, who, seeds, edition, budget, again):
        """A worker offers seeds, but for those that it remembers as known; it must be right in that.

        Seeds that were finished without an item, and are offered again, it offers whatever it remembers.
        """
        proposals = [Proposal.of(seed) for seed in seeds]
        terms = OfferTerms(edition=edition, budget=budget, confirmed=True, again=again)
        if again:
            answers, remembered = await self.driver.queues["content"].offer_to(0, proposals, terms), 0
        else:
            answers, remembered = await self.known[who].offer(0, self.slots[who].owner, proposals, terms)
        offered = [(seed.fingerprint, self._record(seed)) for seed in seeds]
        became = self.model.offer("content", offered, 0, edition, budget, again=again)
        same("offer", [what == "new" for what in became], [answer in IS_NEW for answer in answers])
        self.reached.update(f"offered: {what}" for what in became)
        self.reached["offered: remembered"] += remembered

    async def refuse(self, frontier, page):
        seed = self._seed(frontier, page)
        await self.driver.queues[frontier].refuse(seed, "script-route", 2)
        self.model.refuse(frontier, self._record(seed), "script-route", 2)

    async def claim(self, who, max_seeds, preferred=(), fate="heard"):
        slot = self.slots[who]
        self._follow_recall(slot)
        claim, owner = f"{slot.owner}#{next(self.driver.claims)}", slot.owner
        carrying, serial = len(slot.held), math.inf

        def follow(seen):
            return self.model.claim(slot.frontier, owner, claim, max_seeds, carrying, serial, seen)

        call = self.driver.queues[slot.frontier].claim(
            0, owner, claim, max_seeds=max_seeds, carrying=carrying, preferred=preferred, line_length=len(preferred)
        )
        heard, answer, expected = await self._sent(fate, call, follow)
        if not heard:
            serial = self._in_flight(slot).unanswered[-1][1]
            return None
        states, given = expected
        must(answer.state in states, claim, "answered", answer.state, "expected", states)
        self.reached[f"claim answered: {answer.state}"] += 1
        same(claim, sorted(given), sorted(claimed.fingerprint for claimed in answer.seeds))
        for claimed in answer.seeds:
            self._take(slot, claimed)
        if answer.state == "lapsed":
            await self._begin_anew(slot)
        return answer

    def _take(self, slot, claimed):
        """Holds a claimed seed, and starts the first request of its turn."""
        record, host = self.model.seeds[slot.frontier, claimed.fingerprint], claimed.seed.host
        same("tries", record.tries, claimed.tries)
        same("due", record.due_ms, claimed.due_ms)
        same("suspected", record.crashes in (-1, -2), claimed.suspected)
        same("plans", record.plans, [seed.plan for seed in claimed.seeds])
        for seed in claimed.seeds:
            same("words", record.words[seed.plan], seed.combinations)
            self.reached[f"claimed: found by {len(seed.combinations)} combinations"] += 1
        same("delivered", record.host == DELIVERED, claimed.delivered)
        self.reached["claimed: to be told" if claimed.delivered else "claimed: to be fetched"] += 1
        slot.held.append(claimed)
        if claimed.delivered:
            same("turn", 0, claimed.turn)
            return
        must((slot.owner, claimed.turn) in self.model.hosts[host].held.values(), "no turn for", claimed)
        must(claimed.delay_s * 1_000 >= self.model.delay_ms(host), "the delay is too short:", claimed)
        slot.turns.setdefault((host, claimed.turn), self.model.now_ms)

    async def begin(self, who):
        if slot := self._one_of(who, [slot for slot in self.slots if slot.held]):
            await self._begin_all(slot)

    async def _begin_all(self, slot):
        """Begins to fetch what is held, which workers tell Redis of suspected seeds.

        What was delivered before is never fetched, so it is never begun, nor quarantined for its workers' deaths.
        """
        for claimed in slot.held:
            if claimed.suspected and not claimed.delivered:
                await self.driver.queues[slot.frontier].begin_fetch(claimed)
                self.model.begin(slot.frontier, claimed.fingerprint, claimed.claim)

    @staticmethod
    def _one_of(number, found):
        return found[number % len(found)] if found else None

    async def settle(self, who, endings, fate, **how):
        if slot := self._one_of(who, [slot for slot in self.slots if slot.held or slot.turns]):
            await self._settle(slot, endings, fate, **how)

    async def _settle(
        self,
        slot,
        endings,
        fate="heard",
        *,
        wait_ms=0,
        backoff_ms=0,
        signs=(0, 0, 0),
        tellable=False,
        note="",
        left_out="",
    ):
        """Ends as many claims as there are endings, and releases the turns on which no seed is left."""
        settlements = []
        tellable = tellable and slot.frontier == "content"
        for claimed, ending in zip(slot.held, endings, strict=False):
            # A page is no longer told of, but fetched, if its site has come to follow links.
            operation = "fetch" if ending == "release" and claimed.delivered and not tellable else ending
            fault = "out-of-scope" if tellable else "timeout"
            reason = {"finish": note, "retry": "timeout", "fail": fault}.get(operation, "")
            others = [seed.plan for seed in claimed.seeds if seed.plan != left_out]
            leaves_out = frozenset({left_out} if others else ())  # a visit is for one plan at least
            reason, _, to = reason.partition(" ")
            is_moved = {"moved_to": to} if slot.frontier == "content" else {}  # search pages keep their place
            settlements.append(Settlement(operation, claimed, wait_ms, reason, tellable, leaves_out, **is_moved))
        slot.held = slot.held[len(endings) :]
        kept = {(claimed.seed.host, claimed.turn) for claimed in slot.held}
        releases = [
            # Of an address nothing is said but when it was asked.
            TurnRelease(
                host,
                turn,
                -1 if at is None else self.model.now_ms - at,
                *((0,) if host == ADDRESS else (backoff_ms, *signs)),
            )
            for (host, turn), at in slot.turns.items()
            if (host, turn) not in kept
        ]
        slot.turns = {turn: at for turn, at in slot.turns.items() if turn in kept}
        slot.unheard.append((settlements, releases))
        await self._tell(slot, slot.unheard[-1], fate)

    async def settle_again(self, fate):
        if slot := self._one_of(0, [slot for slot in self.slots if slot.unheard]):
            await self._tell(slot, slot.unheard[0], fate)

    async def _tell(self, slot, call, fate):
        """Sends a settle call; one without an answer is sent again later."""
        self._follow_recall(slot)
        owner, (settlements, releases) = slot.owner, call
        told = [
            (
                end.claimed.fingerprint,
                end.claimed.claim,
                end.operation,
                end.amount_ms if end.operation in ("retry", "postpone") else end.claimed.due_ms,
                end.packed()[4],
                end.tellable,
                end.claimed.seed.host
                if end.operation == "fetch"
                else [seed.plan for seed in end.claimed.seeds if seed.plan not in end.left_out],
            )
            for end in settlements
        ]

        def follow(_seen):
            turns = [(turn.host, turn.turn, turn.since_start_ms, turn.backoff_ms) for turn in releases]
            accepted = self.model.settle(slot.frontier, owner, told, turns)
            self.reached.update(f"settled: {operation}" for operation in accepted)
            self.reached["settled: refused"] += len(told) - len(accepted)
            return len(accepted)

        for one_fate in ("heard", "heard") if fate == "twice" else (fate,):
            sent = self.driver.settle(owner, settlements, releases, slot.frontier)
            heard, answer, accepted = await self._sent(one_fate, sent, follow)
            if heard:
                same("settle", (accepted, len(settlements) - accepted), answer)
        if heard:
            slot.unheard.remove(call)

    async def acquire_turn(self, who, host, starts, fate):
        slot = self.slots[who]
        self._follow_recall(slot)
        site, owner, serial = SITES_OF[host][0], slot.owner, math.inf

        def follow(seen):
            return self.model.acquire_turn(host, site, owner, serial, seen)

        sent = self.driver.queues[slot.frontier].acquire_turn(host, site, owner)
        heard, answer, got = await self._sent(fate, sent, follow)
        if not heard:
            serial = self._in_flight(slot).unanswered[-1][1]
            return
        token = answer.token
        must((token > 0) == bool(got), "acquire_turn answered", answer, "and gave", got)
        if got:
            slot.turns[host, token] = self.model.now_ms if starts else None
            self.reached["turns acquired: of a host"] += 1

    async def acquire_address(self, who, fate):
        slot = self.slots[who]
        self._follow_recall(slot)
        owner, serial = slot.owner, math.inf

        def follow(seen):
            return self.model.acquire_address(ADDRESS, owner, serial, ADDRESS_BUDGET, seen)

        sent = self.driver.queues[slot.frontier].acquire_address(ADDRESS, owner, *ADDRESS_BUDGET)
        heard, answer, got = await self._sent(fate, sent, follow)
        if not heard:
            serial = self._in_flight(slot).unanswered[-1][1]
            return
        token = answer.token
        must((token > 0) == bool(got), "acquire_address answered", answer, "and gave", got)
        if got:
            slot.turns[ADDRESS, token] = self.model.now_ms
            self.reached["turns acquired: of an address"] += 1

    def _turn_of_a_host(self, who):
        """Returns a slot that holds a turn of a host, the host, and the turn's token; None if there is none."""
        held = [(slot, *turn) for slot in self.slots for turn in slot.turns if turn[0] != ADDRESS]
        return self._one_of(who, held)

    async def keep_crawl_delay(self, who, delay_ms):
        if found := self._turn_of_a_host(who):
            slot, host, token = found
            queue = self.driver.queues[slot.frontier]
            answer = await queue.turn_start(host, delay_ms, slot.owner, token)
            same("turn_start", self.model.turn_start(host, delay_ms, slot.owner, token), answer)
            self.reached["Crawl-delay: kept"] += 1

    async def drop_crawl_delay(self, host):
        self.reached["Crawl-delay: dropped"] += self.model.hosts[host].crawl_delay_ms > 0
        await self.driver.queues["content"].drop_crawl_delay(host)
        self.model.hosts[host].crawl_delay_ms = 0

    async def hold_for_robots(self, who, seeds):
        if found := self._turn_of_a_host(who):
            slot, host, _token = found
            if seen := (await self._seen()).turn_fields[host]:  # else Redis has lost all that it knew of the host
                self.model.hosts[host].robots_seeds = seeds
            await self.driver.queues[slot.frontier].hold_for_robots(host, seeds)
            self.reached["held for robots.txt"] += bool(seen and seeds)

    async def recall(self, who):
        slot = self.slots[who]
        in_flight = self._in_flight(slot)
        unanswered = list(in_flight.unanswered)
        expected = self.model.recall(slot.frontier, slot.owner, unanswered, in_flight.seeds, in_flight.turns)
        same("recall", expected, await self.driver.queues[slot.frontier].recall(0, slot.owner))
        self.reached["recalled: ended, says the worker"] += expected

    # -- Sessions -----------------------------------------------------------------------------------------------------

    async def _open(self, slot):
        self.seen = None
        await self.driver.session(slot.owner, SESSION_MS)
        self.model.session("open", slot.owner, SESSION_MS)

    async def _begin_anew(self, slot):
        self.driver.queues[slot.frontier].forget(0, slot.owner)
        slot.renew_owner()
        await self._open(slot)

    async def renew(self):
        for slot in self.slots:
            await self._renew(slot)

    async def _renew(self, slot):
        expected = self.model.session("renew", slot.owner, SESSION_MS)
        same("renew", expected, await self.driver.session(slot.owner, SESSION_MS, "renew"))
        if not expected:
            await self._begin_anew(slot)

    async def leave(self, who):
        slot = self.slots[who]
        expected = self.model.session("end", slot.owner, SESSION_MS)
        same("end", expected, await self.driver.session(slot.owner, SESSION_MS, "end"))
        await self._begin_anew(slot)

    async def lapse(self, who):
        """A worker is silent for too long, and goes on without knowing it."""
        await self._lapse(self.slots[who].owner)

    async def die(self, who, times):
        """A worker dies while it fetches all that it holds; others take its place, and may die of the same."""
        slot = self.slots[who]
        for is_another in range(times):
            if is_another:
                await self.claim(who, 8)
            await self._begin_all(slot)
            await self._lapse(slot.owner)
            await self._begin_anew(slot)

    async def come_late(self, who):
        """A frozen worker ends what others have claimed by then."""
        if slot := self._one_of(who, [slot for slot in self.slots if slot.held]):
            await self._lapse(slot.owner)
            for number, other in enumerate(self.slots):
                if other is not slot and other.frontier == slot.frontier:
                    await self.claim(number, 8)
            await self._settle(slot, ["finish"] * len(slot.held))

    async def _lapse(self, owner):
        if owner in self.model.sessions:
            self.seen = None
            self.model.sessions[owner] = self.model.now_ms - 1
            await self.driver.lapse(owner, self.model.now_ms - 1)

    # -- Time, the network, and Redis's memory ------------------------------------------------------------------------

    async def wait(self, ms):
        self.model.now_ms += ms
        self.transport.now_ms = self.model.now_ms
        await self.redis.set(CLOCK, self.model.now_ms)

    wait_long = wait

    async def arrive(self, number):
        """A call arrives that its caller has given up."""
        if self.late:
            call, follow = self.late.pop(number % len(self.late))
            await call()
            await self._follow(follow)

    async def save(self):
        self.saved = (await self.redis.eval(SAVE, 0, f"{self.stem}:*"), self.model.copy())

    async def lose(self):
        """Redis comes back without what it did since it was saved."""
        if self.saved:
            keys, model = self.saved
            await self.redis.eval(LOAD, 0, f"{self.stem}:*", *keys)
            model.now_ms, self.model, self.saved = self.model.now_ms, model, None

    # -- The operator -------------------------------------------------------------------------------------------------

    async def tell_state(self, plan, state, *, is_new_edition=False, is_late=False):
        """Tells the partition a plan's state; a late word is older than the one that it knows, and changes nothing."""
        states = self.model.plan_states
        known, edition, _ = states.get(plan, (0, 0, "active"))
        edition += is_new_edition
        version = known - 1 if is_late else max(known + 1, self.model.now_ms)
        keys = self.driver.keys.partition(0).script_keys("nav")
        answer = await scripts.run(self.redis, "plan_state", keys, [plan, version, edition, state])
        same("plan_state", max(known, version), answer)
        self.reached[f"told of plans: {'late' if is_late else state}"] += 1
        if version < known:
            return
        if state == "deleted":
            for other, (since_ms, _, what) in list(states.items()):
                if what == "deleted" and since_ms < self.model.now_ms - DELETED_MS:
                    del states[other]
        states[plan] = version, edition, state

    async def set_aside(self, frontier, plan):
        await self._operate("set_aside", self.model.set_aside(frontier, plan), self.admins[frontier].set_aside(plan))

    async def resume(self, frontier, plan):
        await self._operate("resume", self.model.resume(frontier, plan), self.admins[frontier].resume(plan))

    async def retry(self, frontier, plan):
        call = self.admins[frontier].retry(lambda _found: True, plan)
        await self._operate("retry", self.model.retry(frontier, plan), call)

    async def drop(self, frontier, plan):
        call = self.admins[frontier].drop(plan, lambda _found: True, "replaced")
        await self._operate("drop", self.model.drop(frontier, plan, "replaced"), call)

    async def forget(self, frontier, plan, site):
        call = self.admins[frontier].forget(plan, site)
        await self._operate("forget", self.model.forget(frontier, plan, site), call)

    async def _operate(self, what, expected, call):
        """Holds an operator's call against what it must answer: how many seeds it was about, or whether it was done."""
        same(what, expected, await call)
        self.reached[what] += expected

    # -- The end ------------------------------------------------------------------------------------------------------

    async def _drain(self):
        """Everybody dies; two come who bring all there is to its end, waiting as they are told."""
        while self.late:
            await self.arrive(0)
        for plan in PLANS:
            await self.tell_state(plan, "active")
            for frontier in FRONTIERS:
                await self.resume(frontier, plan)
        for owner in list(self.model.sessions):
            await self._lapse(owner)
        last = 0, len(self.slots) - 1
        for who in last:
            await self._begin_anew(self.slots[who])
        for _ in range(DRAIN_ROUNDS):
            waits_ms = []
            for who in last:
                answer = await self.claim(who, 8)
                slot = self.slots[who]
                await self._settle(slot, ["finish"] * len(slot.held))
                waits_ms.append(0 if answer.seeds else answer.wait_ms)
            self.model.compare(self.seen)
            left = [seed for seed in self.model.seeds.values() if not (seed.visited and seed.unheld)]
            if all(seed.state == "failed" for seed in left):
                break
            told_ms = [ms for ms in waits_ms if ms is not None]
            must(told_ms, "nobody is told when to claim what is left:", left)
            await self.wait(max(1, min(told_ms)))
            for who in last:
                await self._renew(self.slots[who])
        else:
            raise WrongError(f"stuck: {left}")
        same("recount", [], await recount.recount(self.redis, self.driver.keys, 1))
