"""The forum over real HTTP, against the process that the demo starts."""

import http.client
import json
import os
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date
from urllib.parse import quote, urlsplit

import pytest
from parsel import Selector
from waiting import PATIENCE_SECONDS

from testbed.forum import kinds
from testbed.forum.content import expected_results, threads

pytestmark = pytest.mark.process

DELAY_MS = 100
HOSTILE = ["\"quoted\" 'words'", "a&b=c#d", "line\nbreak", "flood 🌊", "x" * 200, "{q} {}", "<b>%41+1</b>", "重庆 洪水"]


@dataclass
class Answer:
    status: int
    headers: http.client.HTTPMessage
    body: bytes

    @property
    def page(self):
        return Selector(text=self.body.decode(self.headers.get_content_charset()), type="html")

    @property
    def data(self):
        return json.loads(self.body)

    def shows(self, thread):
        return self.status == 200 and self.page.css("h1::text").get() == thread.title


class Client:
    """One keep-alive connection."""

    def __init__(self, origin):
        self.origin = origin
        self.connection = http.client.HTTPConnection(urlsplit(origin).netloc, timeout=PATIENCE_SECONDS)

    def get(self, path, method="GET"):
        self.connection.request(method, path)
        response = self.connection.getresponse()
        return Answer(response.status, response.headers, response.read())


@contextmanager
def running(*options):
    command = [sys.executable, "-m", "testbed.forum", "--port", "0", *options]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            line = process.stdout.readline()
            assert line.startswith("listening on http://127.0.0.1:")
            client = Client(line.split()[-1])
            yield client, process
            client.connection.close()
        finally:
            process.terminate()


@pytest.fixture(scope="module")
def forum():
    with running("--delay-ms", str(DELAY_MS)) as (client, _):
        yield client


def of_kind(kind):
    return [t for t in threads() if t.kind is kind]


def result_paths(forum, path):
    """Follows a search from page to page; returns the threads' paths and the number of pages."""
    found, pages = [], 0
    while path:
        page = forum.get(path).page
        found += [urlsplit(href).path for href in page.css(".result a::attr(href)").getall()]
        path = page.css("a[rel=next]::attr(href)").get()
        pages += 1
    return found, pages


class TestContent:
    def test_every_process_has_the_same_threads(self):
        code = "from testbed.forum.content import threads; print(ascii(threads()))"
        env = {**os.environ, "PYTHONHASHSEED": "77"}
        other = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True, env=env)
        assert other.stdout.strip() == ascii(threads())

    @pytest.mark.parametrize("board", ["html", "ajax"])
    def test_plans_words_find_threads_and_combinations_overlap(self, board):
        found = [
            {t.id for t in expected_results([region, "洪水", event], board)}
            for region in ("重庆", "四川")
            for event in ("救援", "停电")
        ]
        assert all(len(ids) >= 10 for ids in found)
        assert len(set.union(*found)) < sum(map(len, found))
        assert expected_results(["Chongqing", "flood"], board)
        assert expected_results(["重庆", "Zhang San"], board)

    def test_every_odd_page_is_met_by_ordinary_words(self):
        met = {t.kind for t in expected_results(["重庆", "洪水", "救援"])}
        assert met == {kinds.PLAIN, *kinds.ODD}
        assert all(len(of_kind(kind)) >= 2 for kind in kinds.ODD)


class TestSearch:
    @pytest.mark.parametrize("words", ["重庆 洪水", "flood rescue", "Zhang San", ""])
    @pytest.mark.parametrize("sort", ["new", "rel"])
    def test_pages_of_results_are_the_expected_ones_in_order(self, forum, words, sort):
        path = f"/search?q={quote(words)}&size=10&sort={sort}"
        found, pages = result_paths(forum, path)
        expected = [t.path for t in expected_results(words, sort=sort)]
        assert found == expected
        assert forum.get(path).page.css(".total::text").get() == str(len(expected))
        assert pages == -(-len(expected) // 10)

    def test_from_leaves_out_what_is_older(self, forum):
        day = date(2026, 9, 1)
        found, _ = result_paths(forum, f"/search?q={quote('洪水')}&from={day}")
        assert found == [t.path for t in expected_results("洪水", since=day)]
        assert 0 < len(found) < len(expected_results("洪水"))

    def test_gbk_search_takes_and_gives_gbk(self, forum):
        path = "/gbk/search?q=" + quote("重庆 洪水", encoding="gbk")
        assert forum.get(path).headers["Content-Type"] == "text/html; charset=gbk"
        found, _ = result_paths(forum, path)
        assert found == [t.path for t in expected_results("重庆 洪水")]

    @pytest.mark.parametrize("word", HOSTILE)
    def test_hostile_words_arrive_intact(self, forum, word):
        raw = "q=" + quote(word, safe="")
        assert forum.get(f"/echo?{raw}").data == {"q": word, "raw_query": raw}
        for path in ("/search", "/api/search", "/api/feed"):
            assert forum.get(f"{path}?{raw}").status == 200
            assert forum.get("/echo/last").data == {"path": path, "q": word, "raw_query": raw}

    @pytest.mark.parametrize(
        "path",
        [
            "/search?page=0",
            "/search?page=one",
            "/search?size=101",
            "/search?sort=old",
            "/search?from=yesterday",
            "/api/search?offset=-1",
            "/api/search?limit=" + "9" * 5000,
            "/api/feed?cursor=nonesuch",
            "/search?" + "&a=" * 30,
        ],
    )
    def test_unusable_query_is_a_400(self, forum, path):
        assert forum.get(path).status == 400


class TestAjaxBoard:
    @pytest.mark.parametrize(
        ("path", "key", "sort"),
        [("/api/search", "offset", "rel"), ("/api/search", "offset", "new"), ("/api/feed", "cursor", "new")],
    )
    def test_offsets_and_cursors_walk_all_results(self, forum, path, key, sort):
        ids, following = [], {"offset": 0, "cursor": ""}[key]
        while following is not None:
            data = forum.get(f"{path}?q={quote('重庆')}&limit=30&sort={sort}&{key}={following}").data
            ids += [item["id"] for item in data["items"]]
            following = data[f"next_{key}"]
        assert ids == [t.id for t in expected_results("重庆", "ajax", sort=sort)]
        assert data.get("total", len(ids)) == len(ids)


class TestOddPages:
    def test_broken_page_heals(self, forum):
        (thread, *_) = of_kind(kinds.HEALING)
        assert forum.get(thread.path).status == 500
        assert forum.get(thread.path).shows(thread)

    @pytest.mark.parametrize(("kind", "status", "other"), [(kinds.MOVED, 301, ""), (kinds.AWAY, 302, "localhost")])
    def test_moved_pages_redirect_on_the_same_host_or_to_the_forums_other_name(self, forum, kind, status, other):
        (thread, *_) = of_kind(kind)
        answer = forum.get(thread.path)
        host = other and f"http://{other}:{urlsplit(forum.origin).port}"
        assert (answer.status, answer.headers["Location"]) == (status, f"{host}/thread/{thread.id}")
        assert forum.get(f"/thread/{thread.id}").shows(thread)

    @pytest.mark.parametrize(
        ("kind", "header", "meta", "encoding"),
        [
            (kinds.GBK, "text/html; charset=gbk", b"", "gbk"),
            (kinds.GBK_META, "text/html", b'<meta charset="gbk">', "gbk"),
            (kinds.MISLABELLED, "text/html; charset=gbk", b'<meta charset="utf-8">', "utf-8"),
        ],
        ids=lambda value: getattr(value, "name", ""),
    )
    def test_encodings_are_told_in_header_and_meta_as_the_kind_says(self, forum, kind, header, meta, encoding):
        (thread, *_) = of_kind(kind)
        answer = forum.get(thread.path)
        assert answer.headers["Content-Type"] == header
        assert meta in answer.body
        assert (b"<meta charset" in answer.body) == bool(meta)
        assert thread.title in answer.body.decode(encoding)


class TestProcess:
    def test_access_log_tells_every_request_as_it_arrives(self, tmp_path):
        log, began = tmp_path / "access.log", time.time()
        with running("--access-log", str(log)) as (client, _):
            for method, path in (("GET", "/search?q=" + quote("重庆")), ("HEAD", "/nonesuch"), ("POST", "/")):
                client.get(path, method)
                line = json.loads(log.read_text().splitlines()[-1])
                assert (line["method"], line["path"]) == (method, path)
                assert began <= line["start"] <= time.time()

    @pytest.mark.parametrize("stop", [signal.SIGTERM, signal.SIGINT])
    def test_signal_ends_it_even_with_a_slow_page_under_way(self, stop):
        with running("--delay-ms", "600000") as (client, process):
            client.connection.request("GET", of_kind(kinds.SLOW)[0].path)
            other = Client(client.origin)
            assert other.get("/robots.txt").status == 200
            other.connection.close()
            process.send_signal(stop)
            assert process.wait(timeout=PATIENCE_SECONDS) == 0

    @pytest.mark.parametrize("options", [["--port"], ["--access-log", "/nonesuch/access.log", "--port", "0"]])
    def test_what_stops_the_start_is_one_line(self, forum, options):
        if options == ["--port"]:
            options = ["--port", str(urlsplit(forum.origin).port)]
        command = [sys.executable, "-m", "testbed.forum", *options]
        ended = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_SECONDS, check=False)
        assert (ended.returncode, ended.stdout) == (1, "")
        assert ended.stderr.startswith("forum: ")
        assert ended.stderr.count("\n") == 1
