"""Sites without an end: a real worker on each, and the crawl is over when its budgets are, every seed accounted for."""

from __future__ import annotations

import re
from itertools import count
from urllib.parse import parse_qs, urlsplit

import pytest
from hostile.hostile_wire_bodies import answer
from hostile.hostile_wire_server import Host

from crawler.base.urls import MAX_PARAMETERS, MAX_REPEATS, MAX_SEGMENTS, MAX_URL_CHARACTERS

pytestmark = pytest.mark.faults  # a crawl for each trap

DEPTH, PER_PAGE, PER_HOST = 4, 25, 120
SITE = f"""
name: trap
base: BASE
search: {{url: "{{base}}/search?q={{query}}"}}
results: {{links: "css:a"}}
content: {{title: css:h1, content: {{select: css:article, required: true}}}}
follow: {{depth: {DEPTH}, per_page: {PER_PAGE}, per_host: {PER_HOST}, deny: ["/never/"]}}
politeness: {{delay: 0, concurrency: 4, burst: 50}}
"""
ARTICLE = "<h1>A page</h1><article>Some words of a page that is long enough to be one.</article>"


class Trap:
    """A host on which every path is a page; what it links to is the trap. `other` is another such host."""

    serial = count()

    def __init__(self):
        self.host = Host(self.script)

    def script(self, path):
        url = urlsplit(path)
        name = url.path.split("/")[1]
        if name in ("r", "to"):
            target = self.moved(url) if name == "r" else self.out[url.path]
            return [answer(b"", b"Location: " + target.encode(), status=b"302 Found")]
        links = getattr(self, name.partition(".")[0], lambda _url: ())(url)
        return [answer((ARTICLE + "".join(f"<a href='{link}'>x</a>" for link in links)).encode())]

    def moved(self, url):
        """/r?n=1 leads to /r?n=2, and so on; with `far`, on the other host by turns."""
        asked = parse_qs(url.query)
        number = int(asked["n"][0]) + 1
        return f"{self.other.url}/r?n={number}&far=1" if "far" in asked else f"/r?n={number}"

    def calendar(self, url):
        """Each day leads to the days around it, in both directions and in three views."""
        day = int(url.path.rsplit("/", 1)[1])
        return [f"/calendar/{day + step}?view={view}" for step in range(-9, 10) for view in "dwm"]

    def deep(self, _url):
        """Relative links, as of a server that answers whatever stands below a page with that page."""
        return ["deep/", "a/b/", "a/b/a/b/a/b/a/b/", "x/" * 40, "?" + "&".join(f"p{n}=1" for n in range(200))]

    def many(self, _url):
        return (f"/leaf/{number}" for number in range(100_000))

    search = many

    def long(self, _url):
        return ["/leaf/" + "x" * 100_000, "/leaf?" + "q=1&" * 25_000, "/leaf/short"]

    def session(self, url):
        """The same page under a new address each time."""
        return [f"{url.path}?sid={next(self.serial)}" for _ in range(30)]

    def loop(self, _url):
        return ["/r?n=1"]

    def scope(self, _url):
        return [*self.out, *self.out.values(), "http://metadata.invalid/", "javascript:alert(1)", "/leaf/1"]

    @property
    def out(self):
        """Links that may be followed, and redirect to what may not."""
        return {"/to/another/host": f"{self.other.url}/leaf", "/to/what/is/denied": "/never/this"}


@pytest.fixture
def hosts():
    """Two hosts that know each other."""
    one, other = Trap(), Trap()
    one.other, other.other = other.host, one.host
    yield one.host, other.host
    one.host.close()
    other.host.close()


@pytest.fixture
def trapped(crawl, hosts):
    """Returns a function that crawls from some paths to the end: what was asked, the ledger's total, the log."""
    crawl.settings |= {"ALLOW_PRIVATE_ADDRESSES": 1, "FILES_STORE": ""}
    crawl.write_site("trap", SITE.replace("BASE", hosts[0].url))

    def run(*paths, producers=0):
        if paths:
            crawl.offer((hosts[0].url + path for path in paths), "trap")
        log = crawl.finish(producers=producers).decode()
        assert "Traceback" not in log
        total = crawl.total()
        assert total["ready"] == total["executing"] == total["difference"] == 0
        return [one.path for host in hosts for one in host.pages()], total, log

    return run


def stat(log, name):
    """Returns a statistic of all workers together."""
    return sum(map(int, re.findall(rf"'links/{name}': (\d+)", log)))


def test_an_endless_calendar_ends_with_the_depth(trapped):
    asked, total, _log = trapped("/calendar/1000")
    days = {int(path.partition("?")[0].rsplit("/", 1)[1]) for path in asked}
    assert 9 < max(abs(day - 1000) for day in days) <= 9 * DEPTH
    assert len(asked) == len(set(asked)) == total["finished"] == total["offered"] - total["known"] <= PER_HOST + 1


def test_ever_new_addresses_of_a_page_end_with_the_hosts_budget(trapped):
    asked, total, log = trapped("/session/1")
    assert len(asked) == len(set(asked)) == PER_HOST + 1 == total["finished"]
    assert total["failures"] == {"budget-follow": PER_HOST}
    assert total["notes"]["over-budget"] > PER_HOST
    assert stat(log, "left_out") > 0


def test_traps_of_every_other_sort_end_with_a_reason(trapped):
    asked, total, log = trapped("/deep/", "/many", "/long", "/loop", "/r?n=1&far=1", "/r?n=500&far=1", "/scope")

    deep = [path for path in asked if path.startswith("/deep/")]
    assert 3 < len(deep) < 60
    for path in deep:  # parts that repeat themselves, too many parts, too many parameters
        assert not re.search(rf"((/\w+)+?)\1{{{MAX_REPEATS}}}", path)
        assert path.count("/") <= MAX_SEGMENTS
        assert path.count("&") < MAX_PARAMETERS
    assert stat(log, "traps") >= 3

    leaves = {path for path in asked if path.startswith("/leaf/")}
    assert leaves == {"/leaf/short", *(f"/leaf/{number}" for number in range(PER_PAGE))}  # neither /leaf nor /never
    assert stat(log, "left_out") == 100_000 - PER_PAGE
    assert max(map(len, asked)) < MAX_URL_CHARACTERS

    moved = [path for path in asked if path.startswith("/r?")]
    assert len(moved) == 6 + 2 * 6  # on the same host 5 redirects are followed, to others 5 as well
    out = [path for path in asked if path.startswith("/to/")]
    assert len(out) == 2  # and neither of the pages that these lead to
    assert total["failures"] == {"too-many-redirects": 3, "out-of-scope": 2}
    assert total["notes"] == {"redirected": 10, "moved": 5}

    assert len(asked) == 5 + len(deep) - 1 + len(leaves) + len(moved) + len(out)
    assert total["finished"] == 5 + len(deep) - 1 + len(leaves) + 10 + 5


def test_a_page_of_a_hundred_thousand_results_costs_what_the_setting_says(crawl, trapped, tmp_path):
    plan = tmp_path / "plan.yaml"
    plan.write_text("name: trap\nsites: [trap]\nkeywords: {event: {required: [flood]}}\npages: 1\nper_page: 20\n")
    crawl.settings["MAX_LINKS_PER_PAGE"] = 50
    crawl.scrapy("plan", "submit", plan)
    asked, total, log = trapped(producers=1)
    assert stat(log, "left_out") == 100_000 - 50
    assert len(asked) == 1 + 50 == total["finished"] == total["offered"]
