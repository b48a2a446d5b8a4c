"""`scrapy site check`, against the demo forum's pages."""

from __future__ import annotations

import gzip
import json
import re
import threading
from pathlib import Path

import pytest
import yaml
from commands.answers import error_of, json_of
from page_server import PageHandler, serving

from crawler import sites
from crawler.cli.site_rows import rows
from testbed.forum import content
from testbed.forum.routes import Forum, Request

ROOT = Path(__file__).parent.parent.parent
ANSI = b"<h1 class=title>\x1b[31mred\x1b]0;owned\x07</h1><p class=post-body>text \x9b2J</p>"
PAGE = b"<h1 class=title>%b</h1><p class=post-body>text"

FOLLOWING = """
name: board
politeness: {delay: 0}
content: {content: {select: css:.post-body, all: true, required: true}}
follow: {links: "css:a", deny: [/user/], per_page: 2}
"""


def unread(done):
    """Returns the JSON of a check that couldn't look at its page, and the line that it has ended with."""
    assert (done.returncode, done.stderr.count("\n")) == (1, 1), done
    return json.loads(done.stdout), done.stderr.removeprefix("error: ").rstrip("\n")


def page_of_five(path, number):
    """Returns status and body of a page of a search with five pages, whose end is another one on each path."""
    number = min(number, 5) if path == "/ends/same" else number
    number = number if number <= 5 or path != "/ends/first" else 1
    if number > 5 and path == "/ends/404":
        return 404, b"<p>gone"
    if number > 5 and path == "/ends/plain":
        return 200, b"<p>Log in"
    more = f"<a class=next href='{path}?page={number + 1}'>next</a>" if number < 5 else ""
    return 200, f"<ol class=results><a class=title href=/thread/{number}>1</a></ol>{more}".encode()


class Handler(PageHandler):
    """The forum's answers, and a few that it doesn't give."""

    forum = Forum()
    robots_status = 200

    def do_GET(self):  # noqa: N802 -- as http.server names it
        path, _, query = self.path.partition("?")
        match path:
            case "/to-file":
                self.answer(302, Location="file:///etc/passwd")
            case "/to-thread":
                self.answer(302, Location=query)
            case "/ansi":
                self.answer(200, ANSI)
            case "/agent":  # and whatever else this project's headers say
                said = [value for name, value in self.headers.items() if name in ("User-Agent", "X-Own")]
                self.answer(200, PAGE % " ".join(said).encode())
            case "/gzip":
                self.answer(200, gzip.compress(PAGE % b"packed"), **{"Content-Encoding": "gzip"})
            case "/large":
                self.answer(200, b"x" * 2_000_000)  # it is told to be large, and not read
            case "/slow":
                self.server.state.wait()
            case "/robots.txt" if self.robots_status != 200:
                self.answer(self.robots_status)
            case _ if path.startswith("/ends/"):
                self.answer(*page_of_five(path, int(query.partition("page=")[2])))
            case _:
                found = self.forum.respond(Request(path, query, f"http://{self.headers['Host']}"))
                location = {"Location": found.location} if found.location else {}
                self.answer(found.status, found.body, **{"Content-Type": found.content_type}, **location)


@pytest.fixture(scope="module")
def origin():
    closing = threading.Event()
    with serving(Handler, closing) as origin:
        yield origin
        closing.set()


@pytest.fixture
def check(scrapy):
    def run(*words, settings=None):
        return scrapy("site", "check", *words, settings={"ALLOW_PRIVATE_ADDRESSES": 1} | (settings or {}))

    return run


def test_a_good_site_shows_what_it_searches_like(check):
    shown = json_of(check("demo_forum", "--json"))
    assert shown["searches"][1]["url"].startswith("http://127.0.0.1:8800/search?q=flood%20%E6%B4%AA%E6%B0%B4&page=2")
    assert shown["reads"] == ["title", "author", "published", "content", "images", "videos"]
    assert "css:ol.results a.title" in check("demo_forum").stdout


def test_a_site_shows_which_fields_are_read_as_without_selectors(check, tmp_path):
    (tmp_path / "own.yaml").write_text("name: own\ncontent: {title: css:h1, author: auto, comments: auto}\n")
    assert json_of(check(tmp_path / "own.yaml", "--json"))["auto"] == ["author", "comments"]
    assert "as without selectors" in check(tmp_path / "own.yaml").stdout


def test_a_content_page_is_shown_field_by_field(check, origin):
    thread = next(thread for thread in content.threads() if thread.kind.name == "plain" and not thread.video)
    done = check("demo_forum", f"{origin}/to-thread?{thread.path}", "--base", origin)
    assert (done.returncode, done.stderr) == (0, "")
    words = " ".join(done.stdout.split())
    assert thread.title.split()[0] in words
    assert thread.author in words
    assert "missing videos" in words
    shown = json_of(check("demo_forum", f"{origin}{thread.path}", "--base", origin, "--json"))
    assert shown["fields"]["title"] == thread.title
    assert shown["fields"]["missing"] == ["videos"]


def test_a_page_that_a_crawl_refuses_for_its_address_is_not_asked_for(check, origin):
    url = f"{origin}/gzip"
    shown, error = unread(check("demo_forum", url, "--json", settings={"ALLOW_PRIVATE_ADDRESSES": 0}))
    why = f"a crawl refuses {url}: private-address (ALLOW_PRIVATE_ADDRESSES)"
    assert (shown["url"], shown["refused"], error) == (url, why, why)
    assert "fields" not in shown
    assert json_of(check("demo_forum", url, "--json"))["refused"] == ""


def test_robots_txt_is_obeyed_after_a_redirect_too(check, origin):
    private = f"{origin}/private/1"
    why = f"a crawl refuses {private}: robots ({origin}/robots.txt forbids it; ROBOTSTXT_OBEY)"
    for url in (private, f"{origin}/to-thread?/private/1"):
        shown, error = unread(check("demo_forum", url, "--json"))
        assert (shown["url"], shown["refused"], error) == (private, why, why)
    done = check("demo_forum", private)
    assert f"refused  {why}" in done.stdout
    assert (done.returncode, done.stderr) == (1, f"error: {why}\n")
    assert "private/1 answered 4" in error_of(check("demo_forum", private, settings={"ROBOTSTXT_OBEY": 0}))


@pytest.mark.parametrize(("status", "asked"), [(503, False), (404, True)])
def test_a_robots_txt_without_an_answer_keeps_the_page_from_being_asked_for(check, origin, monkeypatch, status, asked):
    monkeypatch.setattr(Handler, "robots_status", status)
    done = check("demo_forum", f"{origin}/gzip", "--json")
    shown = json_of(done) if asked else unread(done)[0]
    assert ("fields" in shown) == asked
    assert ("robots-unreachable" in shown["refused"]) != asked


def test_a_parser_whose_module_the_settings_refuse_is_an_error(check, tmp_path):
    (tmp_path / "own.yaml").write_text("name: own\nparser: json:loads\n")
    error = error_of(check(tmp_path / "own.yaml"))
    assert error == f"{tmp_path}/own.yaml: parser: a crawl refuses it: module json isn't in PARSER_MODULES"
    assert json_of(check(tmp_path / "own.yaml", "--json", settings={"PARSER_MODULES": "json"}))["reads"] == "json:loads"


def test_a_results_page_shows_its_links(check, origin):
    shown = json_of(check("demo_forum_ajax", f"{origin}/api/search?q=%E6%B4%AA%E6%B0%B4&limit=5", "--json"))
    expected = content.expected_results("洪水", "ajax")[:5]
    assert shown["links"]["urls"] == [origin + thread.path for thread in expected]
    assert "no results" in check("demo_forum", f"{origin}/search?q=nothingatall").stdout


def test_a_page_cannot_move_the_cursor(check, origin):
    done = check("demo_forum", f"{origin}/ansi")
    assert done.returncode == 0
    assert "red" in done.stdout
    assert not set(done.stdout) & set("\x1b\x07\x9b")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["demo_forum", "{origin}/gone/1033"], "{origin}/gone/1033 answered 404"),
        (["demo_forum", "{origin}/to-file"], "{origin}/to-file "),
        (
            ["demo_forum", "{origin}/ajax/"],
            "no-content: the page has no content; nor does `results.links` find any on it",
        ),
        (
            ["demo_forum", "{origin}/large", "-s", "DOWNLOAD_MAXSIZE=1000000"],
            "{origin}/large is larger than 1000000 bytes",
        ),
        (["demo_forum", "{origin}/slow", "-s", "DOWNLOAD_TIMEOUT=0.1"], "{origin}/slow took longer than 0.1 s"),
        (
            ["demo_forum", "{origin}/to-thread?/slow", "-s", "DOWNLOAD_TIMEOUT=0.1"],
            "{origin}/slow took longer than 0.1 s",
        ),
        (["demo_forum", "http://127.0.0.1:1/"], "http://127.0.0.1:1/robots.txt can't be fetched: "),
        (["demo_forum", "file:///etc/passwd"], "not an http(s) URL: "),
        (["demo_forum", "--base", "nowhere"], "definition of site 'demo_forum': base: "),
        (["nope"], "unknown site 'nope', neither built in nor in SITES_DIR (not set); known: any_feed, "),
        (["none.yaml"], "none.yaml: got 'no such file'"),
        ([], "site check: expected FILE|NAME [URL]"),
        (["opensearch", "--base", "{origin}", "--search", " "], "site check: expected words after --search, got ' '"),
        (["demo_forum", "--search", ""], "site check: expected words after --search, got ''"),
        (["demo_forum", "{origin}", "--render", "--words", "\t"], "site check: expected words after --words, got "),
    ],
)
def test_an_error_is_one_line(check, origin, words, message):
    error = error_of(check(*(word.format(origin=origin) for word in words)))
    assert error.startswith(message.format(origin=origin))


def test_all_that_is_wrong_with_a_file_is_told_at_once(check, tmp_path):
    (tmp_path / "bad.yaml").write_text(
        'name: bad\nserch: {url: "http://x.org/"}\ncontent: {title: h1}\npoliteness: {delay: -1}\n'
    )
    done = check(tmp_path / "bad.yaml")
    assert done.returncode == 1
    assert [line.partition(": got ")[0] for line in done.stderr.splitlines()] == [
        f"error: {tmp_path}/bad.yaml:2: serch",
        f"error: {tmp_path}/bad.yaml:3: content.title",
        f"error: {tmp_path}/bad.yaml:4: politeness.delay",
    ]
    assert "search (did you mean it?); keys here: base, content, cookies, drop_parameters," in done.stderr


@pytest.mark.parametrize("kind", ["site", "plan"])
def test_the_schema_is_the_file_that_ships(scrapy, kind):
    shipped = ROOT / "crawler" / f"{kind}s" / f"{kind}.schema.json"
    assert scrapy(kind, "schema").stdout == shipped.read_text("utf-8")


class TestNew:
    @pytest.fixture
    def new(self, scrapy):
        def run(*words, settings=None):
            return scrapy("site", "new", *words, settings={"ALLOW_PRIVATE_ADDRESSES": 1} | (settings or {}))

        return run

    def test_a_proposal_is_a_file_that_reads_the_site(self, new, check, origin, tmp_path):
        file = tmp_path / "town.yaml"
        done = new(f"{origin}/", "洪水", "--delay", "0", "--output", file)
        assert (done.returncode, done.stdout) == (0, "")
        asked = [line.split(": ")[0] for line in done.stderr.splitlines() if line.startswith("asking ")]
        assert asked[:2] == [f"asking {origin}/", f"asking {origin}/search?q=%E6%B4%AA%E6%B0%B4"]
        assert len(asked) <= 12
        shown = json_of(check(file, "--json"))
        assert shown["site"] == "town"
        assert shown["searches"][1]["url"] == f"{origin}/search?q=flood%20%E6%B4%AA%E6%B0%B4&page=2"
        thread = next(one for one in content.threads() if one.kind.name == "plain" and one.images and not one.video)
        fields = json_of(check(file, f"{origin}{thread.path}", "--json"))["fields"]
        assert fields["title"] == thread.title
        assert thread.pages[0][0] in fields["content"]

    @pytest.mark.faults
    def test_pages_that_scripts_fill_are_rendered_and_what_they_load_is_named(self, new, origin):
        done = new(f"{origin}/ajax/", "洪水", "--delay", "0", "--name", "ajax")
        site = sites.parse(done.stdout, "a file").definition()
        assert {pages: about["when"] for pages, about in site["render"].items()} == {
            "content": "always",
            "results": "always",
        }
        assert f"scripts load {origin}/api/thread/" in " ".join(done.stdout.replace("#", "").split())

    def test_it_asks_for_nothing_that_a_crawl_refuses(self, new, origin):
        error = error_of(new(f"{origin}/", settings={"ALLOW_PRIVATE_ADDRESSES": 0}), asked=1)
        assert error == f"a crawl refuses {origin}/: private-address (ALLOW_PRIVATE_ADDRESSES)"
        error = error_of(new(f"{origin}/private/1"), asked=1)
        assert error.startswith(f"a crawl refuses {origin}/private/1: robots ")

    def test_it_overwrites_no_file_and_takes_no_odd_name(self, new, origin, tmp_path):
        (tmp_path / "own.yaml").write_text("mine")
        assert "own.yaml is there already" in error_of(new(origin, "--output", tmp_path / "own.yaml"))
        assert "is no name of a site" in error_of(new(origin, "--output", tmp_path / "Öwn.yaml"))
        assert "is no name of a site" in error_of(new(origin, "--name", "../x"))
        assert (tmp_path / "own.yaml").read_text() == "mine"

    @pytest.mark.parametrize(
        ("words", "message"),
        [
            ([" "], "site new: expected a WORD after the URL, got ' '"),
            (["flood", "--delay", "nan"], "argument --delay: expected a number of seconds, got 'nan'"),
            (["flood", "--delay", "inf"], "argument --delay: expected a number of seconds, got 'inf'"),
            (["flood", "--delay", "soon"], "argument --delay: expected a number of seconds, got 'soon'"),
        ],
    )
    def test_what_is_no_word_or_no_number_is_refused(self, new, origin, words, message):
        assert error_of(new(origin, *words)) == message


class TestFollow:
    @pytest.fixture
    def check_board(self, check, tmp_path):
        def run(text, *words):
            (tmp_path / "board.yaml").write_text(text)
            return check(tmp_path / "board.yaml", *words)

        return run

    def test_a_page_shows_its_fields_and_what_it_leads_to(self, check_board, origin):
        shown = json_of(check_board(FOLLOWING, f"{origin}/thread/1001", "--json"))
        assert shown["fields"]["content"]
        follows = shown["follows"]
        assert 1 <= len(follows["urls"]) <= 2
        assert all(url.startswith(origin) and "/user/" not in url for url in follows["urls"])
        assert follows["urls"][0] in check_board(FOLLOWING, f"{origin}/thread/1001").stdout


@pytest.fixture
def board(tmp_path, origin):
    """Writes a site file of the forum, changed; returns its path."""

    def write(**changes):
        site = {
            "name": "board",
            "base": origin,
            "search": {"url": "{base}/search?q={query}&page={page}", "paging": {"kind": "page"}},
            "results": {"links": "css:ol.results a.title", "empty": "css:.no-results"},
            "content": {"title": "css:h1", "content": "css:.post-body"},
            "politeness": {"delay": 0},
        }
        (tmp_path / "board.yaml").write_text(yaml.safe_dump(site | changes))
        return tmp_path / "board.yaml"

    return write


def test_what_is_joined_is_fetched_and_shown(check, board, origin):
    values = {"title": "css:h1"}
    joined = [
        {"url": "{base}/agent?{title}", "values": values, "author": "css:h1", "extra": {"agent": "css:h1"}},
        {"url": "{base}/gone/1033?{title}", "values": values, "title": "css:h1"},
        {"url": "{base}/agent?{none}", "values": {"none": "css:.none"}, "title": "css:h1"},
        {"url": "{base}/private/1?{title}", "values": values, "title": "css:h1"},
    ]
    site = board(content={"title": "css:h1", "content": "css:.post-body", "joined": joined})
    shown = json_of(check(site, f"{origin}/thread/1001", "--json"))
    user_agent = shown["fields"]["extra"]["agent"]
    assert "headroom" in user_agent.lower()
    assert shown["joined"][0]["fields"] == {"author": user_agent, "extra": {"agent": user_agent}}
    assert (shown["fields"]["author"], shown["fields"]["missing"]) == (user_agent, [])
    gone, lacking, private = (one["fails"] for one in shown["joined"][1:])
    assert gone.endswith("answered 404")
    assert lacking == "not asked for: the page lacks a value of its address"
    assert "robots.txt forbids it" in private
    lines = check(site, f"{origin}/thread/1001").stdout.splitlines()
    assert [line.split()[-2:] for line in lines if "/agent?" in line] == [["author,", "extra.agent"]]


def test_a_site_s_headers_are_not_sent_to_another_host_that_is_joined(check, board, origin):
    elsewhere = origin.replace("127.0.0.1", "localhost")
    joined = [
        {"url": f"{at}/agent?{{title}}", "values": {"title": "css:h1"}, "extra": {name: "css:h1"}}
        for name, at in (("same", "{base}"), ("other", elsewhere))
    ]
    content = {"title": "css:h1", "content": "css:.post-body", "joined": joined}
    site = board(content=content, headers={"X-Own": "only-for-its-host"})
    extra = json_of(check(site, f"{origin}/thread/1001", "--json"))["fields"]["extra"]
    assert {name: "only-for-its-host" in sent for name, sent in extra.items()} == {"same": True, "other": False}


def test_a_search_is_tried_to_its_end(check, board, origin):
    found = content.expected_results("洪水", "html")
    shown = json_of(check(board(), "--search", "洪水", "--json"))
    assert shown["links"]["urls"] == [origin + thread.path for thread in found[:20]]
    assert shown["result"]["fields"]["title"] == found[0].title
    last = -(-len(found) // 20)
    assert shown["past_the_end"]["page"] == last + 1
    assert shown["past_the_end"]["says"] == "the site says that there are no more results"
    done = check(board(), "--search", "洪水")
    assert done.returncode == 0
    assert f"past the end  page {last + 1}, status 200, " in done.stdout


@pytest.mark.parametrize(
    ("path", "results", "page", "says"),
    [
        ("404", {}, 6, "a crawl fails it as http-404; `results.empty_status` may say more"),
        ("404", {"empty_status": [404]}, 6, "the site says that there are no more results"),
        ("same", {}, 6, "results of page 5 once more"),
        ("first", {}, 6, "results of page 1 once more"),
        ("plain", {}, 6, "no results, and no sign that there are none: `results.empty` may say more"),
        ("plain", {"empty": "css:.none"}, 6, "a crawl fails it as not-results; `results.empty` may say more"),
        ("never", {}, None, "no end within 512 pages"),
        ("never", {"next": "css:.next"}, None, "ends with page 5, which names no next one"),
    ],
)
def test_each_way_in_which_a_search_ends_is_said(check, board, path, results, page, says):
    paging = {"kind": "link" if "next" in results else "page"}
    address = f"{{base}}/ends/{path}?q={{query}}&page=" + ("1" if "next" in results else "{page}")
    site = board(search={"url": address, "paging": paging}, results={"links": "css:a.title"} | results)
    shown, error = unread(check(site, "--search", "any words", "--json"))
    assert "/thread/1" in error  # the first result, which is gone
    end = shown["past_the_end"]
    assert (end.get("page"), end["says"]) == (page, says)


def test_a_search_shows_the_rows_that_have_its_words_where_the_site_looks_for_them(check, board, origin):
    """`results.match` says so; a crawl would take no other."""
    all_rows = {"links": "css:a.title", "rows": "css:ol.results li", "match": "css:a.title"}
    site = board(search={"url": "{base}/search?q=flood"}, results=all_rows)
    first = json_of(check(site, "--search", "flood", "--json"))
    title = first["result"]["fields"]["title"]
    assert first["links"]["unmatched"] == 0
    one = json_of(check(site, "--search", title, "--json"))
    assert one["links"]["urls"] == first["links"]["urls"][:1]
    assert one["links"]["unmatched"] == len(first["links"]["urls"]) - 1
    none = check(site, "--search", "flood zebra").stdout
    assert "none: no row has all of the words" in none
    assert "more, whose rows lack a word (`results.match`)" in none


def test_a_search_says_whether_the_first_result_s_text_has_its_words_where_the_site_asks_for_that(check, board):
    every = {"links": "css:ol.results a.title", "match_text": True}
    site = board(search={"url": "{base}/search?q=flood"}, results=every | {"every": True})
    assert "takes       results whose text has all words" in check(site).stdout
    title = json_of(check(site, "--search", "flood", "--json"))["result"]["fields"]["title"]
    assert "words         its text has all of them" in check(site, "--search", title.upper()).stdout
    lacking = check(site, "--search", "zebra").stdout
    assert "words         its text lacks one: a crawl fails it as lacks-words (`results.match_text`)" in lacking


def test_a_search_that_a_crawl_refuses_or_that_finds_no_page_of_results_is_said(check, board, origin):
    private = board(search={"url": "{base}/private/{query}"})
    shown, error = unread(check(private, "--search", "a", "--json"))
    assert "robots" in shown["refused"]
    assert error == shown["refused"]
    gone = board(search={"url": "{base}/gone/1033?q={query}"})
    assert "status 404: a crawl fails it as http-404" in error_of(check(gone, "--search", "a"))
    assert error_of(check(gone, f"{origin}/1", "--search", "a")).endswith("expected a URL or --search, not both")


SCRIPTED = """
name: board
politeness: {delay: 0}
content: {from: {xhr: /api/thread/}, title: css:h1.title, content: {select: "json:html", html: true, required: true}}
render: {content: {when: always, settle: {selector: css:.posts p}}}
"""


@pytest.mark.usefixtures("chromium_path")
def test_a_rendered_page_shows_its_fields_and_the_json_that_it_loaded(check, origin, tmp_path):
    thread = next(one for one in content.threads() if one.board == "ajax")
    (tmp_path / "board.yaml").write_text(SCRIPTED)
    url = f"{origin}/ajax/thread/{thread.id}"
    shown = json_of(check("--render", tmp_path / "board.yaml", url, "--json"))
    assert shown["fields"]["title"] == thread.title
    assert shown["rendered"] == "selector"
    [answer] = shown["answers"]
    assert answer["url"] == f"{origin}{thread.path}"
    assert json.loads(answer["holds"]["title"]) == thread.title
    assert shown["fields"]["content"]
    assert shown["unanswered"] == {}
    printed = dict(rows(shown))
    assert f'json:title  "{thread.title}"' in printed["answer 1"]
    assert printed["answer 1"].splitlines()[0].endswith("read by `from`, needs no browser (content.fetch, search.url)")


@pytest.mark.faults
@pytest.mark.usefixtures("chromium_path")
def test_a_route_of_a_script_is_shown_as_a_crawl_reads_it(check, origin, tmp_path):
    thread = next(one for one in content.threads() if one.board == "ajax")
    url = f"{origin}/ajax/thread/{thread.id}#/first"
    file = tmp_path / "board.yaml"
    file.write_text("name: board\npoliteness: {delay: 0}\ncontent: {title: css:h1.title}\nrender: {content: auto}\n")
    shown = json_of(check(file, url, "--json"))
    assert (shown["url"], shown["fields"]["title"]) == (url, thread.title)
    assert shown["rendered_for"] == "it is the same for all routes"
    file.write_text("name: board\npoliteness: {delay: 0}\ncontent: {title: css:h1.title}\n")
    assert "only a browser's script knows what is at" in error_of(check(file, url))


BROWSED = """
name: board
politeness: {delay: 0}
search: {url: "{base}/ajax/browse?for={query}"}
results: {links: "css:ol a"}
render:
  results:
    when: always
    steps:
      - fill: {selector: input, text: "{keywords}"}
      - click: button.find
      - wait: {selector: STEP}
        timeout: 5
      - repeat: {steps: [{click: button.more}]}
"""


@pytest.mark.usefixtures("chromium_path")
def test_steps_are_played_on_a_rendered_page_and_each_is_shown_with_its_time(check, origin, tmp_path):
    words = "重庆 停电 地震 暴雨"
    expected = content.expected_results(words.split(), "ajax")
    (tmp_path / "board.yaml").write_text(BROWSED.replace("STEP", "li"))
    shown = json_of(check("--render", tmp_path / "board.yaml", f"{origin}/ajax/browse", "--words", words, "--json"))
    assert shown["links"]["urls"] == [f"{origin}/ajax/thread/{thread.id}" for thread in expected]
    assert [(step["number"], step["step"]) for step in shown["steps"]] == [
        ("1", "fill input"),
        ("2", "click button.find"),
        ("3", "wait li"),
        ("4.1", "click button.more"),
        ("4", "repeat"),
    ]
    assert re.fullmatch(r"click button\.more: \d+\.\d\d s, 2 times", dict(rows(shown))["step 4.1"])
    searched = BROWSED.replace("STEP", "li").replace("when: always", "when: auto") + f"base: {origin}\n"
    (tmp_path / "board.yaml").write_text(searched)
    found, error = unread(check(tmp_path / "board.yaml", "--search", words, "--json"))
    assert "/ajax/thread/" in error  # the first result, which is a shell without a browser
    assert found["links"]["urls"] == shown["links"]["urls"]
    assert found["rendered"] == shown["rendered"]


@pytest.mark.faults
@pytest.mark.usefixtures("chromium_path")
def test_a_step_that_fails_is_named_with_what_the_page_looked_like(check, origin, tmp_path):
    (tmp_path / "board.yaml").write_text(BROWSED.replace("STEP", ".none").replace("5", "0.2"))
    settings = {"BROWSER_EVIDENCE_DIR": str(tmp_path / "seen")}
    told = error_of(check("--render", tmp_path / "board.yaml", f"{origin}/ajax/browse", settings=settings))
    picture = tmp_path / "seen" / "board-3.step.jpg"
    assert f"step 3, wait .none: nothing on the page matches within 0.2 s; what it looked like: {picture}" in told
    assert picture.read_bytes().startswith(b"\xff\xd8")


@pytest.mark.faults
@pytest.mark.usefixtures("chromium_path")
def test_what_clicks_reveal_is_shown_with_the_steps_that_lead_there(scrapy, origin, tmp_path):
    (tmp_path / "quick.yaml").write_text("name: quick\npoliteness: {delay: 0}\n")
    words = (f"{origin}/ajax/browse", "--site", tmp_path / "quick.yaml", "--json")
    shown = json_of(scrapy("site", "explore", *words, settings={"ALLOW_PRIVATE_ADDRESSES": 1}))
    first, found, *_more = shown["states"]
    assert first["steps"] == []
    assert found["steps"] == [{"click": "body > button:nth-of-type(1)"}]
    assert len(found["links"]) == 1
    assert shown["is_whole"]
    printed = dict(rows(shown))
    assert printed["state 1"].startswith('- click: "body > button:nth-of-type(1)"\n')


def test_what_is_rendered_must_be_a_page_and_needs_a_browser(check, origin, tmp_path):
    (tmp_path / "board.yaml").write_text(SCRIPTED)
    refused = check("--render", tmp_path / "board.yaml")
    assert "expected a URL beside --render" in error_of(refused)
    settings = {"BROWSER_PATH": "/nowhere/chromium"}
    assert "no browser: BROWSER_PATH names" in error_of(
        check("--render", tmp_path / "board.yaml", f"{origin}/ajax/", settings=settings)
    )
