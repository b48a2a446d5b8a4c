"""What becomes of pages, by what their host's robots.txt answers: real crawls over real servers."""

from __future__ import annotations

import contextlib
import gzip
import json
import pickle
import socket
from itertools import chain, pairwise, repeat

import pytest
from hostile.hostile_wire_bodies import answer, forever
from hostile.hostile_wire_server import HOLD, RESET, Host
from waiting import until

from crawler.frontier.keys import Keys
from crawler.robots.file import RobotsFile

ALL = "User-agent: *\nDisallow: /\n"
SETTINGS = {
    "ALLOW_PRIVATE_ADDRESSES": 1,
    "MAX_ATTEMPTS": 2,
    "RETRY_BASE_SECONDS": 0.01,
    "ROBOTS_RETRY_SECONDS": 0.3,
    "DOWNLOAD_TIMEOUT": 2,
    "EGRESS_DOUBT_SECONDS": 0,  # requests are counted here, and a check of the way out would be one more
}


@pytest.fixture
def serve():
    """Returns a function that starts a host with a script for robots.txt and for whatever else is below no /page."""
    with contextlib.ExitStack() as hosts:

        def serve(robots):
            host = Host(lambda path: [answer()] if path.startswith("/page") else host.robots(path), robots)
            hosts.callback(host.close)
            return host

        yield serve


@pytest.fixture
def crawl(crawl):
    """A site `s` that is in no hurry to be polite, and little patience."""
    crawl.settings |= SETTINGS
    crawl.site()
    return crawl


def failures(crawl, workers=1, **settings):
    """Runs consumers until all is done; returns the reasons of what failed, by URL."""
    assert b"Traceback" not in crawl.finish(workers, **settings)
    return {url: reason for url, (_state, reason) in crawl.unfinished().items()}


def asked(host, path="/robots.txt"):
    """Returns when a path was asked for, by this machine's monotonic clock."""
    return [one.begun for one in host.asked if one.path == path]


def reply(status, body="", **headers):
    """Returns an answer as bytes."""
    body = body if isinstance(body, bytes) else body.encode()
    headers = {"Content_Type": "text/plain", "Content_Length": len(body), "Connection": "close", **headers}
    lines = [f"HTTP/1.1 {status} Said", *(f"{name.replace('_', '-')}: {value}" for name, value in headers.items())]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


def says(status, body="", **headers):
    """Returns a script that always gives the same answer."""
    return lambda _path: [reply(status, body, **headers)]


def first(script, then):
    """Returns a script that is another one from the second request on."""
    scripts = chain([script], repeat(then))

    def following(path):
        return next(scripts)(path)

    return following


def resets(_path):
    return [RESET]


def never_ends(_path):
    return chain([b"HTTP/1.1 200 OK\r\n\r\n" + ALL.encode()], forever(b"# and so on\n" * 1_000))


def hops(number, to):
    """Leads from host to host (from /0 to /NUMBER), to rules that disallow all."""

    def script(path):
        step = 0 if path == "/robots.txt" else int(path[1:])
        return [reply(200, ALL) if step == number else reply(302, Location=f"{to.url}/{step + 1}")]

    return script


@pytest.fixture
def nobody():
    """Where no server listens, nor may one of another test meanwhile: the port is taken, and refuses connections."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        yield f"http://127.0.0.1:{taken.getsockname()[1]}/page"


def test_what_each_answer_means_for_the_page(serve, crawl, nobody):
    elsewhere = serve(says(200, ALL))
    five, six = serve(says(404)), serve(says(404))
    five.robots, six.robots = hops(5, other := serve(says(404))), hops(6, another := serve(says(404)))
    other.robots, another.robots = hops(5, five), hops(6, six)
    there, back = serve(says(404)), serve(says(404))
    there.robots, back.robots = says(302, Location=f"{back.url}/r"), says(302, Location=f"{there.url}/r")
    places = {
        "allowed": (serve(says(200, "User-agent: *\nDisallow: /private\n")), None),
        "disallowed": (serve(says(200, ALL)), "robots"),
        "disallowed by name": (serve(says(200, "User-agent: HEADROOM/9\nDisallow: /\n")), "robots"),
        "allowed by name": (serve(says(200, ALL + "User-agent: headroom\nDisallow:\n")), None),
        "empty": (serve(says(200)), None),
        "an HTML page": (serve(says(200, "<html>Disallow: /</html>", Content_Type="text/html")), None),
        "no rules: 404": (serve(says(404, ALL)), None),
        "no rules: 401": (serve(says(401, ALL)), None),
        "no rules: 403": (serve(says(403, ALL)), None),
        "no rules: 410": (serve(says(410)), None),
        "moved on the host": (
            serve(lambda path: [reply(301, Location="/r.txt") if path == "/robots.txt" else reply(200, ALL)]),
            "robots",
        ),
        "moved to another host": (serve(says(302, Location=f"{elsewhere.url}/r.txt")), "robots"),
        "moved five times": (five, "robots"),
        "moved six times": (six, None),
        "moved in a circle": (serve(says(302, Location="/robots.txt")), None),
        "in a circle of hosts: there": (there, None),
        "in a circle of hosts: back": (back, None),
        "moved to no URL": (serve(says(302, Location="http://")), None),
        "moved to nowhere said": (serve(says(302)), None),
        "moved to an error": (serve(says(302, Location=nobody)), "robots-unreachable"),
        "unreachable: 500": (serve(says(500, "User-agent: *\nDisallow:\n")), "robots-unreachable"),
        "unreachable: 429": (serve(says(429)), "robots-unreachable"),
        "unreachable: reset": (serve(resets), "robots-unreachable"),
        "unreachable: broken off": (serve(says(200, ALL, Content_Length=1_000)), "robots-unreachable"),
        "unreachable: timeout": (serve(lambda _path: [HOLD]), "robots-unreachable"),
        "heals: 503": (serve(first(says(503), says(404))), None),
        "heals: 429": (serve(first(says(429, Retry_After=1), says(404))), None),
        "heals: reset": (serve(first(resets, says(200, ALL))), "robots"),
        "endless": (serve(never_ends), "robots"),
        "compressed, unasked": (serve(says(200, gzip.compress(ALL.encode()), Content_Encoding="gzip")), "robots"),
        "after 400 KiB": (serve(says(200, "#" * 79 + "\n" + "# x\n" * 100_000 + ALL)), "robots"),
    }
    crawl.offer([*(place.page for place, _ in places.values()), nobody, "http://nowhere.invalid/page"])
    reasons = failures(crawl)
    assert {name: reasons.get(place.page) for name, (place, _) in places.items()} == {
        name: reason for name, (_, reason) in places.items()
    }
    assert reasons[nobody] == reasons["http://nowhere.invalid/page"] == "robots-unreachable"

    for name, (place, reason) in places.items():
        assert len(asked(place, "/page")) == (reason is None), name
        if name.startswith(("allowed", "disallowed", "no rules", "endless", "moved on")):
            assert len(asked(place)) == 1, name
        if name.startswith("unreachable"):
            assert len(asked(place)) == 2, name  # MAX_ATTEMPTS, with ROBOTS_RETRY_SECONDS between them
            before, after = asked(place)
            assert after - before >= 0.3, name
    before, after = asked(places["heals: 429"][0])
    assert after - before >= 1


def test_two_workers_ask_once_and_know_for_a_day(serve, crawl):
    rules = reply(200, "User-agent: *\nDisallow: /page/9\n")
    place = serve(lambda _path: [0.5, rules])  # others come while the first waits
    crawl.site(concurrency=8, burst=1)
    crawl.offer(f"{place.page}/{number}" for number in range(40))
    reasons = failures(crawl, workers=2, FIRST_BATCH=4)
    assert reasons == {f"{place.page}/9": "robots"}
    assert len(asked(place)) == 1
    key = Keys("hr").partition(0).robots(place.url)
    assert 86_000 < crawl.redis.ttl(key) <= 86_400
    assert json.loads(crawl.redis.get(key))["state"] == "rules"
    assert not crawl.redis.exists(Keys("hr").partition(0).robots_asked(place.url))

    crawl.offer([f"{place.page}/later"])
    failures(crawl)
    assert len(asked(place)) == 1


def test_no_page_fails_that_was_not_held_while_the_file_was_asked_for(serve, crawl):
    """The file is unreachable as long as a page's own four tries take; few pages were tried so often by then."""
    answers = chain([says(503)] * 5, repeat(says(404)))  # at 0, 1, 5, 10, 15 and 20 times ROBOTS_RETRY_SECONDS

    def heals(path):
        return next(answers)(path)

    place = serve(heals)
    crawl.offer(f"{place.page}/{number}" for number in range(300))
    reasons = failures(crawl, MAX_ATTEMPTS=4, ROBOTS_RETRY_SECONDS=0.1)
    assert reasons == {}
    back, pages = asked(place)[5], [one.begun for one in place.asked if one.path.startswith("/page")]
    assert len(asked(place)) == 6
    assert len(pages) == 300
    assert pages[0] - back < 2


def test_all_pages_of_a_host_that_stays_silent_fail_by_tries_of_their_own(serve, crawl):
    place = serve(says(503))
    crawl.offer(f"{place.page}/{number}" for number in range(60))
    reasons = failures(crawl, ROBOTS_RETRY_SECONDS=0.02)
    assert reasons == {f"{place.page}/{number}": "robots-unreachable" for number in range(60)}
    assert 2 <= len(asked(place)) <= 20  # MAX_ATTEMPTS; each is asked for many pages


def test_a_page_whose_file_is_known_to_be_unreachable_waits_untried(serve, crawl):
    place = serve(says(404))
    worker = crawl.worker()
    until(lambda: b"Spider opened" in worker.log.read_bytes(), "the worker, whose start may take longer than `fresh_s`")
    known = RobotsFile("unreachable", failures=9, fresh_s=2)
    crawl.redis.set(Keys("hr").partition(0).robots(place.url), known.dump(), px=int(known.expires_s * 1000))
    crawl.offer([place.page])
    until(lambda: crawl.counts()["finished"] == 1, "the page, once the file may be asked for again")
    worker.stop()
    said = worker.log.read_bytes()
    assert len(asked(place)) == 1
    assert b"frontier/postpone/robots-unreachable" in said
    assert b"frontier/retry" not in said


def test_junk_in_redis_is_asked_for_again(serve, crawl):
    junk = [
        (pickle.dumps({"state": "none"}), 80_000),
        (b"\xff" * 3_000_000, 80_000),
        (b'{"state":"none","text":"","failures":-1}', 80_000),
        (b'{"state":"rules","text":"AAAA","failures":0}', 80_000),
        (RobotsFile("none").dump(), None),
        (RobotsFile("none").dump(), 90_000),
    ]
    places = [serve(says(200, ALL)) for _ in junk]
    for place, (value, seconds) in zip(places, junk, strict=True):
        crawl.redis.set(Keys("hr").partition(0).robots(place.url), value, ex=seconds)
    crawl.redis.hset(Keys("hr").partition(0).robots((other := serve(says(200, ALL))).url), "not", "a string")
    places.append(other)
    crawl.offer(place.page for place in places)
    assert failures(crawl) == {place.page: "robots" for place in places}
    assert [len(asked(place)) for place in places] == [1] * len(places)


def test_a_file_that_moved_to_a_known_host_s_is_taken_from_there(serve, crawl):
    known = serve(says(200, ALL))
    crawl.offer([known.page])
    failures(crawl)
    place = serve(says(301, Location=f"{known.url}/robots.txt"))
    crawl.offer([place.page])
    assert failures(crawl)[place.page] == "robots"
    assert len(asked(known)) == 1


def test_a_crawl_delay_holds_for_all_workers(serve, crawl):
    place = serve(says(200, "User-agent: *\nCrawl-delay: 0.5\nDisallow:\n"))
    crawl.site(burst=2)
    crawl.offer(f"{place.page}/{number}" for number in range(8))
    assert failures(crawl, workers=2, FIRST_BATCH=2) == {}
    assert len(place.asked) == 9
    times = sorted(one.begun for one in place.asked)
    assert min(after - before for before, after in pairwise(times)) >= 0.45


def test_a_crawl_delay_is_the_host_s_though_the_site_has_four_turns(serve, crawl):
    place = serve(lambda _path: [0.3, reply(200, "User-agent: *\nCrawl-delay: 0.4\n")])  # all turns are taken meanwhile
    crawl.site(delay=0.4, concurrency=4, burst=2)  # by its delay alone, a turn keeps the Crawl-delay, too
    crawl.offer(f"{place.page}/{number}" for number in range(6))
    assert failures(crawl, workers=2, FIRST_BATCH=4) == {}
    assert len(place.asked) == 7
    times = sorted(one.begun for one in place.asked)
    assert min(after - before for before, after in pairwise(times)) >= 0.35


def test_a_crawl_delay_is_clamped(serve, crawl):
    place = serve(says(200, "User-agent: *\nCrawl-delay: 86400\n"))
    crawl.offer([place.page])
    assert failures(crawl, ROBOTS_MAX_CRAWL_DELAY_SECONDS=0.2) == {}
    (rules_at,), (page_at,) = asked(place), asked(place, "/page")
    assert 0.15 <= page_at - rules_at < 10


def test_without_robotstxt_obey_nothing_is_asked(serve, crawl):
    place = serve(says(200, ALL))
    crawl.offer([place.page])
    assert failures(crawl, ROBOTSTXT_OBEY=0) == {}
    assert asked(place) == []
