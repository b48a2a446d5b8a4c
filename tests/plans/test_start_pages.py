"""Start files are read as they come, in bounded memory; and a plan's addresses are told apart by sites and kinds."""

from __future__ import annotations

import tracemalloc
from dataclasses import replace

import pytest

from crawler import plans
from crawler.base.errors import InputError
from crawler.plans.plan_follow import PlanFollow
from crawler.plans.site_choice import SiteChoice
from crawler.plans.start_pages import Skipped, start_pages
from crawler.sites import load

HERE = "https://www.a.example/x"


@pytest.fixture
def load_plan(tmp_path):
    """Reads a plan of such keys, in a folder with a start file of such content."""

    def read(content=b"", keys="start_file: [hosts.txt]"):
        (tmp_path / "hosts.txt").write_bytes(content)
        (tmp_path / "plan.yaml").write_text(f"name: city\n{keys}\n")
        return plans.load(str(tmp_path / "plan.yaml"), max_seeds=100)

    return read


def urls(plan):
    return [seed.url for seed in start_pages(plan, Skipped())]


def test_a_file_of_many_lines_takes_no_more_memory_than_one_line(load_plan):
    plan = load_plan(b"".join(b"https://h%d.example/\n" % number for number in range(30_000)) + b"x" * 5_000_000)
    skipped = Skipped()
    tracemalloc.start()
    try:
        number = sum(1 for _ in start_pages(plan, skipped))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert number == 30_000
    assert skipped.why.total() == 1
    assert peak < 3_000_000


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"", []),
        (b"\xef\xbb\xbfhttps://a.example/", ["https://a.example/"]),
        (b"\xef\xbb\xbf# hosts\r\n\r\n\thttps://a.example\r\n", ["https://a.example/"]),
        ("https://例子.example/路".encode(), ["https://xn--fsqu00a.example/%E8%B7%AF"]),
        (
            b"\0\n\xff\nftp://a.example/\njavascript:1\na.example\n/x\nhttps://\nhttps://b.example/",
            ["https://b.example/"],
        ),
    ],
)
def test_lines_are_addresses_or_left_out(load_plan, content, expected):
    assert urls(load_plan(content)) == expected


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("../plan.yaml", "a file in the plan's folder, or below it"),
        ("/etc/hosts", "a file in the plan's folder, or below it"),
        ("none.txt", "a file that exists in "),
        (".", "a file that exists in "),
    ],
)
def test_a_start_file_lies_in_the_plans_folder(load_plan, name, expected):
    with pytest.raises(InputError, match=f"plan.yaml:2: start_file.0: got .*, expected {expected}"):
        load_plan(keys=f"start_file: ['{name}']")


def test_a_file_in_another_encoding_is_refused_as_a_whole(load_plan):
    plan = load_plan("https://a.example/\n".encode("utf-16"))
    with pytest.raises(InputError, match=r"hosts\.txt: got 'UTF-16', expected UTF-8"):
        urls(plan)


def test_a_definition_holds_no_addresses_of_files_and_makes_an_equal_plan(load_plan):
    keys = "start_file: [hosts.txt]\nstart: [https://a.example/]\nfollow: {depth: 2, list: [/page/]}\nfeeds: [https://a.example/f]"
    plan = load_plan(b"https://secret.example/\n", keys)
    definition = plan.definition()
    assert "secret" not in str(definition)
    assert definition["sites"] == ["web", "any_feed"]
    again = plans.Plan.from_definition(definition, {site.name: site for site in plan.sites})
    assert again == plan
    with pytest.raises(InputError, match="a plan that is read from a file"):
        urls(again)


def test_scheduled_start_pages_are_lists_of_their_plan_alone(load_plan):
    keys = "start: [https://a.example/, https://a.example/article/1]\nschedule: every 1h\nfollow: {detail: [/article/]}"
    front, article = start_pages(load_plan(keys=keys), Skipped())
    assert (front.interval_s, article.interval_s) == (3_600, 0)
    assert front.fingerprint != replace(front, plan="other").fingerprint
    assert article.fingerprint == replace(article, plan="other").fingerprint


def test_pages_are_read_by_the_site_of_their_host():
    board = load("demo_forum").named("board", "https://board.example")
    named = [(load("mediawiki").named("wiki", "https://w.example"), ("x.example", "*.gov.cn", "*.a.gov.cn"))]
    choice = SiteChoice([*named, (board, ()), (load("web"), ())])
    chosen = {
        "https://x.example/": "wiki",
        "https://y.x.example/": "web",
        "https://b.gov.cn/": "wiki",
        "https://gov.cn/": "web",
        "https://board.example/thread/1": "board",
        "https://board.example:8443/": "web",
        "http://[::1]/": "web",
    }
    assert {url: choice.of(url) for url in chosen} == chosen
    assert choice.of("https://r.example/2", "https://r.example/1", "board") == "board"
    assert SiteChoice([(board, ())]).of("https://r.example/") == ""


@pytest.mark.parametrize(
    ("keys", "url", "link", "redirect"),
    [
        ({}, "https://a.example/y", True, True),
        ({}, "https://a.example:8443/y", False, True),
        ({}, "https://news.a.example/", False, True),
        ({}, "https://b.example/", False, False),
        ({}, "https://s.example/y", True, True),
        ({"hosts": "any"}, "https://b.example/", True, True),
        ({"allow_domains": ("b.example",)}, "https://c.b.example/", True, True),
        ({"allow": ["/z"]}, "https://a.example/y", False, True),
        ({"deny": ["/y"]}, "https://a.example/y", False, True),
        ({"never": ["/y"]}, "https://a.example/y", False, False),
    ],
)
def test_links_and_redirects_of_start_pages_stay_where_the_plan_says(keys, url, link, redirect):
    follow, start_hosts = PlanFollow(**keys), frozenset({"s.example"})
    assert follow.wants(url, HERE, start_hosts) is link
    assert follow.may_redirect(url, HERE, start_hosts) is redirect
