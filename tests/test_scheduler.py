"""The scheduler feeds the engine from the frontier: it claims, starts, releases and settles."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace

import pytest
from frontier.driver import content
from samples import a_visit
from scrapy import signals
from scrapy.crawler import Crawler
from scrapy.exceptions import DontCloseSpider
from scrapy.settings import Settings
from scrapy.utils.test import get_crawler, get_reactor_settings
from waiting import PATIENCE_SECONDS, eventually

from crawler import settings as project_settings
from crawler.frontier.session import SessionExpired
from crawler.scheduler import Scheduler
from crawler.servers.redis import redis_async
from crawler.sites import Site
from crawler.spiders.consumer import ConsumerSpider
from crawler.worker.claiming.claiming import Claiming
from crawler.worker.claiming.fair_share import FairShare
from crawler.worker.life.life import Life
from crawler.worker.life.wakeups import PolitenessChanged, SitesChanged, WorkerStarved
from crawler.worker.turns.turns import CrawlDelay, HostBackoff
from crawler.worker.visits.outcomes import OUT_OF_MEMORY
from crawler.worker.visits.request_state import part_of, state_of
from crawler.worker.visits.visit import FetchFailed, Lane

HOSTS = 3


class Engine:
    """The part of Scrapy's engine that the scheduler knows."""

    def __init__(self):
        self.running = True
        self._stopping = False
        self.asked = asyncio.Event()
        self._slot = SimpleNamespace(nextcall=SimpleNamespace(schedule=self.asked.set))
        self.downloader = SimpleNamespace(active=set())
        self.closed_for = None

    async def close_spider_async(self, *, reason):
        self.closed_for = reason


@pytest.fixture
async def build(redis_url):
    """Returns a function that builds a scheduler with its worker and opens it; all (`made`) are closed after it."""
    made = []

    async def run(**settings):
        values = {name: value for name, value in vars(project_settings).items() if name.isupper()} | {
            "FAST_ENGINE": False,  # no engine runs here
            "REDIS_URL": redis_url,
            "KEY_PREFIX": "t",
            "NODE_CPU_LIMIT_PERCENT": 100,
            "NODE_MEMORY_LIMIT_PERCENT": 100,
            "FIRST_BATCH": 100,
        }
        crawler = Crawler(ConsumerSpider, Settings(get_reactor_settings() | values | settings))
        crawler.crawling = True  # else it would be one of `scrapy shell`
        get_crawler(crawler)
        crawler.engine = Engine()
        scheduler = Scheduler.from_crawler(crawler)
        made.append(scheduler)
        await scheduler.open(None).asFuture(asyncio.get_running_loop())
        return scheduler

    run.made = made
    yield run
    for scheduler in made:
        await scheduler.close("finished").asFuture(asyncio.get_running_loop())


async def requests(scheduler, number):
    """Takes so many requests, as the engine does."""
    taken = []
    async with asyncio.timeout(PATIENCE_SECONDS):
        while len(taken) < number:
            scheduler.crawler.engine.asked.clear()
            while (request := scheduler.next_request()) is not None:
                taken.append(request)
            if len(taken) < number:
                await scheduler.crawler.engine.asked.wait()
    return taken


async def offer(scheduler, *seeds):
    for number in range(scheduler.worker.config.frontier.partitions):
        politeness = scheduler.worker.config.frontier.keys.partition(number).politeness
        await scheduler.worker.redis.hset(politeness, "s", "0 1 10")
    await scheduler.worker.claiming.queues["content"].offer(seeds)


def end(request):
    part_of(request).end()


async def until_totals(scheduler, **expected):
    """Waits until the frontier holds so many seeds in each of the states that are named."""
    async with asyncio.timeout(PATIENCE_SECONDS):
        while expected != {state: getattr(await scheduler.worker.claiming.queue.totals(), state) for state in expected}:  # noqa: ASYNC110
            await asyncio.sleep(0.005)


async def test_offered_seeds_become_requests_one_at_a_time_for_each_host(build):
    scheduler = await build()
    await offer(scheduler, *(content(number, f"h{number % HOSTS}.test") for number in range(2 * HOSTS)))
    first = await requests(scheduler, HOSTS)
    assert len({state_of(request).held_lane.host for request in first}) == HOSTS
    assert scheduler.next_request() is None  # each host has one at a time
    assert scheduler.has_pending_requests()
    for request in first:
        end(request)
    for request in await requests(scheduler, HOSTS):
        end(request)

    await until_totals(scheduler, finished=2 * HOSTS)
    assert not scheduler.has_pending_requests()


@pytest.mark.parametrize(("follow", "depth", "is_fetched"), [(False, 0, False), (True, 0, True), (True, 1, False)])
async def test_a_delivered_page_is_told_of_unless_its_site_follows_its_links_since(build, follow, depth, is_fetched):
    scheduler = await build()
    await offer(scheduler, content(1))
    [request] = await requests(scheduler, 1)
    state_of(request).visit.items = 1  # it can be told of
    end(request)
    await until_totals(scheduler, finished=1)
    definition = {"name": "s", "content": {"content": "css:body"}} | ({"follow": {"links": "css:a"}} if follow else {})
    await scheduler.worker.claiming.registry.save_sites((Site.from_definition(definition),))
    await offer(scheduler, content(1, plan="q", depth=depth))
    if is_fetched:
        [request] = await requests(scheduler, 1)
        assert state_of(request).visit.seed.plan == "q"
        end(request)
    await until_totals(scheduler, finished=2)
    assert scheduler.crawler.stats.get_value("frontier/fetch/follows", 0) == is_fetched


async def test_no_request_is_given_out_whose_answer_would_have_no_memory(build):
    scheduler = await build(NODE_MEMORY_LIMIT_PERCENT=99)
    engine, headroom = scheduler.crawler.engine, scheduler.worker.life.headroom
    headroom.answered(headroom.sampler.memory_bytes)
    engine.downloader.active.add("another page")
    await offer(scheduler, content(1))
    async with asyncio.timeout(PATIENCE_SECONDS):
        await engine.asked.wait()
    assert scheduler.next_request() is None
    engine.downloader.active.clear()
    assert scheduler.next_request() is not None


async def test_a_page_without_memory_is_handed_back_untried_and_nothing_more_is_claimed(build):
    scheduler = await build()
    await offer(scheduler, content(1), content(2, "b.test"))
    first, second = await requests(scheduler, 2)
    state_of(first).visit.end_as(*OUT_OF_MEMORY)
    end(first)
    await until_totals(scheduler, ready=1)
    assert (await scheduler.worker.claiming.queue.totals()).failed == 0
    assert scheduler.worker.claiming.room() == 0
    assert scheduler.worker.claiming.why_none() == "its node has no memory left"
    end(second)


async def test_a_page_that_the_cpu_has_no_room_for_yet_starts_when_it_has(build, monkeypatch):
    scheduler = await build()
    waits = [0.02, 0.01]
    monkeypatch.setattr(scheduler.worker.life.headroom, "start_wait_s", lambda: waits.pop() if waits else 0.0)
    await offer(scheduler, content(1))
    [request] = await requests(scheduler, 1)
    assert not waits
    end(request)


async def test_a_seed_s_request_is_made_as_the_seed_says(build):
    scheduler = await build()
    await offer(scheduler, content(1, method="POST", body="q=1"))
    [request] = await requests(scheduler, 1)
    assert (request.method, request.body, request.dont_filter) == ("POST", b"q=1", True)
    assert state_of(request).visit.seed.url == request.url


@pytest.mark.parametrize("event", [HostBackoff("a.test", 30.0), SitesChanged()], ids=["backoff", "sites"])
async def test_what_is_heard_of_a_host_or_of_sites_releases_the_visits_not_started(build, event):
    scheduler = await build()
    await offer(scheduler, content(1), content(2))
    [started] = await requests(scheduler, 1)
    scheduler.worker.life.stopping.set()  # so that it doesn't claim them again
    scheduler.worker.events.publish(event)
    end(started)
    await until_totals(scheduler, finished=1, ready=1, executing=0)


async def test_a_turn_beside_the_visits_own_keeps_to_what_is_heard_of_its_host(build):
    """As that of a host from which a rendered page loads: it is held for many requests."""
    scheduler = await build()
    turns, publish = scheduler.worker.turns, scheduler.worker.events.publish
    turn, other = [await turns.acquire(host, a_visit()) for host in ("img.test", "other.test")]
    publish(CrawlDelay("img.test", 2.0))
    publish(HostBackoff("img.test", 30.0))
    assert (turn.crawl_delay_s, round(turn.backoff_s)) == (2.0, 30)
    assert (other.backoff_s, other.must_ask) == (0.0, False)
    publish(SitesChanged())
    assert other.must_ask
    changes = turn.changes
    publish(PolitenessChanged("img.test"))
    assert (turn.changes, other.changes) == (changes + 1, 1)
    for one in (turn, other):
        turns.release(one)


async def test_a_lost_session_drops_all_visits(build):
    scheduler = await build(SESSION_SECONDS=1)
    await offer(scheduler, content(1))
    [request] = await requests(scheduler, 1)
    [lease] = scheduler.worker.life.session.leases
    owner = lease.owner
    async with redis_async(scheduler.crawler.settings) as redis:
        await redis.zrem(scheduler.worker.config.frontier.keys.partition(0).sessions, owner)
    await eventually(lambda: lease.owner != owner)
    assert not scheduler.has_pending_requests()
    assert state_of(request).visit.ended
    end(request)  # too late: nothing is settled for it
    assert scheduler.worker.claiming.claims.carrying == 0
    await eventually(lambda: lease.alive)


async def test_a_worker_that_holds_turns_leaves_seeds_to_one_that_is_starved(build, monkeypatch):
    monkeypatch.setattr("crawler.worker.held_seeds.STARVED_POLL_SECONDS", 0.001)
    scheduler = await build()
    await offer(scheduler, content(1, "h1.test"))
    [request] = await requests(scheduler, 1)
    share, claimed = scheduler.worker.claiming.fair_share, scheduler.worker.claiming.claims.claim
    asked, claims = [], []
    monkeypatch.setattr(
        share, "lets_others_claim", lambda **held: asked.append(held) or FairShare.lets_others_claim(share, **held)
    )
    monkeypatch.setattr(
        scheduler.worker.claiming.claims, "claim", lambda number: claims.append(number) or claimed(number)
    )
    scheduler.worker.events.publish(WorkerStarved("another"))
    await offer(scheduler, content(2, "h2.test"))
    await eventually(lambda: len(asked) > 10)
    assert not claims
    share._others_starve_until = 0.0
    [second] = await requests(scheduler, 1)
    assert state_of(second).held_lane.host == "h2.test"
    for one in (request, second):
        end(one)


async def test_an_expired_session_ends_what_is_fetched_and_keeps_what_is_delivered(build):
    scheduler = await build()
    worker = scheduler.worker
    await offer(scheduler, *(content(number, f"h{number}.test") for number in range(3)))
    fetching, fetched, borrowing = await requests(scheduler, 3)
    state_of(fetched).visit.end_fetch()
    worker.turns.note_use(Lane("x.test", 1, 7, 0.0), state_of(borrowing).visit)
    worker.events.publish(SessionExpired(7))
    assert [state_of(one).visit.ended for one in (fetching, fetched, borrowing)] == [False, False, True]
    worker.events.publish(SessionExpired(0))
    assert [state_of(one).visit.ended for one in (fetching, fetched, borrowing)] == [True, False, True]
    state_of(fetched).visit.end_part()
    await until_totals(scheduler, finished=1, failed=0)
    assert scheduler.crawler.stats.get_value("frontier/release/no-session") == 2


async def test_closing_releases_all_visits(build):
    scheduler = await build()
    await offer(scheduler, content(1), content(2))
    [started] = await requests(scheduler, 1)
    await scheduler.close("shutdown").asFuture(asyncio.get_running_loop())
    assert state_of(started).visit.ended
    async with scheduler.worker.redis as redis:
        found = await type(scheduler.worker.claiming.queue)(redis, scheduler.worker.config.frontier, "content").totals()
    assert (found.ready, found.executing) == (2, 0)


@pytest.mark.parametrize("name", ["duties", "feed", "settler", "wake-ups", "watch for stop"])
async def test_a_worker_whose_task_dies_releases_all_and_ends(build, caplog, name):
    scheduler = await build()
    await offer(scheduler, content(1), content(2))
    (request,) = await requests(scheduler, 1)
    task = next(task for task in asyncio.all_tasks() if task.get_name() == name)
    await eventually(lambda: not task.cancel())  # one cancellation may be missed, see `tasks.cancel`
    await eventually(lambda: scheduler.crawler.engine.closed_for == "failed")
    assert state_of(request).visit.ended
    assert scheduler.worker.life.death.name == name
    assert f"its task '{name}' died" in caplog.text
    if name != "settler":  # without it, its seeds are others' when the session lapses
        await until_totals(scheduler, ready=2, executing=0)


async def test_a_worker_whose_session_thread_dies_ends(build):
    scheduler = await build(SESSION_SECONDS=1)

    def bug(_seconds):
        raise SystemExit

    scheduler.worker.life.session._stop.wait = bug
    await eventually(lambda: scheduler.crawler.engine.closed_for == "failed")


async def test_a_worker_told_to_stop_as_it_joins_leaves_nothing(build, monkeypatch):
    joining = asyncio.Event()

    async def join(_life, _redis_address):
        joining.set()
        await asyncio.sleep(10 * PATIENCE_SECONDS)

    monkeypatch.setattr(Life, "join", join)
    building = asyncio.create_task(build())
    await asyncio.wait_for(joining.wait(), PATIENCE_SECONDS)
    (scheduler,) = build.made
    await scheduler._leave_soon().asFuture(asyncio.get_running_loop())
    with pytest.raises(asyncio.CancelledError):
        await building
    assert not scheduler._tasks


async def test_an_idle_spider_stays_open_until_all_is_done(build):
    scheduler = await build(STOP_WHEN_DONE=1)
    sent = scheduler.crawler.signals.send_catch_log(signals.spider_idle, dont_log=DontCloseSpider)
    assert scheduler.crawler.engine.closed_for or any(
        isinstance(getattr(result, "value", None), DontCloseSpider) for _receiver, result in sent
    )
    await eventually(lambda: scheduler.crawler.engine.closed_for == "finished")
    sent = scheduler.crawler.signals.send_catch_log(signals.spider_idle, dont_log=DontCloseSpider)
    assert not any(isinstance(getattr(result, "value", None), DontCloseSpider) for _receiver, result in sent)


async def test_a_worker_that_has_room_for_nothing_ends_when_all_is_done(build, monkeypatch):
    """On a busy node, where others have crawled what there was."""
    monkeypatch.setattr(Claiming, "room", lambda _self, _slow_visits=0: 0)
    scheduler = await build(STOP_WHEN_DONE=1)
    await eventually(lambda: scheduler.crawler.engine.closed_for == "finished")


async def test_what_fails_while_a_worker_closes_is_still_told(build, caplog, monkeypatch):
    caplog.set_level("INFO", "crawler.worker.reports.failure_log")
    worker = (await build()).worker
    send_all = worker.claiming.settler.send_all

    async def fail_and_send(seconds):
        worker.events.publish(FetchFailed("a.test", "robots.txt", "timeout", "http://a.test/robots.txt", ""))
        return await send_all(seconds)

    monkeypatch.setattr(worker.claiming.settler, "send_all", fail_and_send)
    await worker.close()
    assert any(text.startswith("a.test: 1 failure in ") for text in caplog.messages)


async def test_a_worker_says_why_it_claims_nothing_and_logs_each_change_once(build, caplog):
    caplog.set_level("INFO", "crawler.worker.reports.claims_log")
    scheduler = await build()
    worker = scheduler.worker
    assert worker.claiming.why_none() == ""

    async def said(text):
        await eventually(lambda: worker.reports.figures.latest.get("why_no_claims") == text)

    worker.claiming.sink_down("kafka", "no answer")
    await said("it waits for kafka (no answer)")
    worker.claiming.sink_up("kafka")
    await said("")
    worker.claiming.redis_full.note("claims", refused=True)
    assert worker.claiming.why_none() == "Redis is full"
    worker.life.stopping.set()
    assert worker.claiming.why_none() == "it stops"
    logged = [text for text in caplog.messages if text.startswith(("nothing is claimed", "claims go on"))]
    assert logged[:2] == ["nothing is claimed: it waits for kafka (no answer)", "claims go on"]
