"""Canonical URLs, by the WHATWG URL Standard and what `crawler.base.urls` strips; fingerprints; crawler traps."""

import random
from urllib.parse import unquote, urlsplit

import ada_url
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.base.errors import ScriptRouteError, UrlError
from crawler.base.urls import (
    MAX_URL_CHARACTERS,
    LinkResolver,
    canonical,
    dropped_fragment,
    fingerprint,
    folded,
    host,
    hostname,
    is_canonical,
    origin,
    redirect_target,
    split_route,
    trap,
    without_host_dot,
)


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("HTTP://EXAMPLE.com:80/a/../b/./c", "http://example.com/b/c"),
        ("https://a:443", "https://a/"),
        ("https://a:8443/x", "https://a:8443/x"),
        ("http://u:p@a/", "http://a/"),
        ("http://:p@a", "http://a/"),
        ("http://a/x#part", "http://a/x"),
        ("http://a/#", "http://a/"),
        ("  http://a/b c?d e \n", "http://a/b%20c?d%20e"),
        ("http://a/\t\nb", "http://a/b"),
        ("http:\\\\a\\b", "http://a/b"),
        ("http://münchen.de/ü?ü=ß", "http://xn--mnchen-3ya.de/%C3%BC?%C3%BC=%C3%9F"),
        ("http://ａ。ｂ/", "http://a.b/"),
        ("http://0x7f.1/", "http://127.0.0.1/"),
        ("http://[0:0::1]:80/", "http://[::1]/"),
        ("http://XN--/", "http://xn--/"),
        ("http://www.Xn--9.example/", "http://www.xn--9.example/"),
        ("http://-tü-.example/", "http://xn---t--ioa.example/"),
        ("http://tü\u00ad.example/", "http://xn--t-eha.example/"),
        ("http://t%C3%BC.example/", "http://xn--t-eha.example/"),
        ("http://a.b./", "http://a.b./"),
        ("http://08.example/", "http://08.example/"),
        ("http:a", "http://a/"),
        ("http:///a", "http://a/"),
        ("http://a?b/../c", "http://a/?b/../c"),
        ("http://a/%2e%2E/b/.%2e/c;/%2e", "http://a/c;/"),
        ("http://a/b//../c", "http://a/b/c"),
        ("http://a/'?'", "http://a/'?%27"),
        ("http://a/%7Efoo/%zz", "http://a/%7Efoo/%zz"),
        ("http://a/?b=2&a=1", "http://a/?b=2&a=1"),
        ("http://a/?utm_source=x", "http://a/"),
        ("http://a/?UTM_Source=x&b=1&gclid=2", "http://a/?b=1"),
        ("http://a/?%75tm_source=x&b", "http://a/?b"),
        ("http://a/?b=1&fbclid", "http://a/?b=1"),
        ("http://a/?b=utm_source", "http://a/?b=utm_source"),
        ("http://a/???x", "http://a/???x"),
        ("http://a/?q=%26utm_source%3d1", "http://a/?q=%26utm_source%3d1"),
        ("http://a/?PHPSESSID=1&wt_mc=2&vd_source=3&piwik_kwd=4&matomo_kwd=5&hsa_acc=6&sid=7", "http://a/?sid=7"),
        ("http://a/b;jsessionid=1A.node/c;v=2;JSESSIONID=1?d", "http://a/b/c;v=2?d"),
        ("http://a/;jsessionid=1", "http://a/"),
        ("http://a/b/..;jsessionid=1/c", "http://a/b/..;jsessionid=1/c"),
        ("http://a/b/%2E.;jsessionid=1", "http://a/b/%2E.;jsessionid=1"),
        ("http://a/b?c=;jsessionid=1", "http://a/b?c=;jsessionid=1"),
    ],
)
def test_urls_of_one_page_have_one_canonical_form(url, expected):
    assert canonical(url) == expected


def outcome(resolve, *arguments, **options):
    """Returns a resolved link; None: it was refused."""
    try:
        return resolve(*arguments, **options)
    except UrlError:
        return None


@pytest.mark.parametrize(
    ("link", "expected"),
    [
        ("../e", "http://a/e"),
        ("?f", "http://a/b/c?f"),
        ("", "http://a/b/c?d"),
        ("#x", "http://a/b/c?d"),
        ("//h/x", "http://h/x"),
        ("https://h", "https://h/"),
        ("/\n", "http://a/"),
        ("http:e", "http://a/b/e"),
        ("http:", "http://a/b/c?d"),
        ("https:e", "https://e/"),
        ("\\\\h\\x", "http://h/x"),
        ("/..//./e", "http://a//e"),
        ("e:f", None),
        ("./e:f", "http://a/b/e:f"),
        ("//", None),
        ("//h:65536", None),
        ("//h:0080", "http://h/"),
    ],
)
def test_links_are_resolved_as_by_a_browser(link, expected):
    assert outcome(canonical, link, "http://a/b/c?d") == expected


@pytest.mark.parametrize(
    "url",
    [
        *("", "http://a b/", "http://\u00ad/", "http://a\u200d/", "http://a/\ud800"),
        *"""x //a http:// http://? http: javascript:alert(1) data:text/html,x ftp://a/ file:///etc/passwd mailto:a@b
        about:blank http://a:99999 http://a:b/ http://u@/a http://[::1 http://[1::2::3]/ http://[::1.2.3]/
        http://256.1.1.1/ http://a.08/ http://1.2.3.4.5/ http://xn--9.ü/ http://xn--ü/ http://a%2Fb/ http://a%00/
        http://אa/""".split(),
    ],
)
def test_what_no_browser_would_fetch_is_refused(url):
    with pytest.raises(UrlError) as caught:
        canonical(url)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("base", ["x", "mailto:a", "http://[", "\ud800"])
def test_a_base_that_is_none_is_refused(base):
    with pytest.raises(UrlError):
        canonical("a", base)


def test_long_urls_are_refused_before_and_after_encoding():
    fits = "http://a/" + "x" * (MAX_URL_CHARACTERS - 9)
    assert canonical(fits) == fits
    for url in (fits + "x", "http://a/" + "长" * 1_000):
        with pytest.raises(UrlError, match=f"expected at most {MAX_URL_CHARACTERS}"):
            canonical(url)


@pytest.mark.parametrize(
    ("link", "refused"),
    [
        ("#/thread/1", True),
        ("#!thread/1", True),
        ("/app#/", True),
        ("http://x.org/app#!/a", True),
        ("/app?a#/b", True),
        (" #\n/thread/1", True),
        ("#top", False),
        ("#", False),
        ("/app/#a/b!", False),
        ("/app/%23/a", False),
    ],
)
def test_what_only_a_script_can_open_is_refused(link, refused):
    for resolve in (LinkResolver("http://x.org/a/b").resolve, lambda link: canonical(link, "http://x.org/a/b")):
        if refused:
            with pytest.raises(ScriptRouteError, match=r"only a browser's script knows what is at http://x\.org/"):
                resolve(link)
        else:
            assert "#" not in resolve(link)


@pytest.mark.parametrize(
    ("link", "kept"),
    [
        ("#/thread/1", "http://x.org/a/b#/thread/1"),
        ("/app?a=1&utm_source=b#!thread/1?b=2&a=1", "http://x.org/app?a=1#!thread/1?b=2&a=1"),
        ("#/a b\u00e9", "http://x.org/a/b#/a%20b%C3%A9"),
        ("#/a?utm_source=b&id=3&fbclid=4", "http://x.org/a/b#/a?id=3"),
        ("#/a?SID=1", "http://x.org/a/b#/a"),
        ("#/?sid=1", "http://x.org/a/b"),
        ("#/", "http://x.org/a/b"),
        ("#!", "http://x.org/a/b"),
        ("/#!/", "http://x.org/"),
        ("#top", "http://x.org/a/b"),
    ],
)
def test_where_a_browser_renders_routes_are_kept(link, kept):
    for base in ("http://x.org/a/b", "http://x.org/a/b#/thread/7"):
        for resolve in (LinkResolver(base).resolve, lambda link, base=base, **given: canonical(link, base, **given)):
            assert resolve(link, drop=frozenset({"sid"}), routes=True) == kept
    assert canonical(kept, routes=True) == kept
    assert split_route(kept)[0] == kept.partition("#")[0]


def test_pages_of_different_routes_are_different_pages():
    spellings = ["http://x.org/?b=1&a=2", "http://x.org/?a=2&b=1"]
    assert len({fingerprint(f"{one}#/c?{query}") for one in spellings for query in ("d=1&e", "e&&d=1")}) == 1
    routes = ["", "#/c", "#/c?a=1", "#/c?a=2", "#/d?a=1"]
    assert len({fingerprint(f"http://x.org/{route}") for route in routes}) == len(routes)


@pytest.mark.parametrize(
    ("location", "target"),
    [("/new", "/new#/thread/1"), ("/new#", "/new"), ("/new#/thread/2", "/new#/thread/2"), ("", "/old#/thread/1")],
)
def test_a_redirect_without_a_fragment_keeps_the_route(location, target):
    assert redirect_target(location, "http://x.org/old#/thread/1", routes=True) == f"http://x.org{target}"


def test_a_site_s_own_parameters_can_be_dropped():
    assert canonical("http://a/c;Sid=1?SID=1&b=2", drop=frozenset({"sid"})) == "http://a/c?b=2"


def odd_urls():
    rng = random.Random(1)
    pieces = [
        *"/?#&=%:@\\ .;'\"<>[]{}|^`~\t\n\0+é中😀\u202e\ud800aßａ。\u00ad\x7f\ufeff",
        *("%75tm_x=1", "%25", "//", "xn--", "0x7f.1", ":80", "utm_a=1", "%2f", "%3F", ".."),
    ]
    for _ in range(2_000):
        yield "http://a" + "".join(rng.choices(pieces, k=rng.randrange(12)))


def test_canonical_is_idempotent_and_plain_ascii():
    accepted = 0
    for url in odd_urls():
        if (once := outcome(canonical, url)) is None:
            continue
        accepted += 1
        assert canonical(once) == once, url
        assert canonical(once, "https://b/c?d") == once, url
        assert once.isascii()
        assert not set(once) & set("# \t\n<>")
        assert urlsplit(once).hostname
        assert "@" not in host(once)
        assert len(fingerprint(once)) == 16
    assert accepted > 500


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("https://a.example/x?y", ("https://a.example", "a.example", "a.example")),
        ("https://a.example:80/x", ("https://a.example:80", "a.example:80", "a.example")),
        ("http://[::1]:81/x", ("http://[::1]:81", "[::1]:81", "[::1]")),
        ("http://a.test./x", ("http://a.test", "a.test", "a.test")),  # a dot at its end names the same host
        ("https://a.test.:8443/x.:1", ("https://a.test:8443", "a.test:8443", "a.test")),
    ],
)
def test_origins_and_hosts_keep_a_port_that_is_not_the_scheme_s(url, expected):
    assert (origin(url), host(url), hostname(url)) == expected


def test_the_order_of_parameters_does_not_tell_pages_apart():
    assert fingerprint("http://a/?b=2&a=1") == fingerprint("http://a/?a=1&b=2")
    assert fingerprint("http://a/?a=1&a=2") == fingerprint("http://a/?a=2&a=1")


def test_everything_else_tells_pages_apart():
    urls = (
        "http://a/",
        "https://a/",
        "http://a/?a",
        "http://a/?a=1",
        "http://a/?a=1&a=1",
        "http://a/A",
        "http://a/%2F",
    )
    different = [
        *map(fingerprint, urls),
        fingerprint("http://a/", method="POST"),
        fingerprint("http://a/", body="x"),
        fingerprint("http://a/", scope="x"),
        fingerprint("http://a/", body="x\0", scope="y"),
        fingerprint("http://a/", body="x", scope="\0y"),
    ]
    assert len(set(different)) == len(different) - 1  # the last two are equal; a scope never holds a NUL


# Spellings of one page, in rows.
SAME_PAGE = [
    ["http://a/%e4", "http://a/%E4"],
    ["http://a/%7Eb/%2d", "http://a/~b/-", "http://a/%7eb/%2D"],
    ["http://a/?%62=1&a=%c3%a4", "http://a/?a=%C3%A4&b=1", "http://a/?a=%C3%A4&&b=1&"],
    ["http://a/", "http://a/?", "http://a/?&", "http://a./", "http://a./?"],
    ["http://a:81/x", "http://a.:81/x"],
    ["http://a/%41%zz", "http://a./%41%zz"],
    ["http://a/%zz", "http://a/%zz?"],
    ["http://a/%2541"],
    ["http://a/%2f%2F", "http://a/%2F%2f"],
    ["http://a//"],
]


def test_spellings_of_one_page_have_one_fingerprint_unless_the_site_says_otherwise():
    fingerprints = [{fingerprint(canonical(url)) for url in row} for row in SAME_PAGE]
    assert all(len(one) == 1 for one in fingerprints)
    assert len(set.union(*fingerprints)) == len(SAME_PAGE)
    for row in SAME_PAGE:
        assert [canonical(url) for url in row] == row  # fetched as found
        assert len({fingerprint(url, exact=True) for url in row}) == len(row)


CHARACTERS = st.sampled_from("aZ0-._~%4125fFeE&=?/;+'")


@given(st.text(CHARACTERS, max_size=12), st.sampled_from(["a", "a.b", "a.", "a.:81"]))
def test_folding_is_idempotent_and_gives_a_canonical_url(text, name):
    try:
        url = canonical(f"http://{name}/{text}")
    except UrlError:
        return
    once = folded(url)
    assert folded(once) == once
    assert folded(canonical(once)) == once
    assert unquote(urlsplit(once).path) == unquote(urlsplit(url).path)


@given(st.lists(st.text(st.sampled_from("abZ~-ä /"), min_size=1, max_size=4), max_size=4), st.randoms())
def test_every_spelling_of_a_path_and_its_parameters_is_one_page(words, dice):
    def spelled(word):
        return "".join(
            dice.choice((f"%{byte:02x}", f"%{byte:02X}", chr(byte) if chr(byte) in "abZ~-" else f"%{byte:02X}"))
            for byte in word.encode()
        )

    def address():
        parameters = [*map(spelled, words), *[""] * dice.randrange(3)]
        dice.shuffle(parameters)
        return canonical(f"http://a{dice.choice(('', '.'))}/{'/'.join(map(spelled, words))}?{'&'.join(parameters)}")

    assert len({fingerprint(address()) for _ in range(5)}) == 1


@pytest.mark.parametrize(
    ("url", "dropped"),
    [("http://a/#Title", "#Title"), ("http://a/#/title", ""), ("http://a/#!title", ""), ("http://a/", "")],
)
def test_a_fragment_that_is_no_route_is_dropped(url, dropped):
    assert dropped_fragment(url) == dropped


def test_fingerprints_stay_the_same_between_versions():
    assert fingerprint("http://a/?b=2&a=1").hex() == "3488d9a5909bcdc11dcb3477bcca3fa1"


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("http://x.org", ""),
        ("http://x.org/", ""),
        ("http://x.org/a/b/c", ""),
        ("http://x.org/2011/11/11/11-news", ""),
        ("http://x.org/a/a/a/", ""),
        ("http://x.org/a/a/a/a", "repeated-segments"),
        ("http://x.org/a/a/a/a/", "repeated-segments"),
        ("http://x.org/start/a/a/a/a/end", "repeated-segments"),
        ("http://x.org/a/b/a/b/a/b/", ""),
        ("http://x.org/a/b/a/b/a/b/a/b", "repeated-segments"),
        ("http://x.org/x/a/b/c/a/b/c/a/b/c/a/b/c/y", "repeated-segments"),
        ("http://x.org/a/b/a/c/a/d/a/e/a/f", ""),
        ("http://x.org/////", "repeated-segments"),
        ("http://x.org/?next=/a/a/a/a/a/a", ""),
        ("http://x.org/" + "/".join(map(str, range(30))), ""),
        ("http://x.org/" + "/".join(map(str, range(31))), "too-many-segments"),
        ("http://x.org/?" + "&".join(f"p{n}=1" for n in range(50)), ""),
        ("http://x.org/?" + "&".join(f"p{n}=1" for n in range(51)), "too-many-parameters"),
    ],
)
def test_a_trap_is_told_by_its_address(url, expected):
    assert trap(canonical(url)) == expected


@pytest.mark.parametrize(
    "url",
    [
        "http://" + "a" * 255 + ".org/",
        "http://" + "a." * 200 + "org/",
        "http://a" + "\u0301\u0316" * 4_000 + ".org/",
        "//a" + "\u0301\u0316" * 4_000,
        "\\\\a" + "\u0301\u0316" * 4_000,
        "ht\ntp:\t//a" + "\u0301\u0316" * 4_000,
        "http://" + "ü" * 500 + ".org/",
        "http://" + "a" * 64 + ".org/",
        "http://x." + "a" * 64 + ":80/",
        "http://a..b/",
        "http://.a/",
        "http://./",
        "http://a../",
    ],
)
def test_a_host_that_no_dns_can_hold_is_refused(url):
    with pytest.raises(UrlError):
        canonical(url, "http://x.org/")


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("https://a.example:8443/x?y=%C3%A4;z", True),
        ("http://[::1]/", True),
        ("http://a.example", False),
        ("http://a.example:80/", False),
        ("http://user@a.example/", False),
        ("http://127.1/", False),
        ("http://a.example/\r\nX: y", False),
        ("http://a.example/?utm_source=x", False),
        ("ftp://a.example/", False),
        ("http:///", False),
    ],
)
def test_only_its_own_canonical_form_is_canonical(url, expected):
    assert is_canonical(url) == expected


PIECES = """/ // .. ../ ./ . a b.c thread %2e %2E %41 %zz é 漢 \\ ? # & = utm_source=x sid=3 SID=%33 q=1 @ u:p@
    : :80 :8080 http: https:// http://x.org HTTP://x.org http://x.org:8080 //other.org/ mailto:x
    ' " < [ | ^ ` { ~ $ ! * ( + , ;
    \x00 \x7f xn--a 127.1 0x7f 1.2.3.4 \ud800 C: C|""".split()
PIECES += [" ", "\t"]
BASES = """http://x.org/ http://x.org/a/b?x=1#f http://x.org:8080/a/b/c/ https://u:p@x.org/x http://10.0.0.1:80/ ftp://x/y
    mailto:a http://x.org/a/b/../c;d? http://X.org:80/A garbage http://xn--fsq.org/x/""".split()
BASES += r"""http://x.org/a/.. http://x.org/a/%2e/b http://x.org//a//b http://x.org/a\b/c http://x.org/a;sid=1/b;c/d
    http://x.org/a/b?c=/d/e#/f http://0x7f/a/b http://xn--a/b/c http://x.org/a/b:c/%2E%2e""".split()
BASES += ["http://x.org/" + "a/" * 480]


@pytest.mark.parametrize("base", BASES)
def test_the_resolver_gives_what_the_parser_gives_for_any_link(base):
    dice, drop, resolver = random.Random(base), frozenset({"sid"}), LinkResolver(base)
    for _ in range(1_000):
        start = dice.choice(("", "/", "../", "../../", "http://x.org", "http://10.0.0.1:8800", "http://a.b-c.org:99/"))
        path = "/".join(
            dice.choices(("a", "b.c", "x:y", "%E9", "d;e", "..", ".", "", ".h", "~u"), k=dice.randint(0, 5))
        )
        end = dice.choice(("", "?q=1&utm_x=3", "?", "?sid=2", "#x", "?a=b#c?d", "?'", "?a b", "/"))
        odd = "".join(dice.choices(PIECES, k=dice.randint(1, 7)))
        link = dice.choice((start + path + end, odd)).strip() or "/"
        url = outcome(resolver.resolve, link, drop=drop)
        assert url == outcome(canonical, link, base, drop=drop), link
        if url:
            parsed = ada_url.URL(without_host_dot(url))
            assert (host(url), hostname(url)) == (parsed.host, parsed.hostname)


def test_an_absolute_url_becomes_what_the_parser_makes_of_it_whatever_origins_are_remembered():
    dice, drop = random.Random(7), frozenset({"sid"})
    origins = (
        "http://x.org",
        "https://x.org",
        "http://x.org:80",
        "http://x.org:0099",
        "http://X.org",
        "http://x.org.",
        "http://10.0.0.1:8800",
        "http://0x7f.1",
        "http://256.1.1.1",
        "http://-a-.b",
        "http://xn--9",
        "http://a..b",
        f"http://{'a' * 64}.org",
        "http://x.org:99999",
    )
    for _ in range(3_000):
        path = "/".join(
            dice.choices(("a", "b.c", "x:y", "%E9", "%2e", "d;sid=1", "..", ".", "", "~u"), k=dice.randint(0, 5))
        )
        end = dice.choice(("", "?q=1&utm_x=3", "?", "?sid=2", "#x", "#/x", "?a=b#c?d", "?'", "?a b", "/", "é"))
        url = f"{dice.choice(origins)}{dice.choice(('/', '', '//'))}{path}{end}"
        assert outcome(canonical, url, drop=drop) == outcome(canonical, url, "ftp://elsewhere/", drop=drop), url
