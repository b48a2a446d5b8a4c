"""A site of which a plan knows the address alone: its OpenSearch description says how it is searched."""

from __future__ import annotations

from urllib.parse import parse_qs, quote, urlsplit

import yaml

PAGES = {number: f"Flood number {number} in the northern valley" for number in range(30)}
LINK = '<link rel=search type="application/opensearchdescription+xml" href=/os.xml>'


def answered(body, kind="text/html", status="200 OK"):
    head = [f"HTTP/1.1 {status}", f"Content-Type: {kind}", f"Content-Length: {len(body.encode())}", "Connection: close"]
    return ["\r\n".join([*head, "", body]).encode()]


def site_of(place):
    """Returns what answers for a site; `place` holds its host once that is known."""

    def answer(target):
        parts = urlsplit(target)
        if parts.path == "/os.xml":
            url = f"{place[0].url}/find?q={{searchTerms}}&amp;page={{startPage?}}"
            body = f'<OpenSearchDescription><Url type="text/html" template="{url}"/></OpenSearchDescription>'
            return answered(body, "application/opensearchdescription+xml")
        if parts.path == "/find":
            asked = parse_qs(parts.query)
            word, at = asked["q"][0], int(asked.get("page", ["1"])[0])
            found = [number for number, title in PAGES.items() if word.lower() in title.lower()]
            rows = "".join(f"<h3><a href=/p/{n}>{PAGES[n]}</a></h3>" for n in found[at * 10 - 10 : at * 10])
            more = f'<a href="/find?q={quote(word)}&page={at + 1}">Next</a>' if found[at * 10 :] else ""
            return answered(f"{LINK}<ul><li><a href=/>Home</a></ul>{rows or '<p class=none>Nothing</p>'}{more}")
        number = parts.path.removeprefix("/p/")
        if number.isdigit():
            title = PAGES[int(number)]
            return answered(
                f"{LINK}<h1>{title}</h1><article><p>{title} has risen by a metre. {'It rains. ' * 30}</article>"
            )
        return answered(f"{LINK}<h1>Valley news</h1><ul><li><a href=/>Home</a></ul>")

    return answer


def test_three_lines_and_a_plan_bring_all_that_its_search_finds(crawl, serve):
    place = []
    place.append(serve(site_of(place), robots=lambda _path: answered("User-agent: *\n", "text/plain")))
    site = {"name": "s", "kind": "opensearch", "base": place[0].url, "politeness": {"delay": 0}}
    crawl.write_site("s", yaml.safe_dump(site))
    plan = {"name": "plan", "sites": ["s"], "keywords": {"word": {"required": ["flood"]}}}
    (crawl.folder / "plan.yaml").write_text(yaml.safe_dump(plan), encoding="utf-8")
    crawl.scrapy("plan", "submit", crawl.folder / "plan.yaml")
    crawl.finish(producers=1)
    assert sorted(item["title"] for item in crawl.items()) == sorted(PAGES.values())
    assert crawl.total()["failed"] == 0
