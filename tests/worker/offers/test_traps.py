"""What a worker takes for a trap, by addresses and by what their pages say."""

from __future__ import annotations

import re
from collections import Counter, deque
from random import Random
from urllib.parse import urlsplit

import pytest
from end_to_end.trap_site import MAX_REQUESTS, TRAPS, TrapSite, sentences, trap_of

from crawler.base import reasons
from crawler.base.models import Seed
from crawler.base.urls import canonical
from crawler.worker.offers import traps as module
from crawler.worker.offers.traps import Traps

LINKS_MAX = 10
ORIGIN = "http://a.test"


def page(text, *, links=()):
    return f"<p>{text}</p>{''.join(f'<a href={link}>x</a>' for link in links)}".encode()


@pytest.fixture
def traps():
    return Traps(LINKS_MAX)


@pytest.fixture
def read(traps):
    """Reads a page; returns which of its links may be offered, and why the others may not."""

    def read(path, text, links=(), plan="city"):
        judged = traps.read(ORIGIN + path, page(text), [plan])[plan]
        kept, refused = traps.sift(judged, [Seed(canonical(link, ORIGIN), plan, "web") for link in links])
        return [seed.url.removeprefix(ORIGIN) for seed in kept], dict(refused)

    return read


def crawl(chance, workers):
    """Crawls the made site without a network, in an order of chance; returns paths asked on it, and its twin's."""
    hosts = {"a.test": TrapSite("http://b.test"), "b.test": TrapSite()}
    traps = [Traps(60) for _ in range(workers)]
    known, queue, asked = {f"{ORIGIN}/"}, deque([f"{ORIGIN}/"]), {"a.test": [], "b.test": []}
    while queue:
        queue.rotate(-chance.randrange(min(len(queue), 20)))  # pages of a host come about in the order of their depth
        url = queue.popleft()
        host, path = urlsplit(url).netloc, url[len(ORIGIN) :]
        asked[host].append(path)
        body = hosts[host](path)[0].partition(b"\r\n\r\n")[2]
        links = dict.fromkeys(canonical(link, url) for link in re.findall("href='([^']*)'", body.decode()))
        own = chance.choice(traps)
        kept, _refused = own.sift(own.read(url, body, ["city"])["city"], [Seed(link, "city", "web") for link in links])
        new = [seed.url for seed in kept if seed.url not in known]
        known.update(new)
        queue.extend(new)
    return asked["a.test"], asked["b.test"]


@pytest.mark.parametrize(("chance", "workers"), [(1, 1), (2, 1), (3, 2)])
def test_traps_cost_little_in_any_order_and_true_pages_are_found(chance, workers):
    paths, of_twin = crawl(Random(chance), workers)
    requests = Counter(map(trap_of, paths)) + Counter(mirror=len(of_twin))
    assert not TrapSite().true_paths() - set(paths)
    assert {trap: requests[trap] for trap in TRAPS if not 0 < requests[trap] <= workers * MAX_REQUESTS} == {}


def test_a_kind_whose_pages_say_nothing_new_has_a_budget(read):
    offered, refused = 0, Counter()
    for day in range(100):
        links = [f"/calendar/{2001 + day}/{n}" for n in range(3)]
        kept, traps = read(f"/calendar/{2000 + day}/0", "There is nothing on this day in all of the city.", links)
        offered, refused = offered + len(kept), refused + Counter(traps)
    assert LINKS_MAX <= offered <= LINKS_MAX + 2 * module.CREDIT
    assert refused == {reasons.TRAP_CALENDAR: 300 - offered}


def test_a_kind_whose_pages_say_something_new_needs_none_and_what_waited_is_offered(read):
    links = [f"/wiki/page-{number}" for number in range(60)]
    kept, refused = read("/wiki/start", sentences("start"), links)
    waiting = set(links) - set(kept)
    assert refused == {reasons.TRAP_TEMPLATE: len(waiting)}
    assert waiting
    for number in range(20):
        kept, refused = read(f"/wiki/page-{number}", sentences(f"{number}"), [f"/wiki/further-{number}"])
        waiting -= set(kept)
        assert (f"/wiki/further-{number}" in kept) or number < module.MIN_PROVING
    assert not waiting


def test_links_of_a_page_with_something_new_to_other_kinds_are_free(read):
    assert read("/list", sentences("a"), news := [f"/news/{n}" for n in range(100)]) == (news, {})
    assert read("/list", sentences("b"), found := [f"/show?id={n}" for n in range(50)]) == (found, {})
    assert read("/list", sentences("c"), away := [f"http://b.test/{n}" for n in range(50)]) == (away, {})


def test_a_list_without_a_text_of_its_own_is_new_by_what_it_leads_to(read):
    for number in range(50):
        news = [f"/news/{number}{n}" for n in range(module.MIN_OF_LIST)]
        assert read(f"/list?page={number}", "All of our news.", [*news, f"/list?page={number + 1}"])[0][:-1] == news
        read(f"/news/{number}0", sentences(f"{number}"))


def test_what_pages_with_one_text_lead_to_has_a_budget_whatever_its_kind(read):
    refused = Counter()
    for number in range(20):
        links = [f"/{'abcdefghijklmnopqrst'[number]}{sign}/x/y" for sign in "abcd"]
        refused += read(f"/lost/{number}", f"The page lost/{number} was not found on this server at this time.", links)[
            1
        ]
    assert refused[reasons.TRAP_SAME_TEXT] == 20 * 4 - 4 - LINKS_MAX


def test_other_forms_of_pages_have_a_budget_from_everywhere(read):
    for number in range(30):
        links = [f"/print/{number}", f"/news/{number}?sort=date", f"/news//{number}", f"/x?sid={number:032x}"]
        kept, refused = read(f"/news/{number}", sentences(f"{number}"), links)
        assert not kept or number <= LINKS_MAX + 2
    assert refused == {reasons.TRAP_VARIANT: 2, reasons.TRAP_DUPLICATE: 1, reasons.TRAP_SESSION: 1}


def test_plans_are_judged_each_for_itself_and_a_page_once(read, traps):
    read("/a", sentences("a"))
    assert traps.read(f"{ORIGIN}/b", page(sentences("a")), ["city", "storm"])["storm"].is_new
    assert not traps.read(f"{ORIGIN}/b", page(sentences("a")), ["city"])["city"].is_new
    assert traps.read(f"{ORIGIN}/a", page(sentences("a")), ["city"])["city"].is_new  # its visit was lost
