"""Pages that must be rendered are claimed by workers with a browser alone, and cost the others nothing."""

from __future__ import annotations

from frontier.driver import content, nav

from crawler.frontier import scripts


def hosts(answer):
    return sorted(claimed.seed.host for claimed in answer.seeds)


async def look(frontier):
    """Returns how many hosts have ready seeds, how many of those are due, and since when the first is."""
    keys = frontier.keys.partition(0).script_keys("content")
    _now, _counts, number, due, first_ms, *_rest = await scripts.run(frontier.redis, "look", keys, [])
    return number, due, first_ms


async def test_who_has_no_browser_leaves_rendered_sites_to_those_who_have_one(frontier):
    await frontier.polite("plain")
    await frontier.rendered()
    await frontier.offer(content(1, "r.test"), content(2, "p.test", site="plain"))
    answer = await frontier.claim("A", has_browser=False)
    assert (hosts(answer), answer.leaves_seeds) == (["p.test"], True)
    again = await frontier.claim("A", has_browser=False)
    assert (hosts(again), again.leaves_seeds) == ([], True)
    other = await frontier.claim("B")
    assert (hosts(other), other.leaves_seeds) == (["r.test"], False)
    assert not (await frontier.claim("A", has_browser=False)).leaves_seeds
    assert await frontier.problems() == []


async def test_who_has_a_browser_takes_both_kinds_in_turn(frontier):
    await frontier.polite("plain")
    await frontier.rendered()
    await frontier.offer(*(content(n, f"r{n}.test") for n in range(4)))
    await frontier.claim("A", has_browser=False)
    await frontier.offer(*(content(n, f"p{n}.test", site="plain") for n in range(4)))
    assert hosts(await frontier.claim("B", max_seeds=4)) == ["p0.test", "p1.test", "r0.test", "r1.test"]


async def test_only_what_waits_for_a_browser_says_nothing_of_a_next_claim(frontier):
    await frontier.rendered()
    await frontier.offer(content(1))
    assert (await frontier.claim("A", has_browser=False)).wait_ms is None
    later = await frontier.now_ms() + 60_000
    await frontier.offer(content(2, "later.test"), due_ms=later)
    assert 0 < (await frontier.claim("A", has_browser=False)).wait_ms <= 60_000
    await frontier.claim("B")
    assert 0 < (await frontier.claim("B")).wait_ms <= 60_000


async def test_hosts_left_for_a_browser_count_as_due(frontier):
    await frontier.rendered()
    due = await frontier.now_ms() - 5_000
    await frontier.offer(content(1, "r.test"), due_ms=due)
    await frontier.offer(content(2, "later.test"), due_ms=due + 3_600_000)
    await frontier.claim("A", has_browser=False)
    number, due_number, first_ms = await look(frontier)
    assert (number, due_number) == (2, 1)
    assert due <= first_ms <= await frontier.now_ms()


async def test_a_host_with_a_site_that_needs_none_stays_with_all(frontier):
    await frontier.polite("plain")
    await frontier.rendered()
    now = await frontier.now_ms()
    await frontier.offer(content(1), due_ms=now - 2_000)
    await frontier.offer(content(2, site="plain"), due_ms=now - 1_000)
    assert len((await frontier.claim("A", has_browser=False)).seeds) == 2


async def test_search_pages_are_told_apart_from_content_pages(frontier):
    await frontier.rendered()
    await frontier.offer(nav(1))
    assert len((await frontier.claim("A", frontier="nav", has_browser=False)).seeds) == 1


async def test_a_site_that_is_rendered_no_more_is_everybodys(frontier):
    await frontier.polite("other")
    await frontier.rendered()
    await frontier.rendered("other")
    await frontier.offer(content(1, "r.test"), content(2, "other.test", site="other"))
    assert (await frontier.claim("A", has_browser=False)).leaves_seeds
    await frontier.rendered(is_rendered=False)
    answer = await frontier.claim("A", has_browser=False)
    assert (hosts(answer), answer.leaves_seeds) == (["r.test"], True)
    assert await frontier.problems() == []


async def test_hosts_that_were_being_made_everybodys_are_by_the_next_call_for_any_site(frontier):
    """Whoever said so has died after the first call, which moves a thousand hosts at most."""
    await frontier.rendered()
    hosts_key, moved = frontier.keys.partition(0).of("content", "hosts"), 1_000
    left = {f"{number}.test": 10**14 + number for number in range(2 * moved + 1)}
    await frontier.redis.zadd(hosts_key, left)
    keys = frontier.keys.partition(0).script_keys("content")
    assert await scripts.run(frontier.redis, "render_site", keys, ["s", 0]) == 1
    assert await frontier.redis.zcount(hosts_key, 10**14, "+inf") == moved + 1
    await frontier.rendered("another", is_rendered=False)
    assert await frontier.redis.zrange(hosts_key, 0, -1, withscores=True) == [
        (host.encode(), score - 10**14) for host, score in left.items()
    ]
    assert not await frontier.redis.exists(frontier.keys.partition(0).stem + ":browser_sites")


async def test_a_quarantined_page_that_needs_a_browser_waits_for_one(frontier):
    await frontier.rendered()
    await frontier.offer(content(1))
    for _ in range(2):
        await frontier.begin((await frontier.claim("A")).seeds)
        await frontier.lapse("A")
        await frontier.claim("B", max_seeds=1, has_browser=False)
        await frontier.session("A")
    assert (await frontier.claim("B", has_browser=False)).state == "ok"
    assert (await frontier.claim("B")).state == "quarantined"
