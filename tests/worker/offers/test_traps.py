"""What workers take for a trap, by addresses and by what their pages say."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from random import Random
from urllib.parse import urlsplit

import pytest
from end_to_end.trap_site import MAX_REQUESTS, TRAPS, TrapSite, sentences, trap_of
from worker.offers.model_frontier import ModelFrontier

from crawler.base import reasons
from crawler.base.errors import UnavailableError
from crawler.base.urls import canonical
from crawler.frontier.keys import Keys
from crawler.worker.offers import traps as module
from crawler.worker.offers.address_kind import kind_of
from crawler.worker.offers.seen_texts import label_of

LINKS_MAX = 10
ORIGIN = "http://a.test"


@pytest.fixture
def frontier(redis):
    def build(links_max=LINKS_MAX, workers=1):
        return ModelFrontier(redis, links_max, workers)

    return build


@pytest.fixture
def read(frontier):
    """Reads a page; returns which of its links are ready, and why the others aren't."""
    own = frontier()

    async def read(path, text, links=()):
        urls = [canonical(link, ORIGIN) for link in links]
        ready, refused, _counts = await own.visit(ORIGIN + path, f"<p>{text}</p>".encode(), urls)
        return [url.removeprefix(ORIGIN) for url in ready], Counter(refused.values())

    return read


@pytest.mark.parametrize(("chance", "workers"), [(1, 1), (3, 2)])
async def test_traps_cost_little_in_any_order_and_true_pages_are_found(frontier, chance, workers):
    hosts, own, by_chance = (
        {"a.test": TrapSite("http://b.test"), "b.test": TrapSite()},
        frontier(60, workers),
        Random(chance),
    )
    own.start(f"{ORIGIN}/")

    def answer(url):
        body = hosts[urlsplit(url).netloc](url[len(ORIGIN) :])[0].partition(b"\r\n\r\n")[2]
        return body, list(dict.fromkeys(canonical(link, url) for link in re.findall("href='([^']*)'", body.decode())))

    def choose(queue):
        queue.rotate(-by_chance.randrange(min(len(queue), 20)))  # pages come about in the order of their depth
        return by_chance.randrange(workers)

    asked = await own.crawl(answer, choose)
    paths = [url.removeprefix(ORIGIN) for url in asked if url.startswith(ORIGIN)]
    requests = Counter(map(trap_of, paths)) + Counter(mirror=len(asked) - len(paths))
    assert not TrapSite().true_paths() - set(paths)
    assert {trap: requests[trap] for trap in TRAPS if not 0 < requests[trap] <= MAX_REQUESTS} == {}
    assert {str(reason) for reason in own.failed.values()} >= {"trap-variant", "trap-facets", "trap-mirror"}


async def test_a_kind_whose_pages_say_nothing_new_has_a_budget(read):
    ready, refused = 0, Counter()
    for day in range(40):
        links = [f"/calendar/{2001 + day}/{n}" for n in range(3)]
        offered, traps = await read(
            f"/calendar/{2000 + day}/0", "There is nothing on this day in all of the city.", links
        )
        ready, refused = ready + len(offered), refused + traps
    assert LINKS_MAX <= ready <= LINKS_MAX + 2 * module.CREDIT
    assert refused == {reasons.TRAP_CALENDAR: 120 - ready}


async def test_refused_pages_of_a_kind_come_back_once_others_say_something_new(frontier):
    own, pages = frontier(), {f"{ORIGIN}/wiki/page-{number}" for number in range(60)}
    own.start(f"{ORIGIN}/wiki/start")

    def answer(url):
        return f"<p>{sentences(url)}</p>".encode(), sorted(pages) if url.endswith("start") else []

    assert set(await own.crawl(answer)) == pages | {f"{ORIGIN}/wiki/start"}
    assert own.failed == {}


async def test_what_workers_know_of_a_kind_is_the_same_for_all_and_outlives_them(frontier):
    asked = 0
    for _worker in range(6):  # each begins anew
        own = frontier()
        own.start(f"{ORIGIN}/calendar/1")

        def answer(url):
            return b"<p>There is nothing on this day in all of the city.</p>", [
                f"{ORIGIN}/calendar/{int(url[23:]) + 1}"
            ]

        asked += len(await own.crawl(answer)) - 1
    assert asked <= LINKS_MAX + 2 * module.CREDIT
    assert [*own.failed] == [f"{ORIGIN}/calendar/2"]
    assert len(await own.crawl(answer, edition=2)) == 0
    own.ready.extend(own.failed)  # as `scrapy seeds retry` does, after the plan was submitted anew
    assert len(await own.crawl(answer, edition=2)) >= LINKS_MAX


async def test_links_of_a_page_with_something_new_to_other_kinds_are_free(read):
    for name, links in (
        ("a", [f"/news/{n}" for n in range(100)]),
        ("b", [f"/show?id={n}" for n in range(50)]),
        ("c", [f"http://b.test/{n}" for n in range(50)]),
    ):
        assert await read("/list", sentences(name), links) == (links, {})


async def test_a_list_without_a_text_of_its_own_is_new_by_what_it_leads_to(read):
    for number in range(30):
        news = [f"/news/{number}{n}" for n in range(module.MIN_OF_LIST)]
        ready, _refused = await read(f"/list?page={number}", "All of our news.", [*news, f"/list?page={number + 1}"])
        assert ready == [*news, f"/list?page={number + 1}"]
        await read(f"/news/{number}0", sentences(f"{number}"))


async def test_what_pages_with_one_text_lead_to_has_a_budget_whatever_its_kind(frontier):
    own = frontier()
    own.start(f"{ORIGIN}/lost/0")

    def answer(url):
        text = b"<p>This page was not found on this server at this time of the day.</p>"
        return text, [f"{ORIGIN}/{url.split('/')[3]}{sign}/x/y" for sign in "ab"]

    asked = await own.crawl(answer)
    assert LINKS_MAX < len(asked) <= LINKS_MAX + 6
    assert reasons.TRAP_SAME_TEXT in own.failed.values()


async def test_certain_traps_are_never_offered(frontier):
    links = [f"{ORIGIN}/{'a' * 2_000}", f"{ORIGIN}/a/b/a/b/a/b/", f"{ORIGIN}/{'/'.join(map(str, range(30)))}"]
    ready, _refused, counts = await frontier().visit(ORIGIN, b"<p>Hello.</p>", links)
    assert ready == []
    assert counts == {reasons.TRAP_LONG: 1, reasons.TRAP_REPEATED: 1, reasons.TRAP_DEEP: 1}


async def test_a_page_is_judged_as_before_where_its_visit_was_lost(frontier):
    own, body = frontier(workers=2), f"<p>{sentences('a')}</p>".encode()
    own.start(url := f"{ORIGIN}/a")
    assert [(await worker.read(own.stored[url], body, 1)).is_new for worker in own.workers] == [True, True]
    own.start(other := f"{ORIGIN}/b")
    assert not (await own.workers[1].read(own.stored[other], body, 1)).is_new
    assert own.workers[1]._kinds["city", 1, "a.test/*"] == module.KindCounts(read=2, new=1)  # each counts once
    assert (await own.workers[1].read(own.stored[other], body, 2)).is_new  # its plan was submitted anew


LINKS = [f"{ORIGIN}/wiki/{number}" for number in range(30)]


def page_of(name):
    return f"{ORIGIN}/wiki/{name}", f"<p>{sentences(name)}</p>".encode()


async def test_refused_links_come_back_though_the_worker_died_as_it_refused_them(frontier):
    own = frontier()
    own.start(page_of("a")[0])
    page = await own.workers[0].read(own.stored[page_of("a")[0]], page_of("a")[1], 1)
    links = [replace(page.seed, url=url) for url in LINKS]

    async def offer(seeds, refused_as):
        for seed in seeds:
            own.store(seed, refused_as)
        if refused_as:
            raise UnavailableError("it dies")

    with pytest.raises(UnavailableError, match="it dies"):
        await own.workers[0].offer(page, links, offer)
    assert len(own.failed) == len(LINKS) - LINKS_MAX - module.CREDIT
    await own.visit(*page_of("a"), LINKS)
    await own.visit(*page_of("b"), [])
    assert own.failed == {}


async def test_a_refused_page_comes_back_though_its_refusal_was_told_late(frontier):
    own = frontier()
    await own.visit(*page_of("a"), LINKS)
    own.executing, own.failed = own.failed, {}
    await own.visit(*page_of("b"), [])
    own.executing, own.failed = {}, own.executing
    assert own.failed
    await own.visit(*page_of("c"), [])
    assert own.failed == {}


async def test_a_host_is_a_mirror_while_enough_of_its_pages_say_what_another_one_says(frontier):
    own, on_mirror, link = frontier(), "http://b.test", "http://b.test/refused"
    for number in range(module.MIN_JUDGED_OF_HOST):
        await own.visit(*page_of(f"{number}"), [])
    for number in range(module.MIN_JUDGED_OF_HOST + 1):
        await own.visit(f"{on_mirror}/{number}", page_of(f"{number if number < 5 else -number}")[1], [])
    await own.visit(*page_of("a"), [link])
    assert own.failed == {link: reasons.TRAP_MIRROR}
    for number in range(module.MIN_JUDGED_OF_HOST):
        await own.visit(f"{on_mirror}/own{number}", page_of(f"own{number}")[1], [])
    assert own.failed == {}
    assert await own.workers[0].refusal(own.stored[link], 1) is None


async def test_hosts_are_told_apart():
    assert len({label_of(f"{number}.test") for number in range(10_000)}) == 10_000


async def test_a_page_waits_where_redis_does_not_take_what_was_refused(frontier, redis):
    kind = kind_of(LINKS[0])
    await redis.set(f"{Keys('hr').traps('city', 1, kind.host)}:{label_of(kind.family)}", "no sorted set")
    own = frontier()
    with pytest.raises(UnavailableError, match="what is known of traps"):
        await own.visit(f"{ORIGIN}/wiki/a", b"", LINKS)
