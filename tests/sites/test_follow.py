"""Which links a site follows: by patterns, which take linear time, by domains, and how many."""

import pytest

from crawler import extract, sites
from crawler.base.errors import ExtractError, InputError
from crawler.base.models import Fetched
from crawler.extract import Links
from crawler.sites.model import Site
from crawler.sites.pattern import Pattern

BASE = "http://board.test"
PAGE = f"{BASE}/thread/1"


def site(follow="{}", more="content: {content: css:p}"):
    return sites.parse(f"name: board\n{more}\nfollow: {follow}\n", "board.yaml")


def page(*links, head=""):
    body = head + "<p>text</p>" + "".join(f"<a href='{link}'>x</a>" for link in links)
    return Fetched(PAGE, 200, "text/html", body.encode())


def followed(follow, *links):
    return extract.followed(page(*links), site(follow)).urls


def test_links_of_the_pages_own_host_are_followed():
    others = ("http://board.test:8080/", "https://other.test/", "mailto:a@b")
    links = ("/a", "b?utm_source=x#c", "/a", *others, "//board.test/d")
    assert followed("{}", *links) == (f"{BASE}/a", f"{BASE}/thread/b", f"{BASE}/d")


@pytest.mark.parametrize(
    ("follow", "expected"),
    [
        ("{allow: [/thread/]}", ["/thread/2", "/thread/2/print"]),
        ("{allow: ['/thread/\\d+$', ^http://board.test/user/]}", ["/thread/2", "/user/7"]),
        ("{deny: [/print$, /user/]}", ["/thread/2", "/list"]),
        ("{allow: [/thread/], deny: [/print]}", ["/thread/2"]),
        ("{links: 'css:.none a'}", []),
        ("{links: 'xpath://a[2]/@href'}", ["/thread/2/print"]),
    ],
)
def test_patterns_allow_and_deny_links(follow, expected):
    found = followed(follow, "/thread/2", "/thread/2/print", "/user/7", "/list")
    assert list(found) == [BASE + path for path in expected]


def test_allowed_domains_include_their_subdomains():
    allowed = ("http://a.friend.test/", "http://friend.test:81/")
    others = ("http://unfriend.test/", "http://friend.test.evil.test/")
    assert followed("{allow_domains: [Friend.test]}", *allowed, *others) == allowed


def test_a_host_with_a_dot_at_its_end_is_the_same_host():
    links = ("http://board.test./a", "http://board.test./a/print", "http://friend.test./a")
    found = followed("{deny: ['^http://board.test/a/print'], allow_domains: [friend.test.]}", *links)
    assert found == (links[0], links[2])


def test_links_of_a_page_are_limited_and_the_rest_is_counted():
    links = [f"/{number}" for number in range(20_000)]
    traps = ["/a/b/a/b/a/b/a/b", "/" + "x/" * 50]
    found = extract.followed(page(*traps, "/0", *links), site("{per_page: 3}"))
    assert found.urls == (f"{BASE}/0", f"{BASE}/1", f"{BASE}/2")
    assert (found.left_out, found.traps) == (20_000 - 3, 2)
    assert extract.followed(page(*links), site("{per_page: 3}"), max_links=2).urls == (f"{BASE}/0", f"{BASE}/1")


def test_links_of_json_pages():
    answer = Fetched(PAGE, 200, "application/json", b'{"links": ["/a", "/a/b", 7, null, {"x": 1}]}')
    own = site("{links: 'json:links', deny: [b$]}", "content: {type: json, content: json:text}")
    assert extract.followed(answer, own).urls == (f"{BASE}/a", f"{BASE}/thread/7")


def test_a_site_without_follow_follows_nothing():
    assert extract.followed(page("/a"), sites.load("demo_forum")) == Links()
    with pytest.raises(ExtractError, match="empty-body"):
        extract.followed(Fetched(PAGE, 200, "text/html", b""), site())


@pytest.mark.parametrize(
    ("follow", "expected"),
    [
        ("{allow: ['(']}", "a regular expression in RE2's syntax"),
        ("{allow: ['(?=x)']}", "RE2's syntax"),
        ("{deny: ['(a)\\1']}", "RE2's syntax"),
        ("{deny: ['((a{100}){100}){100}']}", "RE2's syntax"),
        ("{deny: ['']}", "1 to 500 characters"),
        (f"{{deny: [{'x' * 501}]}}", "1 to 500 characters"),
        ("{allow: x}", "allow"),
        ("{allow_domains: ['a/b']}", "a domain such as example.org"),
        ("{allow_domains: ['a.test:80']}", "a domain such as example.org"),
        ("{allow_domains: ['*.a.test']}", "a domain such as example.org"),
        ("{list_types: [lists]}", "listing"),
        ("{depth: 0}", "depth"),
        ("{per_page: 10001}", "per_page"),
        ("{per_host: 0}", "per_host"),
        ("{links: 'json:a'}", "css:... or xpath:..."),
        ("{links: 'text:a'}", "css:... or xpath:..."),
        ("{dept: 1}", "dept"),
    ],
)
def test_the_error_of_a_wrong_definition_says_what_was_expected(follow, expected):
    with pytest.raises(InputError, match=expected.replace("(", r"\(").replace(".", r"\.")):
        site(follow)


def test_json_pages_need_a_json_selector():
    with pytest.raises(InputError, match="json:"):
        site("{}", "content: {type: json, content: json:text}")


def test_a_stored_definition_makes_an_equal_site():
    own = site(
        "{links: 'css:.x a', allow: [a, b+], deny: [c], allow_domains: [d.test], depth: 7, per_page: 8, per_host: 9}"
    )
    assert Site.from_definition(own.definition()) == own
    assert own.definition()["follow"]["allow"] == ["a", "b+"]


@pytest.mark.parametrize(
    "text", ["(a+)+$", "(a|a)*x", "(.*)*x", "(a?){99}a{99}$", "(x+x+)+y", r"^(([a-z])+.)+[A-Z]([a-z])+$"]
)
def test_patterns_that_hang_pythons_re_take_linear_time(text):
    assert not Pattern.parse(text).found_in("a" * 8_000 + "!")
