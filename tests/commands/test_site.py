"""`scrapy site check`, against the demo forum's pages."""

from __future__ import annotations

import gzip
import threading
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from commands.answers import error_of, json_of

from testbed.forum import content
from testbed.forum.routes import Forum, Request

ROOT = Path(__file__).parent.parent.parent
ANSI = b"<h1 class=title>\x1b[31mred\x1b]0;owned\x07</h1><p class=post-body>text \x9b2J</p>"
PAGE = b"<h1 class=title>%b</h1><p class=post-body>text"

FOLLOWING = """
name: board
content: {content: {select: css:.post-body, all: true, required: true}}
follow: {links: "css:a", deny: [/user/], per_page: 2}
"""


class Handler(BaseHTTPRequestHandler):
    """The forum's answers, and a few that it doesn't give."""

    forum = Forum()
    robots_status = 200

    def do_GET(self):
        path, _, query = self.path.partition("?")
        match path:
            case "/to-file":
                self.answer(302, "", b"", "file:///etc/passwd")
            case "/to-thread":
                self.answer(302, "", b"", query)
            case "/ansi":
                self.answer(200, "text/html", ANSI)
            case "/agent":
                self.answer(200, "text/html", PAGE % self.headers["User-Agent"].encode())
            case "/gzip":
                self.answer(200, "text/html", gzip.compress(PAGE % b"packed"), coding="gzip")
            case "/odd-head":
                self.wfile.write(b"HTTP/1.1 200 OK\r\nno colon\r\nContent-Type: text/html\r\n\r\n" + PAGE % b"odd")
                self.close_connection = True
            case "/large":
                with suppress(ConnectionError):  # it is told to be large, and not read
                    self.answer(200, "text/html", b"x" * 2_000_000)
            case "/robots.txt" if self.robots_status != 200:
                self.answer(self.robots_status, "text/plain", b"")
            case "/slow":
                self.server.closing.wait()
            case _:
                found = self.forum.respond(Request(path, query, self.server.origin))
                self.answer(found.status, found.content_type, found.body, found.location)

    def answer(self, status, content_type, body, location="", coding="identity"):
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Content-Type", content_type)
        self.send_header("Content-Encoding", coding)
        if location:
            self.send_header("Location", location)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args):
        pass


@pytest.fixture(scope="module")
def origin():
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.closing = threading.Event()
    server.origin = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    yield server.origin
    server.closing.set()
    server.shutdown()
    server.server_close()
    thread.join()


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
    shown = json_of(check("demo_forum", url, "--json", settings={"ALLOW_PRIVATE_ADDRESSES": 0}))
    why = f"a crawl refuses {url}: private-address (ALLOW_PRIVATE_ADDRESSES)"
    assert (shown["url"], shown["refused"]) == (url, why)
    assert "fields" not in shown
    assert json_of(check("demo_forum", url, "--json"))["refused"] == ""


def test_robots_txt_is_obeyed_after_a_redirect_too(check, origin):
    private = f"{origin}/private/1"
    why = f"a crawl refuses {private}: robots ({origin}/robots.txt forbids it; ROBOTSTXT_OBEY)"
    for url in (private, f"{origin}/to-thread?/private/1"):
        shown = json_of(check("demo_forum", url, "--json"))
        assert (shown["url"], shown["refused"]) == (private, why)
    assert f"refused  {why}" in check("demo_forum", private).stdout
    assert "private/1 answered 4" in error_of(check("demo_forum", private, settings={"ROBOTSTXT_OBEY": 0}))


@pytest.mark.parametrize(("status", "asked"), [(503, False), (404, True)])
def test_a_robots_txt_without_an_answer_keeps_the_page_from_being_asked_for(check, origin, monkeypatch, status, asked):
    monkeypatch.setattr(Handler, "robots_status", status)
    shown = json_of(check("demo_forum", f"{origin}/gzip", "--json"))
    assert ("fields" in shown) == asked
    assert ("robots-unreachable" in shown["refused"]) != asked


def test_a_page_of_results_shows_what_it_is_as_a_content_page(check, origin):
    shown = json_of(check("demo_forum", f"{origin}/search?q=%E6%B4%AA%E6%B0%B4", "--json"))
    assert shown["links"]["urls"]
    assert shown["fails"] == "no-content"


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


def test_a_page_may_come_compressed(check, origin):
    assert json_of(check("demo_forum", f"{origin}/gzip", "--json"))["fields"]["title"] == "packed"


def test_a_head_that_libcurl_refuses_is_read_as_in_a_crawl(check, origin):
    assert json_of(check("demo_forum", f"{origin}/odd-head", "--json"))["fields"]["title"] == "odd"


def test_it_says_who_is_asking(check, origin):
    shown = json_of(check("demo_forum", f"{origin}/agent", "--json", "-s", "CONTACT=me@example.org"))
    assert shown["fields"]["title"].startswith("headroom/")
    assert shown["fields"]["title"].endswith("(+me@example.org)")


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
        (["demo_forum", "http://127.0.0.1:1/"], "http://127.0.0.1:1/ can't be fetched: "),
        (["demo_forum", "file:///etc/passwd"], "not an http(s) URL: "),
        (["demo_forum", "--base", "nowhere"], "definition of site 'demo_forum': base: "),
        (["nope"], "unknown site 'nope'; known: demo_forum, "),
        (["none.yaml"], "none.yaml: got 'no such file'"),
        ([], "site check: expected FILE|NAME [URL]"),
    ],
)
def test_an_error_is_one_line(check, origin, words, message):
    error = error_of(check(*(word.format(origin=origin) for word in words)))
    assert error.startswith(message.format(origin=origin))


def test_a_bad_file_is_told_line_and_key(check, tmp_path):
    (tmp_path / "bad.yaml").write_text('name: bad\nsearch: {url: "http://x.org/?q={qery}"}\nresults: {links: css:a}\n')
    error = error_of(check(tmp_path / "bad.yaml"))
    assert error.startswith(f"{tmp_path}/bad.yaml:2: search.url: got 'http://x.org/?q={{qery}}', expected only")


def test_a_copied_file_is_told_to_change_its_name(check, tmp_path):
    """Plans would not find it."""
    (tmp_path / "copied.yaml").write_text(
        'name: first\nsearch: {url: "http://x.org/?q={query}"}\nresults: {links: css:a}\n'
    )
    error = error_of(check(tmp_path / "copied.yaml"))
    assert error == f"{tmp_path}/copied.yaml:1: name: got 'first', expected copied, as the file is named"


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
    assert "search (did you mean it?); keys here: base, content, drop_parameters," in done.stderr


@pytest.mark.parametrize("kind", ["site", "plan"])
def test_the_reference_and_the_schema_print_the_files_that_ship(scrapy, kind):
    assert scrapy(kind, "reference").stdout == (ROOT / "docs" / f"{kind}-files.md").read_text("utf-8")
    shipped = ROOT / "crawler" / f"{kind}s" / f"{kind}.schema.json"
    assert scrapy(kind, "schema").stdout == shipped.read_text("utf-8")


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

    def test_a_page_that_is_no_item_still_leads_on(self, check_board, origin):
        shown = json_of(check_board(FOLLOWING.replace(".post-body", ".none"), f"{origin}/thread/1001", "--json"))
        assert shown["fails"] == "no-content"
        assert shown["follows"]["urls"]

    def test_a_definition_shows_its_rules(self, check_board):
        assert json_of(check_board(FOLLOWING, "--json"))["follows"]["per_page"] == 2
        assert json_of(check_board(FOLLOWING.partition("follow")[0], "--json"))["follows"] == ""
