"""Where the headers, cookies and secrets of a site go."""

from __future__ import annotations

import pytest

from crawler import sites
from crawler.base.errors import ConfigError, InputError
from crawler.config import SITE_SECRET_HOSTS
from crawler.download.site_headers import NoSecretError, SiteHeaders

SITE = sites.parse(
    """
name: s
base: https://board.test/forum
headers: {Accept-Language: zh, X-Key: "${SITE_SECRET_A}-${SITE_SECRET_B}"}
cookies: {over18: "1", session: "${SITE_SECRET_A}"}
search: {url: "https://search.test/{query}"}
results: {links: css:a}
""",
    "s.yaml",
)
WHOLE = {"Accept-Language": "zh", "X-Key": "aaa-bbb", "Cookie": "over18=1; session=aaa"}
PLAIN = {"Accept-Language": "zh", "Cookie": "over18=1"}
BOUND = "SITE_SECRET_A=board.test, SITE_SECRET_A=api.test:8443,SITE_SECRET_B=board.test,SITE_SECRET_B=http://10.0.0.1"


@pytest.fixture
def secrets(monkeypatch):
    """Sets secrets, all of them when nothing else is said; returns the headers of a process that has them."""

    def set_secrets(bound=BOUND, **values):
        for name, value in ({"A": "aaa", "B": "bbb"} | values).items():
            monkeypatch.setenv(f"SITE_SECRET_{name}", value)
        return SiteHeaders.of({"SITE_SECRET_HOSTS": bound})

    return set_secrets


@pytest.mark.parametrize(
    ("url", "page_host", "expected"),
    [
        ("https://board.test/1", "board.test", WHOLE),
        ("https://board.test/1", "", WHOLE),  # a page to which another host's redirected
        ("https://board.test./1", "board.test", WHOLE),
        ("http://board.test/1", "board.test", PLAIN),  # not without TLS
        ("https://board.test:8443/1", "board.test:8443", PLAIN),
        ("https://api.test:8443/1", "", {"Cookie": "session=aaa"}),  # one of the two secrets of X-Key may not
        ("http://10.0.0.1/1", "10.0.0.1", PLAIN),
        ("https://search.test/flood", "", PLAIN),
        ("https://board.test.evil.test/1", "board.test.evil.test", PLAIN),
        ("https://evil.test/board.test", "", {}),
        ("https://evil.test/1", "board.test", {}),
    ],
)
def test_a_secret_goes_to_the_origins_that_it_is_bound_to(secrets, url, page_host, expected):
    assert secrets().at(SITE, url, page_host) == expected


@pytest.mark.parametrize(
    ("values", "bound", "expected"),
    [
        ({"B": ""}, BOUND, "site s: SITE_SECRET_B isn't set in the environment of this process"),
        ({"A": "a\r\nX: y"}, BOUND, "site s: SITE_SECRET_A has characters that can't be sent"),
        ({"A": "a;b"}, BOUND, "site s: SITE_SECRET_A has characters that can't be sent"),
        ({}, "SITE_SECRET_A=board.test", "site s: SITE_SECRET_B is bound to no host: SITE_SECRET_HOSTS binds it"),
    ],
)
def test_a_missing_secret_is_named_and_none_is_shown(secrets, values, bound, expected):
    with pytest.raises(NoSecretError) as caught:
        secrets(bound, **values).at(SITE, "https://board.test/1", "board.test")
    assert str(caught.value) == expected


def test_a_site_that_is_asked_without_tls_does_not_go_without_its_secret(secrets):
    plain = sites.parse('name: s\nbase: http://board.test/forum\ncookies: {session: "${SITE_SECRET_A}"}', "s.yaml")
    with pytest.raises(NoSecretError, match=r"SITE_SECRET_HOSTS binds it to http://board\.test, if"):
        secrets("SITE_SECRET_A=board.test").at(plain, "http://board.test/forum", "board.test")
    bound = secrets("SITE_SECRET_A=http://board.test")
    assert bound.at(plain, "http://board.test/forum", "board.test") == {"Cookie": "session=aaa"}


def test_nothing_in_a_secret_acts_as_the_name_of_another(secrets):
    found = secrets(A="${SITE_SECRET_B}").at(SITE, "https://board.test/1", "board.test")
    assert found["X-Key"] == "${SITE_SECRET_B}-bbb"


def test_a_secret_may_stand_in_a_file_of_credentials(secrets, monkeypatch, tmp_path):
    (tmp_path / "SITE_SECRET_A").write_text("from a file\n")
    monkeypatch.setenv("CREDENTIALS_DIRECTORY", str(tmp_path))
    found = secrets("SITE_SECRET_A=board.test,SITE_SECRET_B=x.test", A="").bindings(SITE)
    assert found == {
        "SITE_SECRET_A": {"hosts": ["https://board.test"], "is_set": True},
        "SITE_SECRET_B": {"hosts": ["https://x.test"], "is_set": True},
    }


@pytest.mark.parametrize(
    "value",
    [
        "SITE_SECRET_A",
        "PATH=a.test",
        "SITE_SECRET_A=ftp://a.test",
        "SITE_SECRET_A=a.test/x",
        "SITE_SECRET_HOSTS=a.test",
        "SITE_SECRET_A=*",
        "SITE_SECRET_A=a@b.test",
        "SITE_SECRET_a=a.test",
        "SITE_SECRET_A=",
    ],
)
def test_what_binds_nothing_is_refused(value):
    with pytest.raises(ConfigError, match="expected SITE_SECRET_NAME=HOST, several with commas"):
        SITE_SECRET_HOSTS.of({"SITE_SECRET_HOSTS": value})


@pytest.mark.parametrize(
    ("key", "value", "expected"),
    [
        ("headers", {"X": "${REDIS_URL}"}, "no other variables of the environment"),
        ("headers", {"X": "${SITE_SECRET_HOSTS}"}, "no other variables of the environment"),
        ("headers", {"X": "${SITE_SECRET_A"}, "with its closing brace"),
        ("headers", {"X": "a\r\nB: c"}, "expected text that matches"),
        ("headers", {"X\nY": "a"}, "expected text that matches"),
        ("headers", {"Host": "a"}, "the crawl sets this one itself"),
        ("headers", {"cookie": "a"}, "the crawl sets this one itself"),
        ("headers", {"Proxy-Authorization": "${SITE_SECRET_A}"}, "the crawl sets this one itself"),
        *(("headers", {name: "hush"}, "definitions stand in Redis") for name in ("Authorization", "X-Api-Key")),
        ("cookies", {"access_token": "hush"}, "definitions stand in Redis"),
        ("cookies", {"a": "b; c=d"}, "expected text that matches"),
    ],
)
def test_a_file_sends_no_other_variable_and_no_password_in_the_clear(key, value, expected):
    with pytest.raises(InputError, match=expected) as caught:
        sites.Site.from_definition({"name": "s", key: value})
    assert "hush" not in str(caught.value)


@pytest.mark.parametrize("wrong", [{"Authorization": "hush\n"}, {"Authorization": "hush", "X": "${Y}"}])
def test_no_error_shows_a_password(wrong):
    for definition in ({"headers": wrong}, {"headers": wrong, "parser": "a:b", "content": {"title": "css:h1"}}):
        with pytest.raises(InputError) as caught:
            sites.Site.from_definition({"name": "s", **definition})
        assert all("hush" not in str(error) for error in (caught.value, *caught.value.further))
