"""No host sees more than its site allows, however many workers there are, whoever asks, whoever dies: by its own log.

`make faults` makes longer runs of it.
"""

from __future__ import annotations

import os
import random
from collections import defaultdict
from urllib.parse import quote

import pytest
from faults.rig import in_time
from waiting import until

from testbed.servers.many_hosts import LINKS

pytestmark = pytest.mark.faults
FULL = os.environ.get("FAULTS") == "full"
KILLS = 40 if FULL else 6
TOLERANCE_SECONDS = 0.05  # between a worker's clock at the send and the server's at the receipt
DELAY_SECONDS = 0.5


def spacings(hits, concurrency):
    """Returns how long after each request the one `concurrency` later began: no less than the delay, on turns."""
    return [later.start - hit.start for hit, later in zip(hits, hits[concurrency:], strict=False)]


def most_at_once(hits):
    """Returns how many requests there were at once, at most."""
    changes = sorted([(hit.end, -1) for hit in hits] + [(hit.start, 1) for hit in hits])
    most = now = 0
    for _, change in changes:
        now += change
        most = max(most, now)
    return most


def by_host(hits):
    hosts = defaultdict(list)
    for hit in hits:
        hosts[hit.host].append(hit)
    return hosts


class PoliteWeb:
    """200 hosts on 5 addresses: pages with media here and elsewhere, redirects, robots.txt that lie on other hosts."""

    def __init__(self, many_hosts, crawl, rounds):
        self.server = many_hosts(5, 40)
        self.crawl = crawl
        self.hosts = hosts = self.server.hosts
        self.twos = set(hosts[::4])  # these bear two requests at once
        crawl.site("one", delay=DELAY_SECONDS)
        crawl.site("two", delay=DELAY_SECONDS, concurrency=2)
        # Every tenth host's robots.txt lies on another; media go from a host to one of its kind.
        self.server.robots(
            {host: {"to": f"http://{hosts[n - 3]}/r.txt"} for n, host in enumerate(hosts) if n % 10 == 3}
        )
        urls = {"one": [], "two": []}
        for n, host in enumerate(hosts):
            other = hosts[(n + 40) % len(hosts)]
            urls["two" if host in self.twos else "one"] += [
                f"http://{host}{path}"
                for r in range(rounds)
                for path in (
                    f"/page/{r}",
                    f"/page/own-{r}?image={quote(f'/image/own-{r}')}",
                    f"/page/other-{r}?image=http://{other}/image/{n}-{r}",
                    f"/go?to={quote(f'/page/moved-{r}')}",
                    f"/go?to=http://{other}/page/moved-{n}-{r}",
                )
            ]
        for site, own in urls.items():
            crawl.offer(own, site)
        self.seeds = 7 * rounds * len(hosts)  # with those that redirects lead to

    def search(self):
        """Submits a plan whose searches and results lie on the same hosts."""
        names = []
        for n in range(5):
            host, onto = self.hosts[40 * n + 1], self.hosts[40 * n + 2]
            names.append(f"nav{n}")
            self.crawl.site(
                names[-1], delay=DELAY_SECONDS, search=f"http://{host}/list?onto={onto}&q={{query}}&page={{page}}"
            )
        self.crawl.submit(names, ["one", "two"], pages=2)
        self.seeds += 5 * 2 * 2 * (1 + LINKS)

    def concurrency_of(self, host):
        return 2 if host in self.twos else 1


def test_200_hosts_while_workers_are_killed(many_hosts, crawl):
    web, chance = PoliteWeb(many_hosts, crawl, 10 if FULL else 1), random.Random(1)
    web.search()
    settings = {"SESSION_SECONDS": 2, "STOP_WHEN_DONE": 1}
    spiders = ["producer", "consumer", "consumer", "consumer"]
    workers = [crawl.worker(spider, **settings) for spider in spiders]
    for kill in range(KILLS):
        until(lambda kill=kill: crawl.counts()["finished"] >= web.seeds * kill // KILLS, "pages", 600)
        victim = chance.randrange(4)
        workers[victim].kill()
        workers[victim] = crawl.worker(spiders[victim], **settings)
    for worker in workers:
        assert worker.wait(600) == 0, worker.log.read_text()
    for host, hits in by_host(web.server.hits()).items():
        assert min(spacings(hits, web.concurrency_of(host))) >= DELAY_SECONDS - TOLERANCE_SECONDS, host
        assert most_at_once(hits) <= web.concurrency_of(host), host
    total = crawl.total()
    assert total["failures"] == {}
    assert total["ready"] == total["executing"] == 0
    assert total["finished"] == web.seeds


def test_the_busiest_host_is_done_in_hardly_more_than_its_minimum_time(many_hosts, crawl):
    """Its pages come a delay apart, among those of 60 others, by three workers."""
    web, seeds, delay_s = many_hosts(3, 20), 60 if FULL else 12, 0.75
    busiest, *others = web.hosts
    crawl.site(delay=delay_s)
    crawl.offer([*(f"http://{busiest}/page/{n}" for n in range(seeds))])
    crawl.offer(f"http://{host}/page/{n}" for host in others for n in range(4))
    crawl.finish(consumers=3)
    times = web.hits(busiest)
    took_s, least_s = times[-1].end - times[0].start, seeds * delay_s  # robots.txt comes first, so that is exact
    assert in_time(took_s, 1.2 * least_s)
    assert min(spacings(times, 1)) >= delay_s - TOLERANCE_SECONDS


@pytest.mark.alone
def test_hosts_of_one_address_share_its_budget(many_hosts, crawl):
    web = many_hosts(2, 5)
    crawl.site(concurrency=2)
    hosts = web.hosts
    crawl.offer(
        f"http://{host}/slow?s=0.3&n={n}&image=/image/{n}&image=http://{hosts[n]}/image/{host[-5:]}"
        for host in hosts
        for n in range(2)
    )
    crawl.finish(consumers=2, ADDRESS_CONCURRENCY=2, ADDRESS_DELAY_SECONDS=0.2)
    for address in ("127.0.0.1", "127.0.0.2"):
        hits = [hit for hit in web.hits() if hit.host.startswith(address)]
        assert len(hits) >= 5 * 5
        assert most_at_once(hits) <= 2
        assert min(spacings(hits, 1)) >= 0.2 - 2 * TOLERANCE_SECONDS  # of two different workers
    assert crawl.total()["finished"] == 2 * len(hosts)


def test_slow_hosts_stall_nobody(many_hosts, crawl):
    """One, first in line, takes 5 s for an answer, one has a page of 20 images; 20 others beside them, one worker."""
    web = many_hosts(1, 22)
    slow, gallery, *others = web.hosts
    crawl.site(concurrency=2)
    crawl.site("gallery", delay=0.4)
    crawl.offer(f"http://{slow}/slow?s=5&n={n}" for n in range(4))
    images = "&".join(f"image={quote(f'/image/{n}')}" for n in range(20))
    crawl.offer([f"http://{gallery}/page/1?{images}"], "gallery")
    crawl.offer(f"http://{host}/page/{n}?image={quote('/image/1')}" for host in others for n in range(6))
    crawl.finish(FIRST_BATCH=4, CONCURRENT_REQUESTS=8)  # either of the two alone could fill up the worker
    hits = web.hits()
    took_s = {host: own[-1].end - hits[0].start for host, own in by_host(hits).items()}
    assert in_time(max(took_s[host] for host in others), 5)
    assert crawl.total()["finished"] == 4 + 1 + 20 * 6


def test_one_host_is_worked_by_many_nodes(many_hosts, crawl):
    """Many pages of one host that bears four requests at once: its turns go to whoever is there."""
    web, seeds = many_hosts(1, 1), 20_000 if FULL else 1_500
    (host,) = web.hosts
    crawl.site(concurrency=4, burst=10)
    crawl.offer(f"http://{host}/page/{n}" for n in range(seeds))
    workers = [crawl.worker(STOP_WHEN_DONE=1, FILES_STORE="", USER_AGENT=name) for name in ("one", "other")]
    for worker in workers:
        assert worker.wait(600) == 0, worker.log.read_text()
    hits = web.hits(host)
    by_agent, by_second = defaultdict(list), defaultdict(set)
    for hit in hits:
        if hit.path != "/robots.txt":
            by_agent[hit.agent].append(hit)
            by_second[int(hit.start)].add(hit.agent)
    assert most_at_once(hits) <= 4
    assert len(by_agent) == 2
    assert min(len(own) for own in by_agent.values()) >= seeds / 10
    assert sum(len(agents) > 1 for agents in by_second.values()) >= 0.25 * len(by_second)
