"""Pages that are empty until their scripts have run: rendered by real workers, under all rules of the crawl."""

from __future__ import annotations

import itertools
import json
from collections import Counter
from types import SimpleNamespace

import private_hosts
import pytest
from crawl import Crawl
from hostile.hostile_wire_bodies import answer
from hostile.hostile_wire_server import NO_RULES, Host
from waiting import until
from web_socket_site import served_in_a_thread

from testbed.forum import content

WORDS = ["重庆", "停电", "地震", "暴雨"]  # three threads have all of them
CONTENT = {"title": "css:h1.title", "author": "css:.author", "content": {"select": "css:.posts", "required": True}}
HERE = "<h1 class=title>page</h1><div class=posts>here</div>"
APP = """
const at = (name) => document.querySelector("." + name);
async function data(url) {
  const answer = await fetch(url);
  at("posts").textContent += answer.ok ? (await answer.json()).text : "";
}
"""
SHELL = '<!DOCTYPE html><h1 class="title">page</h1><div class="posts"></div><script src="/app.js"></script>'


def script_page(script):
    """Returns a page that marks itself when its script has ended; no busy machine makes it complete before."""
    return (
        f"{SHELL}<script>(async () => {{ {script} }})().finally(() => {{ document.body.className = 'done'; }})</script>"
    )


def json_answer(text, status=b"200 OK"):
    anybody, body = b"Access-Control-Allow-Origin: *", json.dumps({"text": text})
    return answer(body, anybody, status=status, kind=b"application/json")


def obeying(_path):
    return [answer("User-agent: *\nDisallow: /kept\n", kind=b"text/plain")]


SCRIPTS = {
    "/plain": "await data('/data')",
    "/again": "await data('/data')",
    "/elsewhere": "await data('OTHER/data')",
    "/obeying": "await data('/data'); await Promise.allSettled([data('/kept'), data('OTHER/kept')])",
    "/moving": "location = 'OTHER/moved'; await new Promise(() => {})",
    "/busy": "await data('/data'); await data('/busy-data')",
    "/posting": "await data('/data'); await fetch('/data', {method: 'DELETE'})",
    "/pictures": "at('posts').innerHTML = '<img src=/picture.png>'; await data('/data')",
}


class Site:
    """A host that is crawled, and another one, from which its pages load."""

    def __init__(self):
        self.other, self.own = Host(self.of_other, robots=obeying), Host(self.of_own, robots=obeying)
        self.busy = itertools.count()

    def of_other(self, path):
        if path == "/moved":
            page = script_page("at('posts').textContent = 'moved'")
            return [answer(page.replace("/app.js", f"{self.own.url}/app.js"))]
        return [json_answer(f"from elsewhere {path}")]

    def of_own(self, path):
        if path in SCRIPTS:
            return [answer(script_page(SCRIPTS[path].replace("OTHER", self.other.url)))]
        if path == "/busy-data":
            return [json_answer(" whole") if next(self.busy) else json_answer("", b"503 Busy")]
        answers = {
            "/cookies": answer(script_page("await data('/data?cookies')"), b"Set-Cookie: sid=7"),
            "/stepped": answer(f"{HERE}<button>b</button>"),
            "/broken": answer(HERE),
            "/never": answer(SHELL.replace("></div>", ">data</div>")),
            "/app.js": answer(APP, kind=b"text/javascript"),
            "/data": json_answer("data"),
            "/data?cookies": json_answer("data"),
        }
        return [answers.get(path, NO_RULES)]


PAGES = [*(path[1:] for path in SCRIPTS), "cookies", "never"]
PLAYED = {
    "stepped": [{"click": "button"}],
    "broken": [{"wait": ".title"}, {"click": "[title='../../x']", "timeout": 0.2}],
}


@pytest.fixture(scope="module")
def rendered(chromium_path, fork_server, redis_server, tmp_path_factory):
    """What a worker makes of the pages: `items` by path, and what was `asked` of the two hosts."""
    site = Site()
    evidence = tmp_path_factory.mktemp("evidence")
    settings = {"ALLOW_PRIVATE_ADDRESSES": 1, "RETRY_BASE_SECONDS": 0.1, "KEY_PREFIX": "rendered"}
    settings |= {"BROWSER_EVIDENCE_DIR": evidence, "MAX_ATTEMPTS": 2}
    definition = {
        "base": site.own.url,
        "content": CONTENT,
        "politeness": {"delay": 0, "concurrency": 4},
        "headers": {"X-Own": "of the site"},
        "cookies": {"over18": "1"},
        "render": {"content": {"when": "always", "settle": {"selector": "css:body.done"}}},
    }
    with Crawl(fork_server, tmp_path_factory.mktemp("rendered"), redis_server.url, settings) as crawl:
        crawl.write_site("s", definition)
        definition["render"]["content"]["settle"] |= {"cap": 1}
        crawl.write_site("capped", definition)
        crawl.offer(f"{site.own.url}/{name}" for name in PAGES if name != "never")
        crawl.offer([f"{site.own.url}/never"], site="capped")
        for name, steps in PLAYED.items():
            render = {"content": {"when": "always", "steps": steps}}
            crawl.write_site(name, definition | {"render": render})
            crawl.offer([f"{site.own.url}/{name}"], site=name)
        crawl.finish()
        yield SimpleNamespace(
            items={item["url"].rpartition("/")[2]: item for item in crawl.items()},
            number=len(crawl.items()),
            own=site.own,
            other=site.other,
            unfinished={url.rpartition("/")[2]: state for url, state in crawl.unfinished().items()},
            pictures=[picture.name for picture in evidence.iterdir()],
        )
    site.own.close()
    site.other.close()


def asked(host):
    return Counter(one.path for one in host.asked)


def test_every_page_becomes_one_item_as_its_scripts_have_left_it(rendered):
    found = {name: item["content"] for name, item in rendered.items.items()}
    assert found == {
        "plain": "data",
        "cookies": "data",
        "again": "data",
        "elsewhere": "from elsewhere /data",
        "obeying": "data",
        "moved": "moved",
        "busy": "data whole",
        "posting": "data",
        "pictures": "data",
        "never": "data",
        "stepped": "here",
    }
    assert rendered.number == len(found)


def test_a_step_that_can_not_be_done_fails_its_page_alone_and_leaves_a_picture(rendered):
    """The page is tried again, and fails by the reason; what it looked like is in the folder for evidence."""
    assert rendered.unfinished == {"broken": ("failed", "step-failed")}
    assert rendered.pictures == ["broken-content-2.step.jpg"]


def test_an_item_says_what_its_page_was_complete_by(rendered):
    found = {name: item["rendered"] for name, item in rendered.items.items()}
    assert found.pop("never") == "cap"
    del found["stepped"]
    assert set(found.values()) == {"selector"}


def test_scripts_come_once_and_each_page_is_fetched_once(rendered):
    own = asked(rendered.own)
    assert own["/app.js"] == 2  # once for each site, since each has headers of its own
    assert {own[f"/{name}"] for name in PAGES} - {2} == {1}
    assert own["/busy"] == 2  # the one that lacked data was tried again


def test_pages_keep_to_robots_txt_of_every_host_change_nothing_and_load_no_pictures(rendered):
    own, other = asked(rendered.own), asked(rendered.other)
    assert not {"/kept", "/picture.png"} & (own.keys() | other.keys())
    assert own["/robots.txt"] == other["/robots.txt"] == 1
    assert not any(one.head.startswith(b"DELETE") for one in rendered.own.asked)


def test_the_site_s_headers_and_a_page_s_own_cookies_go_to_its_own_hosts_alone(rendered):
    without = {one.path for one in rendered.own.asked if b"X-Own: of the site" not in one.head}
    assert without == {"/robots.txt"}
    assert not any(b"X-Own" in one.head for one in rendered.other.asked)
    agents = {line for one in rendered.own.asked for line in one.head.split(b"\r\n") if b"user-agent" in line.lower()}
    assert len(agents) == 1
    with_cookie = {one.path: one.head for one in rendered.own.asked if b"sid=7" in one.head}
    assert with_cookie.keys() - {"/app.js"} == {"/data?cookies"}  # whichever page asks first, has the script for all
    assert b"Cookie: over18=1; sid=7\r\n" in with_cookie["/data?cookies"]


def test_a_node_without_a_browser_asks_for_no_page_that_needs_one(crawl, serve):
    """The page waits, and commands say what for, until there is a browser."""
    host = serve(answer(HERE))
    crawl.write_site("s", {"content": CONTENT, "render": {"content": "always"}})
    crawl.offer([host.page])
    worker = crawl.worker(BROWSER_PATH="/nowhere/chromium", SESSION_SECONDS=2)
    until(lambda: any(one["why_no_browser"] for one in crawl.workers()), "a worker that says what it lacks")
    [seed] = crawl.json("seeds", "show", host.page)["seeds"]
    assert (host.asked, seed["state"]) == ([], "ready")
    why = "may have to be rendered, and no consumer can: no browser: BROWSER_PATH names /nowhere/chromium"
    assert why in seed["why"]
    assert "renders no pages: no browser" in crawl.scrapy("nodes")
    assert worker.stop() == 0
    assert crawl.counts()["failed"] == 0


# One document for all addresses: what it shows is named by what stands behind its #, as small frameworks do it.
ROUTED = """<!DOCTYPE html><main></main><script>
const show = async () => {
  document.body.className = "";
  const answer = await fetch("/data" + location.hash.slice(1));
  document.querySelector("main").innerHTML = (await answer.json()).text;
  document.body.className = "done";
};
addEventListener("hashchange", show);
show();
</script>"""


def thread(number, text, more=""):
    return f'<h1 class="title">Thread {number}</h1><div class="posts">{text}</div>{more}'


ROUTES = {
    "": thread(0, "start"),
    "/search/a%20flood": '<ol><li><a href="#/thread/1">1</a><li><a href="#/thread/2?page=1">2</a></ol>',
    "/thread/1": thread(1, "first", '<a class="related" href="#/thread/3">3</a><a class="related" href="#!">top</a>'),
    "/thread/2?page=1": thread(2, "second, ", '<a class="next" href="#/thread/2?page=2">more</a>'),
    "/thread/2?page=2": thread(2, "and more"),
    "/thread/3": thread(3, "third"),
    "/thread/4": thread(4, "fourth"),
}


@pytest.mark.usefixtures("chromium_path")
@pytest.mark.parametrize("when", ["always", pytest.param("auto", marks=[pytest.mark.faults])])
def test_routes_of_scripts_are_pages_of_their_own_where_a_site_renders(crawl, serve, when):
    def page(path):
        if path == "/old":
            return [answer(b"", b"Location: /", status=b"302 Found")]
        return [json_answer(ROUTES[path.removeprefix("/data")]) if path.startswith("/data") else answer(ROUTED)]

    host = serve(page)
    place = host.url
    render = {"when": when, "settle": {"selector": "css:body.done"}}
    definition = {
        "base": place,
        "search": {"url": "{base}/#/search/{query}"},
        "results": {"links": "css:ol a"},
        "content": CONTENT | {"next_page": "css:a.next", "max_pages": 3},
        "follow": {"links": "css:a.related", "depth": 1},
        "politeness": {"delay": 0, "concurrency": 2},
        "render": {"results": render, "content": render},
    }
    crawl.write_site("routed", definition)
    crawl.submit(["routed"], ["a flood"])
    crawl.offer([f"{place}/old#/thread/4"], site="routed")
    crawl.finish(producers=1)
    found = {item["url"]: (item["title"], item["content"]) for item in crawl.items()}
    assert found == {
        f"{place}/": ("Thread 0", "start"),
        f"{place}/#/thread/1": ("Thread 1", "first"),
        f"{place}/#/thread/2?page=1": ("Thread 2", "second,\nand more"),
        f"{place}/#/thread/3": ("Thread 3", "third"),
        f"{place}/#/thread/4": ("Thread 4", "fourth"),
    }
    assert crawl.counts()["failed"] == 0
    assert not any("#" in one.path for one in host.asked)


STEPS = [
    {"fill": {"selector": "input[name=q]", "text": "{keywords}"}},
    {"click": "text:搜索"},
    {"wait": "ol.results li"},
    {"repeat": {"steps": [{"click": "button.more"}]}},
]


@pytest.mark.faults
@pytest.mark.usefixtures("chromium_path")
@pytest.mark.parametrize("way", ["address", "steps"])
def test_a_script_built_board_is_crawled_from_its_search_to_its_items(crawl, forum, way):
    expected = content.expected_results(WORDS, "ajax")
    last = {"when": "always", "settle": {"selector": f"css:ol.results li:nth-child({len(expected)})"}}
    searches = {"address": "{base}/ajax/?q={query}", "steps": "{base}/ajax/browse?for={query}"}
    definition = {
        "base": forum.url,
        "search": {"url": searches[way]},
        "results": {"links": "css:ol.results a"},
        "content": CONTENT,
        "politeness": {"delay": 0, "concurrency": 2},
        "render": {
            "results": last | ({"steps": STEPS} if way == "steps" else {}),
            "content": {"when": "always", "settle": {"selector": "css:.posts p"}},
        },
    }
    crawl.write_site("scripted", definition)
    crawl.submit(["scripted"], [], keywords={"word": {"required": WORDS}})
    crawl.finish(producers=1)
    items = {int(item["url"].rpartition("/")[2]): item for item in crawl.items()}
    assert expected
    assert {number: item["title"] for number, item in items.items()} == {one.id: one.title for one in expected}
    assert {item["rendered"] for item in items.values()} == {"selector"}


TALKING = """<!DOCTYPE html><h1 class="title">page</h1><div class="posts"></div><script>
const say = (text) => { document.querySelector(".posts").append(text, document.createElement("br")); };
document.cookie = "seen=1";
const talk = (path) => new Promise((ended) => {
  const socket = new WebSocket(location.origin.replace("http", "ws") + path, ["odd", "chat"]);
  socket.onmessage = (event) => { say(event.data); socket.send(event.data === "once more" ? "end" : "once more"); };
  socket.onclose = (event) => { say(`closed by ${event.code}`); ended(); };
});
talk("/talk").then(() => talk("/kept")).then(() => { document.body.className = "done"; });
</script>"""


@pytest.mark.faults
@pytest.mark.usefixtures("chromium_path")
def test_web_sockets_are_carried_where_a_site_wants_them_by_the_rules_of_the_crawl(crawl):
    render = {"when": "always", "settle": {"selector": "css:body.done"}}
    answers = {"/robots.txt": ("text/plain", "User-agent: *\nDisallow: /kept\n"), "/page": ("text/html", TALKING)}
    with served_in_a_thread(answers) as origin:
        for name, wants in {"talking": ["websockets"], "silent": []}.items():
            site = {"base": origin, "content": CONTENT, "politeness": {"delay": 0}}
            crawl.write_site(name, site | {"render": {"content": render | {"wants": wants}}})
            crawl.offer([f"{origin}/page"], site=name)
        crawl.finish()
        shown = crawl.json("site", "check", "--render", crawl.folder / "sites" / "talking.yaml", f"{origin}/page")
    contents = {item["resource"]: item["content"].splitlines() for item in crawl.items()}
    assert contents["talking"] == [f"hello {origin} chat seen=1", "once more", "closed by 1000", "closed by 3000"]
    assert contents["silent"] == ["closed by 1006", "closed by 1006"]
    assert shown["fields"]["content"].splitlines() == contents["talking"]
    assert "robots.txt forbids it" in shown["unanswered"][f"{origin}/kept"]


PUBLIC, OTHER_PUBLIC = "8.8.8.8", "8.8.4.4"  # addresses only: a proxy on loopback answers in their place
PRIVATE = [*private_hosts.ONE_OF_EACH, "2130706433", "017700000001", "[64:ff9b::a00:1]", "[fd00:ec2::254]"]
REACHES_OUT = """
const hosts = $hosts;
const reached = (host, way) => fetch(`http://${host}/${way}`, {mode: "no-cors"});
const worker = (script) => new Promise((done) => {
  const one = new Worker(URL.createObjectURL(new Blob([`${script}.catch(() => 0).then(() => postMessage(0))`])));
  one.onmessage = one.onerror = done;
});
await data("/data");
await reached("$other", "page");
await Promise.allSettled(hosts.flatMap((host) => [
  reached(host, "page"),
  fetch(`/redirect?${host}`, {mode: "no-cors"}),
  worker(`fetch("http://${host}/worker", {mode: "no-cors"})`),
]));
"""


@pytest.mark.usefixtures("chromium_path")
@pytest.mark.faults  # a worker and a browser of its own, and dozens of requests one after the other
def test_no_page_reaches_a_private_address_by_any_spelling_redirect_or_worker(crawl, serve):
    """A proxy sees all that leaves the crawl; public addresses are asked for, which shows that the page did try."""

    def proxied(target):
        path = target.removeprefix(f"http://{PUBLIC}")
        if path == "/page":
            script = REACHES_OUT.replace("$hosts", json.dumps(PRIVATE)).replace("$other", OTHER_PUBLIC)
            return [answer(script_page(script))]
        if path.startswith("/redirect?"):
            target = f"http://{path.partition('?')[2]}/redirected"
            return [answer(b"", b"Location: " + target.encode(), status=b"302 Found")]
        return [answer(APP, kind=b"text/javascript") if path == "/app.js" else json_answer("data")]

    proxy = serve(proxied)
    render = {"content": {"when": "always", "settle": {"selector": "css:body.done"}}}
    crawl.write_site("s", {"content": CONTENT, "politeness": {"delay": 0}, "render": render})
    crawl.offer([f"http://{PUBLIC}/page"])
    crawl.finish(environment={"http_proxy": proxy.url}, ALLOW_PRIVATE_ADDRESSES=0)
    [item] = crawl.items()
    assert (item["content"], item["rendered"]) == ("data", "selector")
    asked_for = [one.path for one in proxy.asked]
    assert f"http://{OTHER_PUBLIC}/page" in asked_for
    assert sum(path.startswith(f"http://{PUBLIC}/redirect?") for path in asked_for) == len(PRIVATE)
    assert {path.split("/")[2] for path in asked_for} == {PUBLIC, OTHER_PUBLIC}
