"""What goes wrong is found in the monitor alone, by who doesn't know yet what it is: from the first page on."""

from __future__ import annotations

import contextlib
import re
import subprocess
from itertools import cycle
from urllib.parse import quote

import orjson
import pytest
from crawl import Crawl
from faults.rig import SETTINGS, Origin
from monitor.conftest import PASSWORD, Running, settings_at, text_of
from needs import need, started
from waiting import until

from crawler.monitor.users import UserFile

pytestmark = pytest.mark.faults

HOSTS = 12  # of the site that goes: each is asked less and less often, but the first tries come soon
PAGES = 8_000  # of each site, minutes at their politeness: on a busy machine some are left of both, too, until the end
NAMESPACE = ("unshare", "--map-root-user", "--uts")
# Has a worker run on a machine of another name, as far as it can see.
ELSEWHERE = (*NAMESPACE, "sh", "-ec", 'hostname "$0"; exec "$@"', "node-b")


@pytest.fixture
def crawl(fork_server, redis_url, tmp_path):
    with contextlib.closing(Crawl(fork_server, tmp_path, redis_url, SETTINGS | {"RETRY_BASE_SECONDS": 0.5})) as crawl:
        yield crawl


@pytest.fixture
def browser(redis_url, tmp_path):
    users = UserFile(str(tmp_path / "users.json"))
    users.put("ann", "viewer", PASSWORD)
    with Running(settings_at(redis_url), users) as monitor:
        yield monitor.browser("ann")


def read(browser, path="/"):
    return text_of(browser.get(path).text)


def rows(browser, path):
    return orjson.loads(browser.get(path).text)


def test_a_node_is_killed_and_a_site_goes_away(crawl, browser, tmp_path, row):
    if subprocess.run([*NAMESPACE, "true"], check=False).returncode:
        need("a namespace with a name of its own")
    with started(Origin, tmp_path / "sound", 1) as sound, started(Origin, tmp_path / "gone", HOSTS) as gone:
        crawl.offer(sound.urls(PAGES, "slow"), site="paced")
        crawl.offer(gone.urls(PAGES), site="polite")
        crawl.worker()
        lost = crawl.worker(under=ELSEWHERE)
        until(lambda: "node-b" in read(browser, "/nodes"), "both nodes")
        until(lambda: len(rows(browser, "/hosts.json")) >= len(gone.ports), "the first hosts", 120)
        until(lambda: "Wrong now Nothing." in read(browser), "nothing wrong")  # a busy machine may hold renewals up
        lost.kill()
        gone.stop()
        until(lambda: "Gone: node-b. No worker of it has a session" in read(browser), "the node to be named")
        overview = until(
            lambda: re.search(r"Every try has failed for \d+ min: polite\.", read(browser)), "the site", 300
        )
        # The page of sites marks that one alone, and a host of it says since when and for how long nobody asks it.
        marked = {site["site"]: site["trouble"] for site in rows(browser, "/sites.json")}
        assert marked == {"paced": "", "polite": "away"}
        addresses = ["/host.json?name=" + quote(f"127.0.0.1:{port}") for port in gone.ports]
        hosts = (rows(browser, address)[0] for address in cycle(addresses))
        why = until(lambda: (host := next(hosts))["error_level"] and host["why"], "a host that is left alone")
        # The node is named still, though others have its seeds and a worker there would have reported long since.
        assert "Gone: node-b." in read(browser)
        row("a node killed, a site gone, found by looking", overview=overview[0], host=why)
