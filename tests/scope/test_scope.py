"""A plan's scope: which addresses each filter refuses, in which order they are asked, and what a failing one does."""

import time

import pytest
from scope.mmdb import database

from crawler.base.errors import ConfigError, InputError, PlanError
from crawler.base.yamlfile import parse, validate
from crawler.scope.candidate import Candidate
from crawler.scope.scope import Scope
from crawler.scope.scope_file import ScopeFile
from crawler.scope.url_filter import UrlFilter


def scope_of(yaml, **settings):
    return Scope.of(validate(parse(yaml, "plan.yaml"), ScopeFile), settings)


# A scope; addresses that are in it; those that its filter refuses.
BY_URL = [
    ("hosts: ['*.gov.cn']", "https://a.gov.cn/ https://b.a.gov.cn:8443/", "https://gov.cn/ https://xgov.cn/"),
    ("hosts: [a.test, not b.a.test]", "http://a.test/ http://a.test./", "http://b.a.test/ http://c.test/"),
    ("hosts: ['not *.ads.test']", "http://ads.test/ http://a.test/", "http://x.ads.test/"),
    ("hosts: ['[2001:db8::1]']", "http://[2001:db8::1]/", "http://[2001:db8::2]/"),
    ("domains: [example.co.uk]", "http://a.b.example.co.uk/ http://example.co.uk/", "http://other.co.uk/"),
    ("domains: [not a.github.io]", "http://b.github.io/ http://github.io/", "http://a.github.io/"),
    ("domains: [Bücher.example]", "http://www.xn--bcher-kva.example/", "http://bucher.example/"),
    ("allow: ['/news/', '^https://a']", "http://b/news/ https://a.test/", "http://a.test/news"),
    ("deny: ['/print$']", "http://a/print?x http://a/", "http://a/print"),
    ("deny: ['^http://a\\.test/']", "http://b.test/", "http://a.test/ http://a.test./x"),
    ("suffixes: [not .zip, not .tar.gz]", "http://a.zip/ http://a/x?f=.zip", "http://a/x.ZIP?y http://a/x.tar.gz"),
    ("suffixes: [.html]", "http://a/x.html#/route.zip http://a/b.HTML", "http://a/ http://a/html"),
    ("addresses: [203.0.113.0/24]", "http://203.0.113.9/ http://a.test/", "http://203.0.114.9/ http://[::1]/"),
    ("addresses: ['not 10.0.0.0/8']", "http://11.1.1.1/", "http://10.1.1.1/ http://[::ffff:10.1.1.1]/"),
]


@pytest.mark.parametrize(("yaml", "inside", "outside"), BY_URL)
def test_a_filter_refuses_what_its_entries_dont_name(yaml, inside, outside):
    scope, name = scope_of(yaml), yaml.partition(":")[0]
    assert {url: scope.refusal(Candidate.of(url)) for url in inside.split()} == dict.fromkeys(inside.split(), "")
    assert {url: scope.refusal(Candidate.of(url)) for url in outside.split()} == dict.fromkeys(outside.split(), name)


def test_depth_is_that_of_links():
    scope = scope_of("depth: 2")
    assert [scope.refusal(Candidate.of("http://a/", depth=depth)) for depth in (0, 2, 3)] == ["", "", "depth"]


def test_what_isnt_known_yet_is_in_scope_and_judged_once_it_is():
    scope = scope_of(
        "{addresses: ['not 10.0.0.0/8'], content_types: [text/html, 'image/*', not image/gif], max_bytes: 10,"
        " languages: [zh]}"
    )
    page = Candidate.of("http://a.test/")
    assert scope.refusal(page) == ""
    for known, refusal in (
        ({"addresses": ("203.0.113.1",)}, ""),
        ({"addresses": ("203.0.113.1", "10.0.0.1")}, "addresses"),
        ({"content_type": "text/html"}, ""),
        ({"content_type": "image/png"}, ""),
        ({"content_type": "image/gif"}, "content-types"),
        ({"content_type": "application/pdf"}, "content-types"),
        ({"size_bytes": 11}, "max-bytes"),
        ({"language": "zh-Hant"}, ""),
        ({"language": "en"}, "languages"),
    ):
        assert scope.refusal(Candidate("http://a.test/", "a.test", **known)) == refusal, known
    assert all(scope.asks(step) for step in ("addresses", "head", "page"))
    assert not scope_of("hosts: [a.test]").asks("addresses")


@pytest.mark.parametrize("value", ["99999999999999999999999", ".nan", "[1, {a: .inf}]"])
def test_values_of_own_filters_are_those_that_redis_keeps(value):
    with pytest.raises(InputError, match=r"own: .* expected values that JSON can have"):
        scope_of(f"own: {{weekday: {value}}}")


def test_media_have_bounds_of_their_own():
    scope = scope_of("{hosts: [a.test], media: {hosts: [cdn.test]}}")
    picture = "http://cdn.test/x.png"
    assert (scope.refusal(Candidate.of(picture)), scope.refusal(Candidate.of(picture, kind="media"))) == ("hosts", "")
    assert scope.refusal(Candidate.of("http://a.test/x.png", kind="media")) == "hosts"
    assert scope_of("hosts: [a.test]").refusal(Candidate.of(picture, kind="media")) == ""


def test_regions_are_those_of_the_operators_database(tmp_path):
    file = tmp_path / "regions.mmdb"
    city = {"country": {"iso_code": "CN"}, "city": {"names": {"en": "Beijing"}}}
    file.write_bytes(database({"203.0.113.0/24": city}, time.time()))
    scope = scope_of("regions: [CN/Beijing]", REGION_DB=str(file))
    hosts = ("203.0.113.1", "203.0.114.1", "a.test")
    assert [scope.refusal(Candidate.of(f"http://{host}/")) for host in hosts] == ["", "regions", ""]
    assert scope_of("regions: [not CN]", REGION_DB=str(file)).refusal(Candidate.of("http://203.0.113.1/")) == "regions"
    with pytest.raises(ConfigError, match="setting REGION_DB: got '', expected a database of regions"):
        scope_of("regions: [CN]")


class WeekdayFilter(UrlFilter):
    name = "weekday"

    def refuses(self, candidate):
        return self.wanted[candidate.depth] == "sunday"


def test_anyone_adds_a_filter_and_one_that_raises_refuses_by_its_name_and_is_logged_once(caplog):
    path = f"{__name__}.WeekdayFilter"
    scope = scope_of("{own: {weekday: [monday, sunday]}, deny: [x]}", URL_FILTERS={WeekdayFilter: 1})
    answers = [scope.refusal(Candidate.of("http://a/x", depth=depth)) for depth in (0, 1, 2, 3)]
    assert answers == ["deny", "weekday", "weekday", "weekday"]
    assert [record.getMessage() for record in caplog.records] == [
        "filter weekday refuses http://a/x, since it raised an error: IndexError('list index out of range')"
    ]
    assert not scope_of("deny: [x]", URL_FILTERS={"crawler.scope.filters.urls.DenyFilter": None})
    for wrong in ({"crawler.scope.nothing": 1}, {"crawler.scope.scope.Scope": 1}, {path: "first"}, "x"):
        with pytest.raises(ConfigError, match="setting URL_FILTERS"):
            scope_of("deny: [x]", URL_FILTERS=wrong)


@pytest.mark.parametrize("key", ["own: {weekdy: 1}", "own: {hosts: [a.test]}", "media: {own: {weekdy: 1}}"])
def test_a_value_for_a_filter_that_is_not_there_is_refused_by_its_name(key):
    with pytest.raises(PlanError, match=r"own\.'?(weekdy|hosts)'?: expected the name of a filter .*: weekday"):
        scope_of(key, URL_FILTERS={WeekdayFilter: 1})


# What a plan's scope says; the message, after the file's name.
REFUSED = [
    ("deny: [x, ^/news]", "deny.1: got '^/news', expected a pattern that some address matches; they begin with http"),
    ("deny: ['.*']", "deny.0: got '.*', expected a pattern that doesn't match every address"),
    ("allow: ['(']", "allow.0: got '(', expected a regular expression in RE2's syntax (missing ): ()"),
    (
        "domains: [gov.cn]",
        "domains.0: got 'gov.cn', expected a registrable domain; others register theirs below",
    ),
    ("domains: [not a.b.test]", "domains.0: got 'not a.b.test', expected a registrable domain, such as b.test; for a"),
    ("hosts: ['http://a/']", "hosts.0: got 'http://a/', expected a host's name such as www.example.org, without sch"),
    ("hosts: ['a.*']", "hosts.0: got 'a.*', expected a host's name"),
    ("addresses: [10.0.0.1/8]", "addresses.0: got '10.0.0.1/8', expected an IP address, or a network such as 203.0."),
    ("regions: [China]", "regions.0: got 'China', expected a region such as CN, CN-BJ or CN/Beijing"),
    ("suffixes: [zip]", "suffixes.0: got 'zip', expected an ending in small letters such as .zip"),
    ("languages: [no]", "languages.0: got 'no', expected text: put it in quotes"),
    ("content_types: [html]", "content_types.0: got 'html', expected a media type"),
    ("max_bytes: 0", "max_bytes: got 0, expected at least 1"),
    ("host: [a]", "host: got 'host', expected hosts (did you mean it?)"),
    ("media: {depth: 1}", "media.depth: got 'depth', expected one of addresses, allow,"),
]


@pytest.mark.parametrize(("yaml", "message"), REFUSED)
def test_a_wrong_entry_is_named_with_what_is_expected(yaml, message):
    with pytest.raises(InputError) as refusal:
        scope_of(yaml)
    assert str(refusal.value).startswith(f"plan.yaml:1: {message}")
