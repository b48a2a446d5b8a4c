"""robots.txt: each case is named after the rule it holds, of RFC 9309 (by section) or of Google's parser.

`ours` marks what neither says. The cases are plain data, so that other parsers can be held against them too.
"""

import random
import re
import time

import pytest

from crawler.robots.rules import MAX_FILE_BYTES, MAX_LINE_BYTES, clip, parse, product_token

AGENT = "ExampleBot"
LONG = "a" * 20_000


def group(*rules, agent="*"):
    """Returns a file with one group."""
    return "\n".join((f"User-agent: {agent}", *rules, ""))


def table(source, rule, blocked, allowed, *rules, under="*", lines=None, agent=AGENT):
    """Returns a case for each path; paths are one text with blanks between them, or a tuple.

    The file is `lines`, or one group with these rules under a User-agent of `under`.
    """
    lines = group(*rules, agent=under) if lines is None else lines
    body = lines if isinstance(lines, bytes) else lines.encode()
    blocked, allowed = (paths.split() if isinstance(paths, str) else paths for paths in (blocked, allowed))
    return [
        pytest.param(body, agent, path, path in allowed, id=f"{source}-{rule}-{path[:40]}")
        for path in (*blocked, *allowed)
    ]


RFC_EXAMPLE = """
            User-Agent: *
            Disallow: *.gif$
            Disallow: /example/
            Allow: /publications/

            User-Agent: foobot
            Disallow:/
            Allow:/example/page.html
            Allow:/example/allowed.gif

            User-Agent: barbot
            User-Agent: bazbot
            Disallow: /example/page.html

            User-Agent: quxbot

            EOF
"""
GROUPS = """
allow: /foo/bar/

user-agent: FooBot
disallow: /
allow: /x/
user-agent: BarBot
disallow: /
allow: /y/


allow: /w/
user-agent: BazBot

user-agent: FooBot
allow: /z/
disallow: /
"""

# A table: a case is a line or a few, its source and its name on the first; then what is blocked, what is allowed.
# fmt: off
CASES = [
    # -- 2.2.1 groups and agents ------------------------------------------------------------------------------------
    *table("2.2", "a file without lines allows all", "", "/x", lines=""),
    *table("2.1", "rules outside a group are ignored", "", "/x", lines="Disallow: /x\n"),
    *table("2.2.1", "the star's group counts when none matches", "/x", "/y", "Disallow: /x"),
    *table("2.2.1", "the star's group doesn't count when one matches",
        "/y", "/x", lines=group("Disallow: /x") + group("Disallow: /y", agent=AGENT)),
    *table("2.2.1", "a matching group without rules allows all",
        "", "/x", lines=group("Disallow: /") + group(agent=AGENT)),
    *table("2.2.1", "no group matches and none is for the star", "", "/x", "Disallow: /", under="other"),
    *table("2.2.1", "the token matches in any case", "/x", "", "Disallow: /x", under="eXAMPLEbOT"),
    *table("2.2.1", "the token is not a prefix", "", "/x", "Disallow: /x", under="Example"),
    *table("2.2.1", "the token has no suffix", "", "/x", "Disallow: /x", under="ExampleBot-News"),
    *table("google", "a version after the token is no part of it",
        "/x", "", "Disallow: /x", under="ExampleBot/2.1 (+https://e.example)"),
    *table("google", "a line's value ends at the first blank", "/x", "", "Disallow: /x", under="ExampleBot Images"),
    *table("google", "an agent with a blank is no product token",
        "/x", "", lines=group("Disallow: /") + group("Allow: /x", agent="Foo Bar"), agent="Foo Bar"),
    *table("google", "an empty agent matches the star only",
        "/x", "/y", lines=group("Disallow: /y", agent="") + group("Disallow: /x"), agent=""),
    *table("2.2.1", "groups of the same agent are one",
        "/a /b", "/c", lines=group("Disallow: /a", agent=AGENT) + group("Disallow: /c", agent="b")
        + group("Disallow: /b", agent=AGENT)),
    *table("2.2.1", "groups of the star are one",
        "/a /b", "/c", lines=group("Disallow: /a") + group("Disallow: /c", agent="b") + group("Disallow: /b")),
    *table("2.1", "agents on following lines share a group",
        "/x", "", lines="User-agent: a\nUser-agent: ExampleBot\nUser-agent: b\nDisallow: /x\n"),
    *table("2.1", "a blank line ends no group", "/x", "", lines="User-agent: ExampleBot\n\n\nDisallow: /x\n"),
    *table("google", "a blank line between agents ends no group",
        "/x", "", lines="User-agent: ExampleBot\n\nUser-agent: b\nDisallow: /x\n"),
    *table("2.1", "an agent line after a rule begins a group",
        "/a", "/b", lines="User-agent: ExampleBot\nDisallow: /a\nUser-agent: b\nDisallow: /b\n"),
    *table("google", "an empty rule ends a list of agents",
        "", "/x", lines="User-agent: ExampleBot\nDisallow:\nUser-agent: b\nDisallow: /x\n"),
    *table("google", "a star with more after a blank is the star", "/x", "", "Disallow: /x", under="* bot"),
    *table("google", "a star with more at once is no star", "", "/x", "Disallow: /x", under="*bot"),
    *table("2.2.4", "Sitemap ends no group",
        "/x", "", lines="User-agent: ExampleBot\nSitemap: https://e.example/s.xml\nUser-agent: b\nDisallow: /x\n"),
    *table("2.2.4", "Sitemap between rules is no rule", "/a /b", "", "Disallow: /a", "Sitemap: /b", "Disallow: /b"),
    *table("2.2.4", "an unknown line ends no group",
        "/x", "", lines="User-agent: ExampleBot\nNoindex: /y\nwhat is this\nUser-agent: b\nDisallow: /x\n"),
    *table("2.2.4", "Crawl-delay ends no group",
        "/x", "", lines="User-agent: ExampleBot\nCrawl-delay: 3\nUser-agent: b\nDisallow: /x\n"),
    *table("2.2.4", "rules follow unknown lines", "/x", "", "Unknown: 1", "Disallow: /x"),
    *table("google", "groups: FooBot", "/y/c /foo/bar/", "/x/b /z/d", lines=GROUPS, agent="FooBot"),
    *table("google", "groups: BarBot", "/z/d /foo/bar/", "/y/c /w/a", lines=GROUPS, agent="BarBot"),
    *table("google", "groups: BazBot", "/foo/bar/", "/z/d", lines=GROUPS, agent="BazBot"),
    *table("ours", "a token with digits matches as a word",
        "/x", "", "Disallow: /x", under="mj12bot/1", agent="MJ12bot"),
    *table("ours", "a token with digits is not its letters",
        "", "/x", "Disallow: /x", under="mj13bot", agent="MJ12bot"),
    *table("ours", "a token beyond ASCII matches as a word",
        "/x", "/y", lines=group("Disallow: /x", agent="Zażółć-à-Bot/2 x") + group("Disallow: /y"),
        agent="Zażółć-à-Bot/1"),
    *table("ours", "a token beyond ASCII is not its ASCII part",
        "/y", "/x", lines=group("Disallow: /x", agent="bötchen") + group("Disallow: /y"), agent="bö"),
    # -- 5.1 the RFC's example ----------------------------------------------------------------------------------------
    *table("5.1", "the simple example: star",
        "/a.gif /example/ /example/page.html", "/publications/ /a.gif?x / /publications/x", lines=RFC_EXAMPLE),
    *table("5.1", "the simple example: foobot",
        "/ /publications/ /example/", "/example/page.html /example/allowed.gif", lines=RFC_EXAMPLE, agent="foobot"),
    *table("5.1", "the simple example: barbot", "/example/page.html", "/ /a.gif", lines=RFC_EXAMPLE, agent="barbot"),
    *table("5.1", "the simple example: bazbot",
        "/example/page.html", "/example/ /a.gif", lines=RFC_EXAMPLE, agent="bazbot"),
    *table("5.1", "the simple example: quxbot", "", "/ /example/page.html /a.gif", lines=RFC_EXAMPLE, agent="quxbot"),
    *table("5.2", "longest match",
        "/example/page/disallowed.gif", "/example/page/ /example/page/x", "Allow: /example/page/",
        "Disallow: /example/page/disallowed.gif", under="foobot", agent="foobot"),
    # -- 2.2.2 rules --------------------------------------------------------------------------------------------------
    *table("2.2.2", "the longest match wins, not the first",
        "/x/page.html", "/x/", "Allow: /x/", "Disallow: /x/page.html"),
    *table("2.2.2", "the longest match wins, not the last",
        "/x/", "/x/page.html", "Allow: /x/page.html", "Disallow: /x/"),
    *table("2.2.2", "Allow wins among equals", "", "/x/y", "Disallow: /x/", "Allow: /x/"),
    *table("2.2.2", "Allow wins among equals, first named", "", "/x/y", "Allow: /x/", "Disallow: /x/"),
    *table("2.2.2", "an empty Disallow allows all", "", "/ /x", "Disallow:"),
    *table("2.2.2", "an empty Disallow undoes no other", "/x", "/y", "Disallow: /x", "Disallow:"),
    *table("2.2.2", "an empty Allow undoes no Disallow", "/x", "", "Disallow: /", "Allow:"),
    *table("2.2.2", "what no rule matches is allowed", "", "/y", "Disallow: /x"),
    *table("2.2.2", "a rule matches the path's beginning", "/x /xy /x/y /x?y", "/a/x /", "Disallow: /x"),
    *table("2.2.2", "a rule with a slash at its end", "/x/ /x/y", "/x /x.html", "Disallow: /x/"),
    *table("2.2.2", "paths are case-sensitive", "/X/y", "/x/y", "Disallow: /X/"),
    *table("2.2", "names of lines are not", "/x", "/x/y", lines="USER-AGENT: *\ndisALLOW: /x\nALLOW: /x/\n"),
    *table("2.2.2", "a path without a leading slash matches nothing",
        "", "/x / /tmp/x", "Disallow: x", "Disallow: tmp/", "Disallow: http://h.example/x"),
    *table("2.2.2", "robots.txt itself is allowed", "/ /robots.txt.bak /a/robots.txt", "/robots.txt", "Disallow: /"),
    *table("2.2.2", "a query is part of the path", "/x?a=1 /x?a=1&b", "/x /x?b&a=1", "Disallow: /x?a=1"),
    *table("2.2.2", "the order of rules does not matter",
        "/a/b /a/b/c/d/e", "/a/x /a/b/c", "Disallow: /a/b/c/d", "Allow: /a/b/c", "Disallow: /a/b", "Allow: /a"),
    *table("google", "fish",
        "/bar /Fish.asp /catfish /?id=fish", "/fish /fish.html /fish/salmon.html /fishheads /fish.html?id=anything",
        "Disallow: /", "Allow: /fish"),
    *table("google", "fish with a star",
        "/bar /Fish.asp /catfish /?id=fish", "/fish /fish.html /fishheads/yummy.html /fish.html?id=anything",
        "Disallow: /", "Allow: /fish*"),
    *table("google", "fish with a slash",
        "/fish /fish.html /Fish/Salmon.html", "/fish/ /fish/?salmon /fish/salmon.html", "Disallow: /", "Allow: /fish/"),
    *table("google", "precedence: p", "", "/page", "Allow: /p", "Disallow: /"),
    *table("google", "precedence: a star's octet counts", "/page.htm", "/page", "Allow: /page", "Disallow: /*.htm"),
    *table("google", "precedence: the root alone", "/page.html", "/", "Allow: /$", "Disallow: /"),
    *table("google", "Allow of an index page allows its folder",
        "/a/index.htm /b", "/a/ /a/index.html", "Disallow: /", "Allow: /a/index.html"),
    *table("google", "Disallow of an index page is that page's", "/a/index.html", "/a/", "Disallow: /a/index.html"),
    # -- 2.2.2 octets -------------------------------------------------------------------------------------------------
    *table("2.2.2", "octets beyond ASCII are escaped", "/foo/bar/%E3%83%84", "/foo/bar/", "Disallow: /foo/bar/ツ"),
    *table("2.2.2", "octets beyond ASCII in a URL", "/foo/bar/ツ", "", "Disallow: /foo/bar/ツ"),
    *table("2.2.2", "escaped octets stay", "/foo/bar/%E3%83%84 /foo/bar/ツ", "", "Disallow: /foo/bar/%E3%83%84"),
    *table("2.2.2", "an escape's case does not matter",
        "/foo/%E3%83%84 /foo/%e3%83%84", "", "Disallow: /foo/%e3%83%84"),
    *table("2.2.2", "escaped unreserved octets are undone in the rule",
        "/foo/bar/baz /foo/bar/%62%61%7A", "", "Disallow: /foo/bar/%62%61%7A"),
    *table("2.2.2", "escaped unreserved octets are undone in the URL",
        "/foo/bar/%62%61%7A /foo/b%61r/baz", "", "Disallow: /foo/bar/baz"),
    *table("2.2.2", "an escaped tilde is a tilde", "/~joe/ /%7Ejoe/ /%7ejoe/", "", "Disallow: /%7Ejoe/"),
    *table("2.2.2", "an escaped slash is none", "/a%2Fb /a%2fb", "/a/b", "Disallow: /a%2fb"),
    *table("2.2.2", "a slash is no escaped one", "/a/b", "/a%2Fb", "Disallow: /a/b"),
    *table("2.2.2", "queries: the table's first row",
        "/foo/bar?baz=quz", "/foo/bar?baz=qu", "Disallow: /foo/bar?baz=quz"),
    *table("2.2.2", "queries: a URL as value",
        "/foo/bar?baz=https://foo.bar /foo/bar?baz=https%3A%2F%2Ffoo.bar /foo/bar?baz=https%3a%2f%2ffoo.bar", "",
        "Disallow: /foo/bar?baz=https://foo.bar"),
    *table("2.2.2", "queries: an escaped URL as value",
        "/foo/bar?baz=https://foo.bar /foo/bar?baz=https%3A%2F%2Ffoo.bar", "",
        "Disallow: /foo/bar?baz=https%3A%2F%2Ffoo.bar"),
    *table("2.2.2", "queries: an escaped URL after a star",
        "/foo/bar?baz=https%3A%2F%2Ffoo.bar /x/https%3A%2F%2Ffoo.bar", "/x/https%3A//foo.bar",
        "Disallow: /*https%3A%2F%2Ffoo.bar"),
    *table("2.2.2", "an escaped slash after a star is none in a path",
        "/x/one%2ftwo /x?one%2Ftwo /x?one/two", "/x/one/two", "Disallow: /*one%2Ftwo"),
    *table("2.2.2", "a slash after a star is no escaped one in a path",
        "/x/one/two.htm /x?one/two.htm /x?one%2Ftwo.htm /x/one/?two.htm", "/x/one%2Ftwo.htm /x?one/two.html",
        "Disallow: /*one/*two.htm$"),
    *table("2.2.2", "a slash before a query is the path's, or the query's",
        "/shop/?page=2 /go?to=/shop%2F?page=2", "/shop%2F?page=2", "Disallow: *shop/?page="),
    *table("2.2.2", "reserved octets are equal to their escapes in the URL",
        "/tag:a,b;c=(d)! /tag%3Aa%2cb%3Bc%3d%28d%29%21 /tag%3aa,b;c=(d)!", "/tag/a,b;c=(d)!",
        "Disallow: /tag:a,b;c=(d)!"),
    *table("2.2.2", "reserved octets are equal to their escapes in the rule",
        "/u/@me/a+b&c'[d] /u/%40me/a%2Bb%26c%27%5bd%5d", "/u/me", "Disallow: /u/%40me/a%2bb%26c%27%5Bd%5D"),
    *table("2.2.2", "an escaped question mark begins no query",
        "/what%3Fnow /what%3fnow", "/what?now", "Disallow: /what%3Fnow"),
    *table("google", "a URL as value stays as it is",
        "/x", "/foo/bar?qux=taz&baz=http://foo.bar?tar&par", "Disallow: /",
        "Allow: /foo/bar?qux=taz&baz=http://foo.bar?tar&par"),
    *table("ours", "a percent sign that begins no escape", "/100% /100%/x", "/100", "Disallow: /100%"),
    *table("ours", "a blank within a path is escaped", ("/a%20b", "/a b"), "/a /ab", "Disallow: /a b"),
    *table("ours", "what browsers leave alone is escaped", "/a|b{c} /a%7Cb%7Bc%7D", "/a", "Disallow: /a|b{c}"),
    # -- 2.2.3 special characters -------------------------------------------------------------------------------------
    *table("2.2.3", "a comment is ignored",
        "/x", "/y", lines="# a\nUser-agent: * # all\n#Disallow: /y\nDisallow: /x # b\n"),
    *table("2.2.3", "a comment needs no blank before it", "/foo/quz", "/foo/qu", "Disallow: /foo/quz#qux"),
    *table("2.2.3", "a comment may leave an empty rule", "", "/x", "Disallow: # /x"),
    *table("2.2.3", "a dollar ends the path", "/foo/bar", "/foo/bar/ /foo/bar?x /foo/barx", "Disallow: /foo/bar$"),
    *table("2.2.3", "a dollar within a pattern is a character", "/a$b /a$bc", "/a /ab", "Disallow: /a$b"),
    *table("2.2.3", "a star matches anything, also nothing",
        "/foo//quz /foo/bar/quz /foo/a/b/quz/x", "/foo/quz /foo/bar", "Disallow: /foo/*/quz"),
    *table("google", "a star at the beginning", "/x.gif /a/x.gif?y", "/x.png", "Disallow: *.gif"),
    *table("2.2.3", "stars in a row are one", "/ab /axb", "/ba", "Disallow: /a***b"),
    *table("2.2.3", "a star at the end changes nothing", "/x /xy", "/y", "Disallow: /x*"),
    *table("google", "a star alone matches all", "/ /x", "", "Disallow: *"),
    *table("google", "a dollar alone matches nothing", "", "/ /x", "Disallow: $"),
    *table("2.2.3", "star and dollar",
        "/x.php /a/x.php /x.php?y.php", "/x.php?y /x.php5 /x.php/ /x.PHP", "Disallow: /*.php$"),
    *table("2.2.3", "star, dollar, and a piece that overlaps", "/aba/aba", "/aba", "Disallow: /aba*aba$"),
    *table("google", "php",
        "/ /windows.PHP /php/ /index?php",
        "/x.php /folder/x.php?p /folder/any.php.file.html /x.php/ /index?f=filename.php/", "Disallow: /",
        "Allow: /*.php"),
    *table("google", "fish and php",
        "/Fish.PHP /fish", "/fish.php /fishheads/catfish.php?parameters", "Disallow: /", "Allow: /fish*.php"),
    *table("2.2.3", "an escaped star is a character",
        "/file-with-a-*.html /file-with-a-%2A.html", "/file-with-a-b.html", "Disallow: /file-with-a-%2A.html"),
    *table("2.2.3", "an escaped dollar is a character", "/foo-$ /foo-$x /foo-%24", "/foo-", "Disallow: /foo-%24"),
    *table("2.2.3", "several stars", "/a1b2c /abc /aXbcXc", "/acb /ab", "Disallow: /a*b*c"),
    # -- 2.2, 2.3 the file --------------------------------------------------------------------------------------------
    *table("google", "a byte order mark is skipped", "/x", "", lines=b"\xef\xbb\xbfUser-agent: *\nDisallow: /x\n"),
    *table("google", "half a byte order mark is skipped", "/x", "", lines=b"\xef\xbbUser-agent: *\nDisallow: /x\n"),
    *table("google", "a broken byte order mark spoils its line",
        "", "/x", lines=b"\xef\x11\xbfUser-agent: *\nDisallow: /x\n"),
    *table("google", "a byte order mark elsewhere spoils its line",
        "", "/x", lines=b"User-agent: *\n\xef\xbb\xbfDisallow: /x\n"),
    *table("2.2", "lines end with CR", "/x", "/y", lines="User-agent: *\rDisallow: /x\rUser-agent: b\rDisallow: /y\r"),
    *table("2.2", "lines end with CR LF",
        "/x", "/y", lines="User-agent: *\r\nDisallow: /x\r\n\r\nUser-agent: b\r\nDisallow: /y"),
    *table("2.2", "line ends are mixed", "/x /z", "/y", lines="User-agent: *\n\rDisallow: /x\rDisallow: /z\nAllow: /y"),
    *table("2.2", "the last line needs no end", "/x", "", lines="User-agent: *\nDisallow: /x"),
    *table("2.2", "white space around names and values",
        "/x", "", lines="  User-agent\t:  *  \n\tDisallow \t: \t/x \t\n"),
    *table("2.2", "no white space after the colon", "/x", "", lines="User-agent:*\nDisallow:/x"),
    *table("2.2", "a colon within the value", "/x:y", "/x", "Disallow: /x:y"),
    *table("google", "a missing colon", "/x", "", lines="User-agent *\nDisallow  \t /x\n"),
    *table("google", "a missing colon and three words", "", "/x", lines="User-agent: *\nDisallow /x y\n"),
    *table("google", "misspelt names",
        "/a /b /c /d /e", "/f",
        lines="useragent: *\ndissallow: /a\ndissalow: /b\ndisalow: /c\ndiasllow: /d\ndisallaw: /e\ndisllow: /f\n"),
    *table("google", "user agent in two words", "/x", "", lines="User agent: *\nDisallow: /x\n"),
    *table("2.3", "a line that is none",
        "/x", "", lines="<html>\n:\n: /\n \nUser-agent: *\n///\n=\nDisallow: /x\n</html>"),
    *table("2.2", "invalid UTF-8 in another line",
        "/x", "", lines=b"User-agent: *\nDisallow: /\xff\xfe\xc3\nDisallow: /x\n"),
    *table("google", "invalid UTF-8 in a rule is escaped", "/%FF/x", "/x", lines=b"User-agent: *\nDisallow: /\xff/\n"),
    *table("2.2", "invalid UTF-8 in a comment", "/x", "", lines=b"# \xff\xc3\nUser-agent: *\nDisallow: /x\n"),
    *table("google", "a NUL ends its line", "/xz", "/y", lines=b"User-agent: *\nDisallow: /x\0y\nAllow: /y\n"),
    *table("google", "NULs alone", "/x", "", lines=b"\0\0\0\nUser-agent: *\n\0\nDisallow: /x\n"),
    *table("ours", "NEL and NBSP end no line and are no blank", "/x%C2%85y", "/x", "Disallow: /x\x85y"),
    *table("ours", "UTF-16 with a byte order mark is read", "/x", "", lines=group("Disallow: /").encode("utf-16")),
    *table("google", "a form feed is white space", "/x", "", lines="User-agent: *\n\f\vDisallow: /x\f\n"),
    *table("google", "a line over the limit is cut", ("/" + LONG,), "/x", f"Disallow: /{LONG}/y", "Allow: /x"),
    *table("2.2", "a long comment harms nothing", "/x", "", lines="#" + LONG * 3 + "\n" + group("Disallow: /x")),
    *table("2.5", "what lies within 500 KiB counts", "/x", "", lines=("#" * 79 + "\n") * 6_000 + group("Disallow: /x")),
    *table("2.5", "what lies beyond 500 KiB is ignored",
        "", "/x", lines=("#" * 79 + "\n") * (MAX_FILE_BYTES // 80 + 1) + group("Disallow: /")),
    *table("2.5", "a line begun within 500 KiB counts whole",
        "/xyz", "/x", lines=" " * (MAX_FILE_BYTES - 30) + "\n" + group("Disallow: /xyz" + " " * 40)),
]
# fmt: on


@pytest.mark.parametrize(("body", "agent", "path", "allowed"), CASES)
def test_a_path_is_blocked_or_allowed_as_its_rule_says(body, agent, path, allowed):
    assert parse(body, agent).allows("https://e.example" + path) is allowed


def test_clip_keeps_whole_lines_and_parsing_agrees_with_it():
    lines = b"User-agent: *\n" + b"".join(b"Disallow: /%d\r\n" % number for number in range(40_000))
    cut = clip(lines)
    assert MAX_FILE_BYTES <= len(cut) <= MAX_FILE_BYTES + MAX_LINE_BYTES
    assert lines[len(cut) : len(cut) + 1] in b"\r\n"
    assert clip(cut) == cut
    assert clip(b"a" * 10_000_000) == b"a" * (MAX_FILE_BYTES + MAX_LINE_BYTES)
    assert clip(b"") == b""


@pytest.mark.parametrize(
    ("url", "path"),
    [
        ("https://e.example/x?y#z", "/x?y"),
        ("https://e.example", "/"),
        ("https://e.example?x", "/?x"),
        ("https://e.example/#/x", "/"),
        ("https://e.example#/x", "/"),
        ("https://u:p@e.example:8443/x", "/x"),
        ("//e.example/x", "/x"),
        ("/x?u=http://a/b", "/x?u=http://a/b"),
        ("/a//b://c", "/a//b://c"),
        ("https://e.example;x", "/;x"),
        ("", "/"),
    ],
)
def test_a_url_is_matched_by_its_path_and_query(url, path):
    assert parse(f"User-agent: *\nDisallow: {path}$".encode(), AGENT).allows(url) is False


@pytest.mark.parametrize(
    ("value", "seconds"),
    [("10", 10), ("0.5", 0.5), (".5", 0.5), ("1.", 1), *((junk, 0) for junk in ("", "-1", "nan", "inf", "1e9", "1 s"))],
)
def test_a_crawl_delay_is_a_plain_number_of_seconds(value, seconds):
    assert parse(group(f"Crawl-delay: {value}").encode(), AGENT).crawl_delay_s == seconds


@pytest.mark.parametrize(
    ("delays", "lines"),
    [
        (
            {AGENT: 3, "other": 9},  # the longest of the matching group
            group("Crawl-delay: 9")
            + group("Crawl-delay: 2", "Disallow:", agent=AGENT)
            + group("crawl-DELAY: 3", agent=AGENT),
        ),
        ({"slow": 30, AGENT: 0}, "User-agent: slow\nCrawl-delay: 30\n\nUser-agent: *\nDisallow: /x\n"),
        (
            {"any": 2, "slow": 90, "lazy": 90},
            "User-agent: *\nCrawl-delay: 2\nUser-agent: slow\nUser-agent: lazy\nCrawl-delay: 90\n",
        ),
        ({"any": 0}, "User-agent: *\nCrawl-delay: soon\nUser-agent: slow\nCrawl-delay: 90\n"),
    ],
)
def test_a_crawl_delay_is_that_of_the_agents_right_above_it(delays, lines):
    assert {agent: parse(lines.encode(), agent).crawl_delay_s for agent in delays} == delays


def test_a_rule_is_that_of_all_agents_above_it_whatever_their_crawl_delay():
    text = b"User-agent: quick\nCrawl-delay: 1\nUser-agent: slow\nDisallow: /x\nCrawl-delay: 90\n"
    for agent, seconds in (("quick", 1), ("slow", 90)):
        rules = parse(text, agent)
        assert rules.allows("/x") is False
        assert rules.crawl_delay_s == seconds


def test_patterns_match_as_the_regular_expressions_do_that_they_stand_for():
    rng = random.Random(22)
    for _ in range(500):
        pattern = "/" + "".join(rng.choices("ab/?**", k=rng.randrange(8))) + rng.choice(["", "$"])
        meant = "".join(".*" if character == "*" else re.escape(character) for character in pattern.rstrip("$"))
        rules = parse(f"User-agent: *\nDisallow: {pattern}".encode(), AGENT)
        for _ in range(5):
            path = "/" + "".join(rng.choices("ab/?", k=rng.randrange(9)))
            assert rules.allows("https://e.example" + path) is not bool(
                re.match(meant + "$" * pattern.endswith("$"), path)
            ), (pattern, path)


@pytest.mark.parametrize(
    ("user_agent", "token"),
    [
        ("headroom/0.1 (+https://c.example)", "headroom"),
        ("headroom", "headroom"),
        (" My-Bot_2.0 x", "My-Bot_2.0"),
        ("", ""),
        ("/", ""),
    ],
)
def test_the_product_token_of_a_user_agent(user_agent, token):
    assert product_token(user_agent) == token


@pytest.mark.parametrize(
    "body",
    [
        b"Disallow: /" + b"*a" * 8_000 + b"$\n",
        b"Disallow: /" + b"a*" * 8_000 + b"b\n",
        b"".join(b"Disallow: /*%d*a*b$\n" % number for number in range(5_000)),
        b"".join(b"Disallow: /%x\n" % number for number in range(30_000)),
        b"Allow: " * 70_000,
        b"%E3" * 170_000,
        b"\r\n" * 256_000,
        b"User-agent: *\n" * 36_000,
    ],
    ids=["stars", "stars-open", "many-stars", "many", "one-line", "escapes", "empty-lines", "agents"],
)
def test_hostile_files_cost_little(body):
    begun = time.process_time()
    rules = parse(b"User-agent: *\n" + body, AGENT)
    for _ in range(3):
        rules.allows("/" + "a" * 8_000)
    assert time.process_time() - begun < 3  # 0.5 s at most on an idle machine; backtracking would take years


def test_any_bytes_make_rules():
    rng = random.Random(9309)
    pieces = [
        b"User-agent:",
        b"Disallow:",
        b"Allow:",
        b"%2",
        b"%e3",
        *(b"%c" % octet for octet in b"*$/\0\r\n \xff#a:"),
    ]
    for _ in range(1_000):
        rules = parse(b"".join(rng.choices(pieces, k=rng.randrange(40))), rng.choice(["a", "*", "", "A/1"]))
        assert rules.allows("https://a/" + "a%/*$?" * rng.randrange(3)) in (True, False)


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_a_file_in_utf_16_with_a_byte_order_mark_is_read(encoding):
    text = "\ufeffUser-agent: *\r\nDisallow: /privé\r\nCrawl-delay: 2\r\n"
    for body in (text.encode(encoding), text.encode(encoding) + b"\n"):  # the second ends within a character
        rules = parse(body, "headroom")
        assert not rules.allows("https://a.test/priv%C3%A9/1")
        assert rules.allows("https://a.test/")
        assert rules.crawl_delay_s == 2
    assert clip(text.encode(encoding)) == text.removeprefix("\ufeff").encode()
