"""A site's pages are found by its sitemaps: an index, packed sitemaps, news; those that a plan's words stand for."""

from __future__ import annotations

import gzip
from collections import Counter

from hostile.hostile_wire_bodies import answer

TEXT = "Some words of a page, one after the other. " * 5


def test_the_sitemaps_of_an_index_lead_to_the_pages_that_have_the_words(serve, crawl):
    def site(path):
        if path == "/sitemap.xml":  # names itself, another host, and more sitemaps than the plan has pages
            names = ["/sitemap.xml", "http://elsewhere.test/a.xml", "/old.xml", "/1.xml.gz", "/2.xml", "/3.xml"]
            days = ["2026-11-20", "2026-11-19", "2026-01-01", "2026-11-18", "2026-11-17", "2026-11-16"]
            maps = "".join(
                f"<sitemap><loc>{name}</loc><lastmod>{day}</lastmod></sitemap>"
                for name, day in zip(names, days, strict=True)
            )
            return [answer(f"<sitemapindex>{maps}</sitemapindex>".encode())]
        if path == "/1.xml.gz":
            pages = "".join(f"<url><loc>/flood-{n}</loc></url><url><loc>/fire-{n}</loc></url>" for n in range(1_200))
            packed = gzip.compress(f"<urlset>{pages}</urlset>".encode())
            return [answer(packed)]
        if path == "/2.xml":
            title = "<n:title>洪水 in town</n:title><n:publication_date>2026-11-17T08:00Z</n:publication_date>"
            entries = (
                f"<url><loc>/n/1</loc><n:news xmlns:n='n'>{title}</n:news></url>"
                "<url><loc>/n/flood-777</loc><lastmod>2026-10-01</lastmod></url>"
            )
            return [answer(f"<urlset>{entries}</urlset>".encode())]
        return [answer(f"<html><title>page</title><body><p>{TEXT}{path}</p></body></html>".encode())]

    host = serve(site)
    file = {
        "kind": "sitemap",
        "base": f"{host.url}/sitemap.xml",
        "content": {"title": "css:title", "content": "css:body"},
        "politeness": {"delay": 0, "concurrency": 8},
    }
    crawl.write_site("s", file)
    crawl.submit(["s"], ["flood 777", "洪水"], pages=3, since="2026-11-01")
    crawl.finish(producers=1, ALLOW_PRIVATE_ADDRESSES=1)
    asked = Counter(one.path for one in host.asked)
    assert {path for path in asked if ".xml" in path} == {"/sitemap.xml", "/1.xml.gz", "/2.xml"}
    assert asked.total() == len(asked) + 1  # robots.txt by the submission, too, and all else once
    assert {item["url"].removeprefix(host.url) for item in crawl.items()} == {"/flood-777", "/n/1"}
