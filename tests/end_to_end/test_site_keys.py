"""What site files can say beyond selectors, each key by a crawl."""

from __future__ import annotations

import json
import time
from collections import Counter
from urllib.parse import parse_qs, urlsplit

from hostile.hostile_wire_bodies import answer
from waiting import until

TEXT = "Some words of a page, one after the other. " * 5


def page(body, status=b"200 OK"):
    return [answer(f"<html><title>page</title><body>{body}</body></html>", status=status)]


def linked(path):
    """Searches of three pages, each with a link to the next, the last one's to the first; none for `nothing`."""
    query = parse_qs(urlsplit(path).query)
    if path.startswith("/find"):
        number = int(query.get("at", ["1"])[0])
        if query["q"] == ["nothing"]:
            return page("no results", b"404 Not Found")
        following = f"/find?q=flood&at={number + 1}" if number < 3 else "/find?q=flood"
        return page(f'<a class="result" href="/list/{number}">list</a><a rel="next" href="{following}">next</a>')
    if path.startswith("/list/"):
        number = path.rpartition("/")[2]
        return page(f'<a href="/thread/{number}">thread</a><a href="/list/1">the first</a>')
    is_last = path.endswith("/more")
    more = "" if is_last else f'<a class="more" href="{path}/more">more</a>'
    code = f"{'elif' if is_last else 'if'} {TEXT.strip()}:\n    go"
    return page(f"<p class=by>Posted by Ann on 3 May</p><p class=head>{path}</p><pre>{code}</pre>{more}")


def test_pages_link_to_the_next_one_lists_lead_on_and_values_are_cut(serve, crawl):
    host = serve(linked)
    site = {
        "search": {"url": f"{host.url}/find?q={{query}}", "paging": {"kind": "link"}},
        "results": {"links": "css:a.result", "next": "css:a[rel=next]", "empty_status": [404]},
        "content": {
            "title": "css:title",
            "author": {"select": "css:.by", "pattern": "by (.+) on"},
            "content": {"select": "css:pre", "keep_whitespace": True},
            "extra": {
                "code": {"select": "css:pre", "keep_whitespace": True},
                "heads": {"select": "css:.head", "all": True, "first_page_only": True},
            },
            "next_page": "css:a.more",
        },
        "follow": {"items": [r"/thread/\d+$"], "deny": ["/more$"]},
        "politeness": {"delay": 0},
    }
    crawl.write_site("s", site)
    crawl.submit(["s"], ["flood", "nothing"], pages=9)
    crawl.finish(producers=1, ALLOW_PRIVATE_ADDRESSES=1)
    asked = Counter(one.path for one in host.asked)
    threads = [f"/thread/{number}" for number in (1, 2, 3)]
    assert asked == Counter(
        [
            *2 * ["/robots.txt"],  # for the submission and for the crawl
            *(f"/find?q=flood{at}" for at in ("", "&at=2", "&at=3")),
            "/find?q=nothing",
            *(f"/list/{number}" for number in (1, 2, 3)),
            *threads,
            *(f"{path}/more" for path in threads),
        ]
    )
    assert sorted((one["author"], one["extra"]["heads"]) for one in crawl.items()) == [
        ("Ann", [path]) for path in threads
    ]
    code = f"if {TEXT.strip()}:\n    go"
    assert {(one["content"], one["extra"]["code"]) for one in crawl.items()} == {(f"{code}\nel{code}", code)}
    total = crawl.total()
    assert (total["failures"], total["notes"]) == ({}, {"past-the-end": 8, "list-page": 3})


SECRET = "s3cr3t-0f-the-board"


def headers_of(asked):
    """Returns what the site's file adds to a request: Accept-Language, X-Key and Cookie, where it has them."""
    lines = (line.partition(b": ") for line in asked.head.split(b"\r\n"))
    found = {name.decode().lower(): value.decode() for name, _, value in lines}
    return tuple(found.get(name, "") for name in ("accept-language", "x-key", "cookie"))


def secret_site(host):
    return {
        "base": host.url,
        "headers": {"Accept-Language": "zh", "X-Key": "Key ${SITE_SECRET_BOARD}"},
        "cookies": {"over18": "1", "session": "${SITE_SECRET_BOARD}"},
        "search": {"url": "{base}/find?q={query}"},
        "results": {"links": "css:a"},
        "content": {"title": "css:title", "content": "css:p", "images": "css:img"},
        "politeness": {"delay": 0},
    }


def redirect(to):
    return [answer(b"", b"Location: " + to.encode(), status=b"302 Found")]


def test_headers_and_secrets_go_where_the_operator_lets_them_and_nowhere_else(serve, crawl):
    """Not to another host, by a link, a redirect or an image, nor for robots.txt, nor into Redis, items or logs."""
    pages = {
        "/find?q=flood": lambda: page(f'<a href="/own">1</a><a href="/moved">2</a><a href="{other.url}/linked">3</a>'),
        "/own": lambda: page(f'<p>{TEXT}</p><img src="/1.png"><img src="{other.url}/2.png">'),
        "/moved": lambda: redirect(f"{other.url}/target"),
        "/linked": lambda: redirect("/again"),
        "/again": lambda: page(f"<p>{TEXT}</p>"),
        "/target": lambda: redirect(f"{host.url}/back"),
        "/back": lambda: page(f"<p>{TEXT}</p>"),
    }
    host, other = (serve(lambda path: pages.get(path, lambda: [answer(b"\x89PNG\r\n\x1a\n")])()) for _ in range(2))
    crawl.write_site("s", secret_site(host))
    crawl.submit(["s"], ["flood"])
    environment = {"SITE_SECRET_BOARD": SECRET, "SITE_SECRET_HOSTS": f"SITE_SECRET_BOARD={host.url}"}
    log = crawl.finish(producers=1, environment=environment, ALLOW_PRIVATE_ADDRESSES=1, LOG_LEVEL="DEBUG")
    whole, plain, none = ("zh", f"Key {SECRET}", f"over18=1; session={SECRET}"), ("zh", "", "over18=1"), ("en", "", "")
    assert {one.path: headers_of(one) for one in host.asked} == {
        "/robots.txt": none,
        **dict.fromkeys(["/find?q=flood", "/own", "/moved", "/back", "/1.png"], whole),
    }
    assert {one.path: headers_of(one) for one in other.asked} == {
        **dict.fromkeys(["/robots.txt", "/target", "/2.png"], none),
        **dict.fromkeys(["/linked", "/again"], plain),
    }
    assert len(crawl.items()) == 3
    assert SECRET.encode() not in log
    assert SECRET not in str(crawl.items())
    for key in crawl.redis.keys("*"):
        assert SECRET.encode() not in crawl.redis.dump(key)


def test_pages_wait_while_a_secret_is_missing(serve, crawl):
    host = serve(lambda _path: page(f"<p>{TEXT}</p>"))
    crawl.write_site("s", secret_site(host))
    assert "bound to no host" in crawl.scrapy("site", "check", "s")
    failed = crawl.run("site", "check", "s", f"{host.url}/1", settings={"ALLOW_PRIVATE_ADDRESSES": 1})
    assert failed.returncode == 1
    assert "SITE_SECRET_BOARD is bound to no host: SITE_SECRET_HOSTS binds it" in failed.stderr
    crawl.submit(["s"], ["flood"])
    crawl.settings |= {"ALLOW_PRIVATE_ADDRESSES": 1, "SITE_SECRET_HOSTS": f"SITE_SECRET_BOARD={host.url}"}
    crawl.offer([f"{host.url}/1"])
    worker = crawl.worker()
    until(lambda: b"SITE_SECRET_BOARD isn't set" in worker.log.read_bytes(), "the worker's complaint")
    until(lambda: crawl.counts()["ready"] == 1, "the page to be ready again")
    worker.stop()
    assert {one.path for one in host.asked} <= {"/robots.txt"}
    checked = crawl.run("site", "check", "s", f"{host.url}/1", environment={"SITE_SECRET_BOARD": SECRET})
    assert (checked.returncode, SECRET in checked.stdout + checked.stderr) == (0, False)
    assert headers_of(host.asked[-1])[1] == f"Key {SECRET}"


THREADS = 80


def test_a_changed_definition_reaches_workers_at_once_and_loses_nothing_in_flight(serve, crawl):
    links = "".join(f'<a href="/{number}">{number}</a>' for number in range(THREADS))
    host = serve(lambda path: page(links if path.startswith("/find") else f"<h1>new</h1><p>{TEXT}</p>"))

    def submit(title):
        site = {
            "search": {"url": f"{host.url}/find?q={{query}}"},
            "results": {"links": "css:a"},
            "content": {"title": title, "content": "css:p"},
            "politeness": {"delay": 0.03},
        }
        crawl.write_site("s", site)
        crawl.submit(["s"], ["flood"], *(["--replace-sites"] if title == "css:h1" else []))

    submit("css:title")
    workers = [crawl.worker(name, STOP_WHEN_DONE=1, ALLOW_PRIVATE_ADDRESSES=1) for name in ("producer", "consumer")]
    until(lambda: len(crawl.items()) >= THREADS // 10, "the first items")
    begun = time.monotonic()
    submit("css:h1")
    until(lambda: crawl.items()[-1]["title"] == "new", "an item by the new definition")
    print(f"an item by the new definition came {time.monotonic() - begun:.2f} s after the command had begun")
    for worker in workers:
        assert worker.wait(60) == 0
    titles = [one["title"] for one in crawl.items()]
    assert titles == sorted(titles, reverse=True)  # `page` by the old definition, then `new`: none by the old one again
    assert len({one["url"] for one in crawl.items()}) == len(titles) == THREADS
    total = crawl.total()
    assert (total["failures"], total["failed"]) == ({}, 0)


def test_a_list_is_searched_for_each_combination_and_its_rows_say_what_pages_do_not(serve, crawl):
    """The list's two pages are fetched once, whatever the number of combinations."""
    rows = [("Flood in town", "Ann", 1), ("A FLOOD and a rescue", "Bob", 2), ("Weather", "Cy", 3)]

    def board(path):
        if path.startswith("/list"):
            listed = "".join(
                f"<li><h3>{title}</h3><a href='/{n}{path[-1]}'>x</a><i>{by}</i><b>{n}</b></li>" for title, by, n in rows
            )
            return page(f"<ul>{listed}</ul>")
        by = "<p class=by>Dora</p>" if path == "/21" else ""
        return page(f"{by}<p class=text>{TEXT}</p>")

    host = serve(board)
    site = {
        "base": host.url,
        "search": {"url": "{base}/list?page={page}", "paging": {"kind": "page"}},
        "results": {
            "links": "css:a",
            "rows": "css:li",
            "match": "css:h3",
            "fields": {"author": "css:i", "extra": {"views": "xpath:number(.//b)"}},
        },
        "content": {"title": "css:title", "author": "css:.by", "content": "css:.text"},
        "politeness": {"delay": 0},
    }
    crawl.write_site("s", site)
    crawl.submit(["s"], ["flood", "rescue", "storm"], pages=2)
    crawl.finish(producers=1, ALLOW_PRIVATE_ADDRESSES=1)
    assert {one.path: one for one in host.asked}.keys() == {"/robots.txt", "/list?page=1", "/list?page=2"} | {
        f"/{number}{at}" for number in (1, 2) for at in (1, 2)
    }
    assert len(host.asked) == 8  # robots.txt by the submission, too
    found = {one["url"].rpartition("/")[2]: (one["author"], one["extra"], one["keywords"]) for one in crawl.items()}
    assert found == {
        "11": ("Ann", {"views": 1}, ["flood"]),
        "12": ("Ann", {"views": 1}, ["flood"]),
        "21": ("Dora", {"views": 2}, ["flood"]),
        "22": ("Bob", {"views": 2}, ["flood"]),
    }
    total = crawl.total()
    assert total["failures"] == {}


WORDS_OF = {"/1": "STORM and rescue", "/2": "a storm, no more", "/3": "nothing of the kind", "/4": "Flood"}


def list_of_four(path):
    """A list of four pages, of which one has the words of its link alone, in its comments."""
    if path == "/list":
        return page("".join(f"<a href={target}>storm rescue</a>" for target in WORDS_OF))
    comment = "<li>a wave that <b>drowned</b> all" if path == "/4" else ""
    return page(f"<p class=text>{WORDS_OF[path]}. {TEXT}</p><ul>{comment}</ul><a class=more href=/3>3</a>")


def matching_site(host, **results):
    return {
        "search": {"url": f"{host.url}/list"},
        "results": {"links": "css:a", "every": True} | results,
        "content": {"content": "css:.text", "comments": {"each": "css:li", "text": "css:b"}},
        "politeness": {"delay": 0},
    }


def outcome(crawl, plan):
    """Returns which pages became items of a plan, with their words; and the plan's failures."""
    items = {one["url"][-2:]: one["combinations"] for one in crawl.items() if one["plan"] == plan}
    return items, next(row["failures"] for row in crawl.json("ledger", plan)["rows"])


def test_pages_are_taken_whose_text_has_the_words_of_a_combination_and_others_are_told_of(serve, crawl):
    crawl.write_site("s", matching_site(serve(list_of_four), match_text=True))
    words = {"what": {"optional": ["storm", "flood"]}, "more": {"optional": ["rescue", "drowned"]}}
    crawl.submit(["s"], [], keywords=words)
    crawl.finish(producers=1, ALLOW_PRIVATE_ADDRESSES=1)
    taken = {"/1": [["rescue", "storm"]], "/4": [["drowned", "flood"]]}
    assert outcome(crawl, "plan") == (taken, {"lacks-words": 2})
    refused = crawl.items()[0]["url"][:-1] + "3"
    assert "failed for good with lacks-words: its text has all words of no" in crawl.scrapy("seeds", "show", refused)
    assert "lacks-words" in crawl.scrapy("plan", "show", "plan")


def test_a_page_that_two_plans_want_is_taken_by_each_for_its_own_words(serve, crawl):
    """Also where one has asked before the other, or asks for no words in the text."""
    host = serve(list_of_four)
    crawl.write_site("s", matching_site(host))
    crawl.submit(["s"], ["flood", "storm"], name="first", match_text=True)
    crawl.submit(["s"], ["nothing"], name="second", match_text=True)
    crawl.submit(["s"], ["storm"], name="all")
    crawl.finish(producers=1, ALLOW_PRIVATE_ADDRESSES=1)
    crawl.submit(["s"], ["rescue"], name="late", match_text=True)
    crawl.finish(producers=1, ALLOW_PRIVATE_ADDRESSES=1)

    def taken(plan):
        told = [line for line in map(json.loads, crawl.lines()) if line["plan"] == plan]
        return {line["url"][-2:]: line["combinations"] for line in told}

    assert taken("first") == {"/1": [["storm"]], "/2": [["storm"]], "/4": [["flood"]]}
    assert taken("second") == {"/3": [["nothing"]]}
    assert taken("all") == {path: [["storm"]] for path in WORDS_OF}
    assert taken("late") == {"/1": [["rescue"]]}
    failures = {row["plan"]: row["failures"] for row in crawl.json("ledger")["rows"]}
    assert failures == {
        "first": {"lacks-words": 1},
        "second": {"lacks-words": 3},
        "all": {},
        "late": {"lacks-words": 3},
    }


def test_a_replaced_plan_has_those_pages_again_that_lacked_its_words(serve, crawl):
    """And a plan that asks for words later has pages fetched that were delivered, to look for them."""
    crawl.write_site("s", matching_site(serve(list_of_four)))
    crawl.submit(["s"], ["storm"], match_text=True)
    crawl.finish(producers=1, ALLOW_PRIVATE_ADDRESSES=1)
    assert outcome(crawl, "plan")[1] == {"lacks-words": 2}
    crawl.submit(["s"], ["storm"], "--replace")
    crawl.finish(producers=1, ALLOW_PRIVATE_ADDRESSES=1)
    assert set(outcome(crawl, "plan")[0]) == set(WORDS_OF)
    crawl.submit(["s"], ["rescue"], name="late", match_text=True)
    crawl.finish(producers=1, ALLOW_PRIVATE_ADDRESSES=1)
    assert outcome(crawl, "late") == ({"/1": [["rescue"]]}, {"lacks-words": 3})


def test_a_replaced_plan_looks_for_its_new_words_in_pages_that_lacked_the_old_ones(serve, crawl):
    """Or has those pages as it finds them, where it asks for no words any more."""
    crawl.write_site("s", matching_site(serve(list_of_four)))
    crawl.submit(["s"], ["storm"], match_text=True)
    crawl.finish(producers=1, ALLOW_PRIVATE_ADDRESSES=1)
    assert set(outcome(crawl, "plan")[0]) == {"/1", "/2"}
    crawl.submit(["s"], ["flood"], "--replace", match_text=True)
    crawl.finish(producers=1, ALLOW_PRIVATE_ADDRESSES=1)
    assert outcome(crawl, "plan")[0]["/4"] == [["flood"]]
    crawl.submit(["s"], ["wave"], "--replace")
    crawl.finish(producers=1, ALLOW_PRIVATE_ADDRESSES=1)
    assert outcome(crawl, "plan")[0]["/3"] == [["wave"]]
    assert crawl.total()["difference"] == 0


def test_a_twin_is_fetched_in_place_of_a_page_and_a_second_request_is_joined(serve, crawl):
    """What can't be joined is tried again, then named in the item.

    Another host is asked if the file names it, not if a page does, and nothing is that its robots.txt forbids.
    """
    users = {"1": b'{"name": "Ann", "posts": 7}', "2": b"{"}

    def api(path):
        kind, _, number = path.removeprefix("/api/").partition("/")
        if kind == "users":
            return [answer(users[number])] if number in users else page("", b"500 Broken")
        more = f'"next": "/thread/{number}-2",' if number == "1" else ""
        text = f'{{"title": "t{number}", "html": "<p>{number}: {TEXT}<img src=\'a.png\'>", {more} "user": "{number}"}}'
        return [answer(text.encode() if path.startswith("/api/thread/") else b"<html>")]

    host = serve(api, robots=lambda _path: [answer(b"User-agent: *\nDisallow: /api/users/4")])
    other = serve(
        lambda path: [answer(b"<h1>rank " + path[-1:].encode())],
        robots=lambda _path: [answer(b"User-agent: *\nDisallow: /ranks/2")],
    )
    site = {
        "base": host.url,
        "content": {
            "type": "json",
            "fetch": {"pattern": r"/thread/(?P<id>[\d-]+)", "url": "{base}/api/thread/{id}"},
            "title": "json:title",
            "content": {"select": "json:html", "html": True},
            "images": {"select": "json:html", "html": True},
            "next_page": "json:next",
            "joined": [
                {
                    "url": "{base}/api/users/{user}",
                    "values": {"user": "json:user"},
                    "type": "json",
                    "author": "json:name",
                    "title": "json:name",
                    "extra": {"posts": "json:posts"},
                },
                {"url": "http://127.0.0.{user}/", "values": {"user": "json:user"}, "title": "css:h1"},
                {
                    "url": f"{other.url}/ranks/{{user}}",
                    "values": {"user": "json:user"},
                    "extra": {"rank": "css:h1"},
                },
            ],
        },
        "politeness": {"delay": 0},
    }
    crawl.write_site("s", site)
    crawl.settings |= {"ALLOW_PRIVATE_ADDRESSES": 1, "RETRY_BASE_SECONDS": 0.01, "MAX_ATTEMPTS": 2}
    crawl.offer([f"{host.url}/thread/{number}" for number in (1, 2, 3, 4)] + [f"{host.url}/other"])
    log = crawl.finish()
    found = {one["url"].removeprefix(host.url): one for one in crawl.items()}
    assert {path: (one["title"], one["author"], one["extra"], one["missing_pages"]) for path, one in found.items()} == {
        "/thread/1": ("t1", "Ann", {"posts": 7, "rank": "rank 1"}, []),
        "/thread/2": ("t2", None, {}, [f"{host.url}/api/users/2", f"{other.url}/ranks/2"]),
        **{f"/thread/{n}": (f"t{n}", None, {"rank": f"rank {n}"}, [f"{host.url}/api/users/{n}"]) for n in (3, 4)},
    }
    assert "/robots.txt" in {one.path for one in other.asked}
    assert "/ranks/2" not in {one.path for one in other.asked}
    assert found["/thread/1"]["images"][0]["url"] == f"{host.url}/thread/a.png"
    assert found["/thread/1"]["content"].count("Some words") == 10
    asked = Counter(one.path for one in host.asked)
    assert (asked["/api/users/3"], asked["/api/users/4"], asked["/api/thread/1-2"], asked["/thread/1"]) == (2, 0, 1, 0)
    assert b"joined http-500" in log
    assert crawl.total()["failures"] == {"not-json": 1}
    shown = crawl.json("site", "check", "s", f"{host.url}/thread/1")
    assert (shown["url"], shown["fields"]["joined"]) == (
        f"{host.url}/thread/1",
        [f"{host.url}/api/users/1", "", f"{other.url}/ranks/1"],
    )
