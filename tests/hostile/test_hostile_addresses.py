"""No page gets the crawler to connect to a private address, however it is written and wherever it stands.

The workers live in a network in which a server listens on every address there is (own_network.py), so that a
connection to a private one would be seen.
"""

from __future__ import annotations

from html import escape
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import quote

import private_hosts
import pytest
from hostile.isolated import IsolatedCrawl, SocketRedis

from crawler.base import urls
from crawler.download.private_addresses import is_private

pytestmark = pytest.mark.faults  # hundreds of addresses in a crawl of their own
PLACES = ("seed", "link", "redirect", "chain")
PUBLIC, PUBLIC_6 = "93.184.216.34", "2606:2800:220:1::1"
PUBLIC_PLACES = ["http://public-6.example/", f"http://[{PUBLIC_6}]/", "http://mixed.example/"]
SITE = """
name: hostile
search: {url: "http://hostile.example/search?q={query}"}
results: {links: "css:a"}
content:
  title: css:title
  content: {select: css:article, required: true}
  images: {select: css:img, all: true}
politeness: {delay: 0, concurrency: 16, burst: 50}
"""
NAMES = """localhost localhost. LOCALHOST ten.example ten.example. metadata.example two.example six.example ula.example
mapped.example"""
WITH_USERS = """8.8.8.8@127.0.0.1 8.8.8.8:80@10.0.0.1 user:password@169.254.169.254 8.8.8.8%40@127.0.0.1"""
# Written as a host: all of these are private, or lead there.
ADDRESSES = [*private_hosts.EVERY, *NAMES.split(), *WITH_USERS.split()]
# Whole URLs that parsers disagree on.
TRICKS = [
    "http:\\\\127.0.0.1\\{}",
    "http://127.0.0.1\\@8.8.8.8/{}",
    "http://127.0.0.1/{}#@8.8.8.8/",
    "http:////127.0.0.1/{}",
    "//127.0.0.1/{}",
    "/\\127.0.0.1/{}",
    "  http://127.0.0.1/{}",
    "ht\ttp://127.0.\n0.1/{}",
]
ZONE = {
    "localhost": {"A": [["127.0.0.1"]]},  # what some name servers answer to "localhost."
    "hostile.example": {"A": [[PUBLIC]]},
    "public-6.example": {"AAAA": [[PUBLIC_6]]},
    "ten.example": {"A": [["10.0.0.1"]]},
    "metadata.example": {"A": [["169.254.169.254"]]},
    "two.example": {"A": [["10.0.0.1", "127.0.0.1"]], "AAAA": [["::1"]]},
    "six.example": {"AAAA": [["::1"]]},
    "ula.example": {"AAAA": [["fd00:ec2::254"]]},
    "mapped.example": {"AAAA": [["::ffff:10.0.0.1"]]},
    "mixed.example": {"A": [["10.0.0.1", PUBLIC, "127.0.0.1"]], "AAAA": [["::1"]]},
    "rebinding.example": {"A": [[PUBLIC], ["127.0.0.1"]]},
    "rebinding-6.example": {"AAAA": [[PUBLIC_6], ["::1"]]},
    "rebinding-mapped.example": {"AAAA": [[PUBLIC_6], ["::ffff:127.0.0.1"]]},
}
SCHEMES = [
    "ftp://hostile.example/x",
    "file:///etc/passwd",
    "data:text/html,<article>x</article>",
    "javascript:alert(1)",
    "gopher://hostile.example/x",
    "s3://bucket/key",
    "ws://hostile.example/x",
    "dict://127.0.0.1:11211/stat",
    "view-source:http://127.0.0.1/",
    "jar:http://127.0.0.1!/x",
    "unix:///var/run/docker.sock",
]


def url_of(written, path):
    """Returns a URL with that host."""
    return f"http://{written}/{path}"


def canonical(written, path):
    return urls.canonical(url_of(written, path))


def redirecting(target):
    return f"http://hostile.example/to?u={quote(target, safe='')}"


@pytest.fixture(scope="module")
def redis():
    # In a folder with a short path: that of a socket has 107 characters at most.
    with TemporaryDirectory(prefix="hostile-") as folder, SocketRedis(Path(folder)) as server:
        yield server


def isolated(redis, folder):
    crawl = IsolatedCrawl(redis, folder)
    crawl.write_site("hostile", SITE)
    crawl.write("dns.json", ZONE | {f"robots-{n}.example": {"A": [[PUBLIC]]} for n in range(len(ADDRESSES))})
    crawl.write("robots.json", {f"robots-{n}.example": url_of(host, f"robots-{n}") for n, host in enumerate(ADDRESSES)})
    return crawl


@pytest.fixture(scope="module")
def crawled(redis, tmp_path_factory):
    """Every case in every place, crawled at once by a producer and a consumer."""
    crawl = isolated(redis, tmp_path_factory.mktemp("hostile") / "all")
    cases = list(enumerate(ADDRESSES))
    links = [url_of(host, f"link-{n}") for n, host in cases]
    links += [trick.format(f"trick-{n}") for n, trick in enumerate(TRICKS)]
    links += SCHEMES
    images = [url_of(host, f"image-{n}.png") for n, host in cases] + SCHEMES + ["http://hostile.example/image.png"]
    crawl.write(
        "pages.json",
        {
            "/search": "".join(f'<p><a href="{escape(link)}">x</a></p>' for link in links),
            "/media": "<title>T</title><article>Words.</article>" + "".join(f'<img src="{escape(i)}">' for i in images),
        },
    )
    seeds = [url_of(host, f"seed-{n}") for n, host in cases]
    seeds += [redirecting(url_of(host, f"redirect-{n}")) for n, host in cases]
    seeds += [redirecting(redirecting(url_of(host, f"chain-{n}"))) for n, host in cases]
    seeds += [f"http://robots-{n}.example/page" for n, _ in cases]
    seeds += [redirecting(scheme) for scheme in SCHEMES]
    seeds += ["http://hostile.example/media", *PUBLIC_PLACES]
    crawl.offer(seeds, "hostile")
    crawl.submit(["hostile"], ["flood"])
    crawl.finish_inside("producer", "consumer", MAX_ATTEMPTS=1, MEDIA_MAX_PER_PAGE=500)
    crawl.ends = crawl.unfinished()
    assert not [url for url in crawl.ends if "/search?" in url], crawl.ends
    crawl.found = {item["url"]: item for item in crawl.items()}
    return crawl


def test_no_connection_arrived_at_a_private_address(crawled):
    assert crawled.addresses() == {PUBLIC, PUBLIC_6}


def test_what_leads_there_fails_for_that_reason(crawled):
    places = [canonical(written, f"{place}-{n}") for n, written in enumerate(ADDRESSES) for place in PLACES]
    assert {url: crawled.ends.get(url) for url in places} == dict.fromkeys(places, ("failed", "private-address"))
    # A link that parsers disagree on, too.
    ends = [{end for url, end in crawled.ends.items() if f"trick-{n}" in url} for n in range(len(TRICKS))]
    assert dict(zip(TRICKS, ends, strict=True)) == {trick: {("failed", "private-address")} for trick in TRICKS}
    ends = [crawled.ends.get(f"http://robots-{n}.example/page") for n in range(len(ADDRESSES))]
    assert dict(zip(ADDRESSES, ends, strict=True)) == dict.fromkeys(ADDRESSES, ("failed", "robots-unreachable"))


def test_media_there_say_so_in_the_item_and_others_of_the_page_are_fetched(crawled):
    images = {image["url"]: image for image in crawled.found["http://hostile.example/media"]["images"]}
    refused = {written: images[canonical(written, f"image-{n}.png")] for n, written in enumerate(ADDRESSES)}
    ends = {written: (image["error"], image["path"]) for written, image in refused.items()}
    assert ends == dict.fromkeys(ADDRESSES, ("private-address", None))
    assert images["http://hostile.example/image.png"]["error"] is None


def test_other_schemes_are_refused_or_dropped(crawled):
    ends = {scheme: crawled.ends.get(urls.canonical(redirecting(scheme))) for scheme in SCHEMES}
    assert ends == dict.fromkeys(SCHEMES, ("failed", "bad-redirect"))
    names = tuple(scheme.partition(":")[0] + ":" for scheme in SCHEMES)
    images = {image["url"] for image in crawled.found["http://hostile.example/media"]["images"]}
    assert not [url for url in crawled.ends if url.startswith(names)]
    assert not images & set(SCHEMES)
    for scheme in SCHEMES:
        refused = crawled.run("seeds", "offer", scheme)
        assert (refused.returncode, refused.stderr.startswith("error: not a")) == (1, True), scheme


def test_public_places_are_crawled_in_ipv6_and_beside_private_addresses_and_the_ledger_reconciles(crawled):
    assert set(PUBLIC_PLACES) <= crawled.found.keys()
    total = crawled.total()
    assert total["difference"] == total["ready"] == total["executing"] == 0


REBINDING = ["rebinding.example", "rebinding-6.example", "rebinding-mapped.example"]


@pytest.mark.parametrize("cache", [0, 1])
def test_a_name_that_changes_its_answer_gains_nothing(redis, tmp_path, cache):
    crawl = isolated(redis, tmp_path / f"rebinding-{cache}")
    crawl.offer([f"http://{name}/{path}" for name in REBINDING for path in "ab"], "hostile")
    crawl.finish_inside("consumer", DNSCACHE_ENABLED=cache)
    assert crawl.addresses() <= {PUBLIC, PUBLIC_6}
    answers = {line["answer"][0] for line in crawl.log("question") if line["answer"]}
    if cache:
        assert crawl.unfinished() == {}  # the address that was checked is the one that is used
    else:
        assert set(crawl.unfinished().values()) == {("failed", "private-address")}
        assert "127.0.0.1" in answers


def test_what_may_be_asked_of_a_proxy_is_looked_up_first(redis, tmp_path):
    """The proxy stands on a private address: the operator chose it."""
    crawl = isolated(redis, tmp_path / "proxy")
    seeds = [url_of(host, "x") for host in ADDRESSES]
    crawl.offer([*seeds, "http://hostile.example/page", "http://unknown.example/page"], "hostile")
    crawl.finish_inside("consumer", environment={"http_proxy": "http://user:password@10.9.9.9:80"})
    pages = [urls.canonical(seed) for seed in seeds if "./" not in seed]  # with a last dot, a host is the one without
    assert crawl.unfinished() == dict.fromkeys(pages, ("failed", "private-address"))
    assert {line["host"] for line in crawl.log("request")} == {"hostile.example", "unknown.example"}
    assert crawl.addresses() == {"10.9.9.9"}


def test_with_the_setting_on_private_addresses_are_crawled(redis, tmp_path):
    """So that the canaries above could have been reached."""
    nowhere = ("22", "239", "24", "255", "[fe80", "[ff", "0.1", "[::ffff:224")
    reachable = [host for host in ADDRESSES if not host.startswith(nowhere)]
    crawl = isolated(redis, tmp_path / "allowed")
    crawl.offer([url_of(host, "x") for host in reachable], "hostile")
    crawl.finish_inside("consumer", ALLOW_PRIVATE_ADDRESSES=1)
    assert crawl.unfinished() == {}
    assert all(map(is_private, crawl.addresses()))
    assert len(crawl.addresses()) >= 30
