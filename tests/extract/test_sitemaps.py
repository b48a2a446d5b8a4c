"""Sitemaps of pages and of sitemaps, packed ones, broken and hostile ones."""

import gzip
import resource

import pytest
from extract.pages import html, reason

from crawler import extract, sites
from crawler.extract import sitemaps
from crawler.extract.sitemaps import MAX_SITEMAP_BYTES, MAX_SITEMAP_PAGES, changed_since, parse_sitemap

HEAD = "<?xml version='1.0' encoding='UTF-8'?><urlset xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'>"
PAGE = "<url><loc>http://x.org/city/flood-in-town_2</loc><lastmod>2026-11-20T08:00:00+08:00</lastmod></url>"
ONE = [
    {
        "link": "http://x.org/city/flood-in-town_2",
        "changed": "2026-11-20T08:00:00+08:00",
        "words": "city flood in town 2",
    }
]
SITE = sites.parse("name: map\nkind: sitemap\nbase: http://127.0.0.1:8800/sitemap.xml", "map.yaml")
ENTITIES = "".join(f"<!ENTITY e{n} '{f'&e{n - 1};' * 10}'>" for n in range(1, 30))
NEEDS_MIB = 300  # that a sitemap of 50 MB may take, itself included


def read(body, content_type="application/xml"):
    return parse_sitemap(html(body, content_type))


@pytest.mark.parametrize(
    "body",
    [
        f"{HEAD}{PAGE}</urlset>",
        f"\ufeff{HEAD}{PAGE}</urlset>",
        f"{HEAD}{PAGE}",  # cut off
        f"<urlset>{PAGE}</urlset>",  # without a namespace
        f"<s:urlset xmlns:s='urn:any'>{PAGE.replace('<', '<s:').replace('<s:/', '</s:')}</s:urlset>",
        f"<br/>Warning: x in y.php\n{HEAD}{PAGE}</urlset>",
        f"{HEAD}{PAGE}</b><url>".replace("<lastmod>", "\x0b<lastmod> "),
    ],
    ids=["whole", "mark", "cut off", "no namespace", "prefix", "warning", "broken"],
)
@pytest.mark.parametrize("pack", [str.encode, lambda text: gzip.compress(text.encode())], ids=["plain", "packed"])
def test_each_form_gives_the_same_pages(body, pack):
    found = read(pack(body), "application/x-gzip")
    assert [one for one in found["pages"] if one.get("link")] == ONE


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be"])
@pytest.mark.parametrize("declares", [True, False])
def test_a_sitemap_in_utf_16_is_read(encoding, declares):
    head = "<?xml version='1.0' encoding='UTF-16'?>" if declares else ""
    body = f"{head}<urlset><url><loc>http://x.org/ä</loc></url></urlset>"
    assert [page["link"] for page in read(body.encode(encoding))["pages"]] == ["http://x.org/ä"]
    lines = read("http://x.org/a\nhttp://x.org/ä".encode(encoding), "text/plain")
    assert [page["link"] for page in lines["pages"]] == ["http://x.org/a", "http://x.org/ä"]


def test_an_address_without_an_element_of_its_own_is_read():
    assert read("<sitemapindex><sitemap> http://x.org/a.xml </sitemap></sitemapindex>")["sitemaps"] == [
        {"link": "http://x.org/a.xml"}
    ]


def test_an_index_names_sitemaps_those_that_changed_last_first():
    maps = [("a", "2026-01-01"), ("b", ""), ("c", "2026-11-01")]
    body = "".join(
        f"<sitemap><loc>http://x.org/{name}.xml.gz</loc>{day and f'<lastmod>{day}</lastmod>'}</sitemap>"
        for name, day in maps
    )
    found = read(f"<sitemapindex>{body}</sitemapindex>")
    assert [one["link"][-8] for one in found["sitemaps"]] == ["c", "a", "b"]
    assert found["pages"] == []


def test_extensions_say_more_of_a_page():
    body = (
        f"{HEAD}<url><loc> http://x.org/?id=7&amp;a=%E6%B4%AA </loc>"
        "<image:image xmlns:image='i'><image:loc>http://x.org/1.jpg</image:loc><image:title>no</image:title></image:image>"
        "<news:news xmlns:news='n'><news:publication><news:name>Daily</news:name><news:language>zh</news:language>"
        "</news:publication><news:title><![CDATA[水 & land]]></news:title>"
        "<news:publication_date>2026-11-19</news:publication_date></news:news></url></urlset>"
    )
    assert read(body)["pages"] == [
        {
            "link": "http://x.org/?id=7&a=%E6%B4%AA",
            "images": ["http://x.org/1.jpg"],
            "publication": "Daily",
            "language": "zh",
            "title": "水 & land",
            "published": "2026-11-19",
            "words": "id 7 a 洪",
        }
    ]


def test_one_that_is_packed_in_parts_is_read_whole():
    packed = gzip.compress(f"{HEAD}{PAGE}".encode()) + gzip.compress(b"<url><loc>/2</loc></url></urlset>")
    assert [one["link"] for one in read(packed)["pages"]] == [ONE[0]["link"], "/2"]


def test_a_list_of_addresses_is_a_sitemap():
    body = "".join(f"http://x.org/{number}\r\n" for number in range(40_000)) + "no address\nhttp://x.org/last"
    found = read(body, "text/plain")["pages"]
    assert (len(found), found[0]["link"], found[-1]["link"]) == (40_001, "http://x.org/0", "http://x.org/last")


def test_what_changed_last_before_a_day_is_left_out_and_what_does_not_say_stays():
    days = ["2026-11-02T23:00:00Z", "2026-11-01", "2026-10-31", "2026-11", "2026-10", "2026", "", "soon"]
    found = changed_since({"pages": [{"changed": day} for day in days]}, "2026-11-01")
    assert [one["changed"] for one in found["pages"]] == [
        "2026-11-02T23:00:00Z",
        "2026-11-01",
        "2026-11",
        "2026",
        "",
        "soon",
    ]
    assert changed_since({"pages": [{"published": "2026-10-31"}]}, "2026-11-01") == {"pages": []}


def test_its_links_are_pages_or_lists():
    found = extract.links(html(f"{HEAD}{PAGE}</urlset>"), SITE)
    assert (found.urls, found.lists) == ((ONE[0]["link"],), ())
    assert found.rows[ONE[0]["link"]].text == "city flood in town 2"
    index = "".join(f"<sitemap><loc>{url}</loc></sitemap>" for url in ("/1.xml", "http://y.org/2.xml", "/1.xml"))
    found = extract.links(html(f"<sitemapindex>{index}</sitemapindex>", url="http://127.0.0.1:8800/sitemap.xml"), SITE)
    assert [(one.url, one.page) for one in found.lists] == [("http://127.0.0.1:8800/1.xml", 2)]
    assert (found.urls, found.next, found.empty) == ((), None, False)


def test_a_sitemap_may_have_more_links_than_any_other_page():
    urls = "".join(f"<url><loc>http://x.org/{number}</loc></url>" for number in range(11_000))
    assert len(extract.links(html(f"{HEAD}{urls}</urlset>"), SITE, max_links=1_000).urls) == 11_000


@pytest.mark.parametrize(
    "body",
    [
        HEAD + "<url>" * 100_000,
        HEAD + "<url><loc>" + "x" * 4_000_000,
        HEAD + "<url>" + "<image><loc>a</loc></image>" * 100_000,
        HEAD + "&" * 250_000,
        HEAD + "<![CDATA[" * 250_000,
        HEAD + "<url " + " ".join(f'a{n}=""' for n in range(200_000)) + ">",
        f"<?xml version='1.0'?><!DOCTYPE urlset [<!ENTITY e0 'x'>{ENTITIES}]><urlset>{PAGE.replace('town', '&e29;')}",
        gzip.compress(HEAD.encode() + b" " * (MAX_SITEMAP_BYTES - 1_000)),
    ],
    ids=["pages", "text", "images", "ampersands", "unclosed", "attributes", "entities", "bomb"],
)
def test_a_hostile_sitemap_takes_little(body):
    before = resource.getrusage(resource.RUSAGE_SELF)
    found = read(body)
    assert sum(map(len, found.values())) <= MAX_SITEMAP_PAGES
    after = resource.getrusage(resource.RUSAGE_SELF)
    assert after.ru_utime - before.ru_utime < 10
    assert (after.ru_maxrss - before.ru_maxrss) / 1024 < NEEDS_MIB


def test_what_is_no_sitemap_says_so(monkeypatch):
    monkeypatch.setattr(sitemaps, "MAX_ELEMENTS", 1_000)
    monkeypatch.setattr(sitemaps, "MAX_SITEMAP_BYTES", 1_000_000)
    assert reason(read, "<html><body>Log in</body></html>") == "not-sitemap"
    assert reason(read, "") == "not-sitemap"
    assert reason(read, b"\x1f\x8bjunk") == "not-sitemap"
    assert reason(read, HEAD.encode() + b" " * 1_000_000) == "too-large"
    assert reason(read, gzip.compress(HEAD.encode() + b" " * 1_000_000)) == "too-large"
    assert reason(read, HEAD + "<a></a>" * 100_000) == "too-many-tags"


def test_one_packed_in_parts_is_read_whole_and_in_bounded_time():
    parts = [gzip.compress(part.encode()) for part in (HEAD, PAGE * 2_000, PAGE, "</urlset>")]
    assert len(read(b"".join(parts))["pages"]) == 2_001
    assert len(read(b"".join(parts) + b"junk behind it")["pages"]) == 2_001
    empty = gzip.compress(b"")
    before = resource.getrusage(resource.RUSAGE_SELF).ru_utime
    assert reason(read, empty * 200_000) == "too-large"
    assert resource.getrusage(resource.RUSAGE_SELF).ru_utime - before < 5


def test_a_tag_that_never_ends_takes_linear_time():
    before = resource.getrusage(resource.RUSAGE_SELF).ru_utime
    assert read(f"{HEAD}{PAGE}<!-- </" + "x" * 10_000_000)["pages"]
    assert resource.getrusage(resource.RUSAGE_SELF).ru_utime - before < 5


def test_stray_ampersands_are_counted_as_elements_are():
    assert reason(read, HEAD + "&" * 2_100_000) == "too-many-tags"
    assert len(read(HEAD + PAGE.replace("_2", "_2?a&b") * 1_000 + "</urlset>")["pages"]) == 1_000
