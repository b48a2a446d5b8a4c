"""A site of which a plan knows the address alone: its OpenSearch description says how it is searched."""

from __future__ import annotations

from urllib.parse import parse_qs, quote, urlsplit

from hostile.hostile_wire_bodies import answer

TITLES = {number: f"Flood number {number} in the northern valley" for number in range(30)}
LINK = '<link rel=search type="application/opensearchdescription+xml" href=/os.xml>'


def test_three_lines_and_a_plan_bring_all_that_its_search_finds(crawl, serve):
    def site(target):
        parts = urlsplit(target)
        if parts.path == "/os.xml":
            url = f"{host.url}/find?q={{searchTerms}}&amp;page={{startPage?}}"
            return [answer(f'<OpenSearchDescription><Url type="text/html" template="{url}"/></OpenSearchDescription>')]
        if parts.path == "/find":
            asked = parse_qs(parts.query)
            word, page = asked["q"][0], int(asked.get("page", ["1"])[0])
            numbers = [number for number, title in TITLES.items() if word.lower() in title.lower()]
            rows = "".join(f"<h3><a href=/p/{n}>{TITLES[n]}</a></h3>" for n in numbers[page * 10 - 10 : page * 10])
            more = f'<a href="/find?q={quote(word)}&page={page + 1}">Next</a>' if numbers[page * 10 :] else ""
            return [answer(f"{LINK}<ul><li><a href=/>Home</a></ul>{rows or '<p class=none>Nothing</p>'}{more}")]
        if (number := parts.path.removeprefix("/p/")).isdigit():
            title = TITLES[int(number)]
            text = f"{title} has risen by a metre. {'It rains. ' * 30}"
            return [answer(f"{LINK}<h1>{title}</h1><article><p>{text}</article>")]
        return [answer(f"{LINK}<h1>Valley news</h1><ul><li><a href=/>Home</a></ul>")]

    host = serve(site)
    crawl.write_site("s", {"kind": "opensearch", "base": host.url, "politeness": {"delay": 0}})
    crawl.submit(["s"], ["flood"], pages=5)
    crawl.finish(producers=1)
    assert sorted(item["title"] for item in crawl.items()) == sorted(TITLES.values())
    assert crawl.total()["failed"] == 0
