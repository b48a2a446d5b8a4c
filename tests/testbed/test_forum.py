"""The forum over real HTTP, against the process that the demo starts."""

import hashlib
import http.client
import json
import os
import signal
import subprocess
import sys
import time
import zlib
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, date, datetime
from urllib.parse import quote, urlsplit

import pytest
from parsel import Selector
from waiting import PATIENCE_SECONDS

from testbed.forum import content, files, kinds
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


def story(thread):
    return thread.title, thread.author, thread.published, thread.paragraphs, thread.images, thread.video


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

    def test_boards_overlap_in_forty_threads(self):
        html = {t.story: t for t in threads() if t.board == "html"}
        ajax = {t.story: t for t in threads() if t.board == "ajax"}
        assert (len(html), len(ajax)) == (300, 300)
        shared = html.keys() & ajax.keys()
        assert len(shared) == content.SHARED_THREADS
        assert all(story(html[one]) == story(ajax[one]) for one in shared)
        assert any(len(html[one].pages) > 1 for one in shared)
        assert any(html[one].video is not None for one in shared)

    def test_ids_titles_and_texts_are_unique_apart_from_shared_stories(self):
        assert len({t.id for t in threads()}) == 600
        assert len({t.title for t in threads()}) == len({t.paragraphs for t in threads()}) == 560

    def test_long_threads_videos_and_languages_are_there(self):
        assert 25 <= sum(len(t.pages) > 1 for t in threads()) <= 40
        assert {len(t.pages) for t in threads()} == {1, 2, 3, 4}
        assert 15 <= sum(t.video is not None for t in threads()) <= 25
        assert all(sum(t.language == language for t in threads()) > 150 for language in ("zh", "en"))

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

    def test_sorts_differ_and_hold(self):
        new, rel = (expected_results("洪水", sort=sort) for sort in ("new", "rel"))
        assert [t.published for t in new] == sorted((t.published for t in new), reverse=True)
        assert new != rel
        assert set(new) == set(rel)

    def test_from_leaves_out_what_is_older(self, forum):
        day = date(2026, 9, 1)
        found, _ = result_paths(forum, f"/search?q={quote('洪水')}&from={day}")
        assert found == [t.path for t in expected_results("洪水", since=day)]
        assert 0 < len(found) < len(expected_results("洪水"))

    @pytest.mark.parametrize("path", ["/search?q=nonesuch", "/search?q=flood&page=900"])
    def test_no_results_page_says_so(self, forum, path):
        page = forum.get(path).page
        assert page.css("p.no-results")
        assert not page.css(".result, a[rel=next]")

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

    def test_a_search_word_is_never_markup(self, forum):
        answer = forum.get("/search?q=" + quote("\"><script>alert('x')</script>"))
        assert b"<script>alert" not in answer.body

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

    def test_since_and_empty_answers(self, forum):
        data = forum.get(f"/api/search?q={quote('洪水')}&since=2026-10-01&limit=100").data
        expected = expected_results("洪水", "ajax", since=date(2026, 10, 1))
        assert [item["id"] for item in data["items"]] == [t.id for t in expected]
        assert forum.get("/api/search?q=nonesuch").data == {"total": 0, "items": [], "next_offset": None}
        assert forum.get("/api/feed?q=nonesuch").data == {"items": [], "next_cursor": None}

    def test_pages_for_people_hold_nothing_before_their_script_runs(self, forum):
        thread = expected_results("重庆", "ajax")[0]
        item = forum.get(f"/api/search?q={quote('重庆')}").data["items"][0]
        assert (item["url"], item["page_url"]) == (thread.path, f"/ajax/thread/{thread.id}")
        assert thread.title not in forum.get(item["page_url"]).body.decode()
        assert not forum.get("/ajax/").page.css("li")
        assert not forum.get("/ajax/browse").page.css("li")


class TestThreads:
    def test_image_links_are_relative_and_absolute(self, forum):
        links = [
            url for t in of_kind(kinds.PLAIN)[:40] for url in forum.get(t.path).page.css("img::attr(src)").getall()
        ]
        assert {link.startswith(f"{forum.origin}/img/") for link in links} == {True, False}

    def test_pages_carry_what_a_crawl_must_drop(self, forum):
        page = forum.get(of_kind(kinds.PLAIN)[0].path).page
        for noise in ("nav", "aside", "footer", "script", "style", ".ad", "[hidden]", ".post-body script"):
            assert page.css(noise)

    def test_a_page_past_the_last_is_a_404(self, forum):
        thread = next(t for t in threads() if len(t.pages) == 3)
        assert forum.get(thread.path + "?page=3").status == 200
        assert forum.get(thread.path + "?page=4").status == 404

    def test_images_are_valid_and_differ(self, forum):
        bodies = [forum.get(content.image_path(image)) for image in sorted(content.image_ids())[:20]]
        assert len({hashlib.sha256(answer.body).digest() for answer in bodies}) == 20
        for answer in bodies:
            assert answer.headers["Content-Type"] == "image/png"
            assert png_pixels(answer.body) == files.IMAGE_HEIGHT * (1 + 3 * files.IMAGE_WIDTH)

    def test_videos_are_mp4_box_by_box(self, forum):
        video = min(content.video_ids())
        answer = forum.get(content.video_path(video))
        assert answer.headers["Content-Type"] == "video/mp4"
        assert len(answer.body) < 20_000
        assert mp4_boxes(answer.body)[:2] == [b"ftyp", b"moov"]
        assert answer.body == files.video(video) != files.video(video + 1)


def png_pixels(body):
    """Checks every chunk's CRC; returns the bytes of the unpacked image."""
    assert body.startswith(b"\x89PNG\r\n\x1a\n")
    at, packed = 8, b""
    while at < len(body):
        size, name = int.from_bytes(body[at : at + 4]), body[at + 4 : at + 8]
        data = body[at + 8 : at + 8 + size]
        assert zlib.crc32(name + data) == int.from_bytes(body[at + 8 + size : at + 12 + size])
        packed += data if name == b"IDAT" else b""
        at += 12 + size
    assert name == b"IEND"
    return len(zlib.decompress(packed))


def mp4_boxes(body):
    at, names = 0, []
    while at < len(body):
        names.append(body[at + 4 : at + 8])
        at += int.from_bytes(body[at : at + 4])
    assert at == len(body)
    return names


class TestOddPages:
    def test_robots_disallows_the_private_folder_only(self, forum):
        answer = forum.get("/robots.txt")
        assert answer.headers["Content-Type"].startswith("text/plain")
        assert answer.body.decode().splitlines() == ["User-agent: *", "Disallow: /private/"]
        assert all(forum.get(t.path).status == 200 for t in of_kind(kinds.PRIVATE))  # so that a visit would show

    def test_slow_page_takes_its_time(self, forum):
        (thread, *_) = of_kind(kinds.SLOW)
        asked = datetime.now(UTC)
        assert forum.get(thread.path).shows(thread)
        assert (datetime.now(UTC) - asked).total_seconds() >= DELAY_MS / 1000

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

    def test_missing_page_empty_page_and_file(self, forum):
        gone, empty, file = (forum.get(of_kind(kind)[0].path) for kind in (kinds.GONE, kinds.EMPTY, kinds.NOT_HTML))
        assert gone.status == 404
        assert (empty.status, empty.body) == (204, b"")
        assert (file.status, file.headers["Content-Type"], file.body[:5]) == (200, "application/pdf", b"%PDF-")

    def test_a_thread_stands_at_its_own_path_only(self, forum):
        slow, plain, api = (of_kind(kind)[0].id for kind in (kinds.SLOW, kinds.PLAIN, kinds.API))
        paths = f"/thread/{slow} /slow/{plain} /api/thread/{plain} /thread/{api} /ajax/thread/{plain}"
        assert {forum.get(path).status for path in paths.split()} == {404}

    def test_big_page_streams_fifty_megabytes(self, forum):
        answer = forum.get("/big")
        assert answer.headers["Content-Length"] is None
        assert len(answer.body) == files.BIG_BYTES

    @pytest.mark.parametrize(
        "path", ["/nonesuch", "/thread/", "/thread/1", "/img/9.png", "/thread/1001/..", "/%00", "/img/1001"]
    )
    def test_unknown_path_is_a_404(self, forum, path):
        assert forum.get(path).status == 404

    def test_head_has_no_body_and_post_is_refused(self, forum):
        answer = forum.get("/", method="HEAD")
        assert (answer.status, answer.body) == (200, b"")
        assert int(answer.headers["Content-Length"]) > 0
        assert forum.get("/big", method="HEAD").status == 200
        assert forum.get("/", method="POST").status == 405


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


def test_front_page_links_to_what_is_there(forum):
    page = forum.get("/").page
    links = {urlsplit(href).path for href in page.css("a::attr(href)").getall()}
    assert {"/search", "/ajax/"} < links
    assert {t.path for t in expected_results("")[:10]} < links
    assert forum.get("/search").status == forum.get("/ajax/").status == 200
