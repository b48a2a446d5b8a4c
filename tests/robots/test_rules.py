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


def table(rule, source, blocked=(), allowed=(), *, lines, agent=AGENT):
    """Returns a case for each path."""
    body = lines if isinstance(lines, bytes) else lines.encode()
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

CASES = [
    # -- 2.2.1 groups and agents ------------------------------------------------------------------------------------
    *table("a file without lines allows all", "2.2", (), ("/x",), lines=""),
    *table("rules outside a group are ignored", "2.1", (), ("/x",), lines="Disallow: /x\n"),
    *table("the star's group counts when none matches", "2.2.1", ("/x",), ("/y",), lines=group("Disallow: /x")),
    *table(
        "the star's group doesn't count when one matches",
        "2.2.1",
        ("/y",),
        ("/x",),
        lines=group("Disallow: /x") + group("Disallow: /y", agent=AGENT),
    ),
    *table(
        "a matching group without rules allows all",
        "2.2.1",
        (),
        ("/x",),
        lines=group("Disallow: /") + group(agent=AGENT),
    ),
    *table(
        "no group matches and none is for the star", "2.2.1", (), ("/x",), lines=group("Disallow: /", agent="other")
    ),
    *table("the token matches in any case", "2.2.1", ("/x",), (), lines=group("Disallow: /x", agent="eXAMPLEbOT")),
    *table("the token is not a prefix", "2.2.1", (), ("/x",), lines=group("Disallow: /x", agent="Example")),
    *table("the token has no suffix", "2.2.1", (), ("/x",), lines=group("Disallow: /x", agent="ExampleBot-News")),
    *table(
        "a version after the token is no part of it",
        "google",
        ("/x",),
        (),
        lines=group("Disallow: /x", agent="ExampleBot/2.1 (+https://e.example)"),
    ),
    *table(
        "a line's value ends at the first blank",
        "google",
        ("/x",),
        (),
        lines=group("Disallow: /x", agent="ExampleBot Images"),
    ),
    *table(
        "an agent with a blank is no product token",
        "google",
        ("/x",),
        (),
        lines=group("Disallow: /") + group("Allow: /x", agent="Foo Bar"),
        agent="Foo Bar",
    ),
    *table(
        "an empty agent matches the star only",
        "google",
        ("/x",),
        ("/y",),
        lines=group("Disallow: /y", agent="") + group("Disallow: /x"),
        agent="",
    ),
    *table(
        "groups of the same agent are one",
        "2.2.1",
        ("/a", "/b"),
        ("/c",),
        lines=group("Disallow: /a", agent=AGENT)
        + group("Disallow: /c", agent="b")
        + group("Disallow: /b", agent=AGENT),
    ),
    *table(
        "groups of the star are one",
        "2.2.1",
        ("/a", "/b"),
        ("/c",),
        lines=group("Disallow: /a") + group("Disallow: /c", agent="b") + group("Disallow: /b"),
    ),
    *table(
        "agents on following lines share a group",
        "2.1",
        ("/x",),
        (),
        lines="User-agent: a\nUser-agent: ExampleBot\nUser-agent: b\nDisallow: /x\n",
    ),
    *table("a blank line ends no group", "2.1", ("/x",), (), lines="User-agent: ExampleBot\n\n\nDisallow: /x\n"),
    *table(
        "a blank line between agents ends no group",
        "google",
        ("/x",),
        (),
        lines="User-agent: ExampleBot\n\nUser-agent: b\nDisallow: /x\n",
    ),
    *table(
        "an agent line after a rule begins a group",
        "2.1",
        ("/a",),
        ("/b",),
        lines="User-agent: ExampleBot\nDisallow: /a\nUser-agent: b\nDisallow: /b\n",
    ),
    *table(
        "an empty rule ends a list of agents",
        "google",
        (),
        ("/x",),
        lines="User-agent: ExampleBot\nDisallow:\nUser-agent: b\nDisallow: /x\n",
    ),
    *table(
        "a star with more after a blank is the star", "google", ("/x",), (), lines=group("Disallow: /x", agent="* bot")
    ),
    *table("a star with more at once is no star", "google", (), ("/x",), lines=group("Disallow: /x", agent="*bot")),
    *table(
        "Sitemap ends no group",
        "2.2.4",
        ("/x",),
        (),
        lines="User-agent: ExampleBot\nSitemap: https://e.example/s.xml\nUser-agent: b\nDisallow: /x\n",
    ),
    *table(
        "Sitemap between rules is no rule",
        "2.2.4",
        ("/a", "/b"),
        (),
        lines=group("Disallow: /a", "Sitemap: /b", "Disallow: /b"),
    ),
    *table(
        "an unknown line ends no group",
        "2.2.4",
        ("/x",),
        (),
        lines="User-agent: ExampleBot\nNoindex: /y\nwhat is this\nUser-agent: b\nDisallow: /x\n",
    ),
    *table(
        "Crawl-delay ends no group",
        "2.2.4",
        ("/x",),
        (),
        lines="User-agent: ExampleBot\nCrawl-delay: 3\nUser-agent: b\nDisallow: /x\n",
    ),
    *table("rules follow unknown lines", "2.2.4", ("/x",), (), lines=group("Unknown: 1", "Disallow: /x")),
    *table("groups: FooBot", "google", ("/y/c", "/foo/bar/"), ("/x/b", "/z/d"), lines=GROUPS, agent="FooBot"),
    *table("groups: BarBot", "google", ("/z/d", "/foo/bar/"), ("/y/c", "/w/a"), lines=GROUPS, agent="BarBot"),
    *table("groups: BazBot", "google", ("/foo/bar/",), ("/z/d",), lines=GROUPS, agent="BazBot"),
    *table(
        "a token with digits matches as a word",
        "ours",
        ("/x",),
        (),
        lines=group("Disallow: /x", agent="mj12bot/1"),
        agent="MJ12bot",
    ),
    *table(
        "a token with digits is not its letters",
        "ours",
        (),
        ("/x",),
        lines=group("Disallow: /x", agent="mj13bot"),
        agent="MJ12bot",
    ),
    *table(
        "a token beyond ASCII matches as a word",
        "ours",
        ("/x",),
        ("/y",),
        lines=group("Disallow: /x", agent="Zażółć-à-Bot/2 x") + group("Disallow: /y"),
        agent="Zażółć-à-Bot/1",
    ),
    *table(
        "a token beyond ASCII is not its ASCII part",
        "ours",
        ("/y",),
        ("/x",),
        lines=group("Disallow: /x", agent="bötchen") + group("Disallow: /y"),
        agent="bö",
    ),
    # -- 5.1 the RFC's example ----------------------------------------------------------------------------------------
    *table(
        "the simple example: star",
        "5.1",
        ("/a.gif", "/example/", "/example/page.html"),
        ("/publications/", "/a.gif?x", "/", "/publications/x"),
        lines=RFC_EXAMPLE,
    ),
    *table(
        "the simple example: foobot",
        "5.1",
        ("/", "/publications/", "/example/"),
        ("/example/page.html", "/example/allowed.gif"),
        lines=RFC_EXAMPLE,
        agent="foobot",
    ),
    *table(
        "the simple example: barbot", "5.1", ("/example/page.html",), ("/", "/a.gif"), lines=RFC_EXAMPLE, agent="barbot"
    ),
    *table(
        "the simple example: bazbot",
        "5.1",
        ("/example/page.html",),
        ("/example/", "/a.gif"),
        lines=RFC_EXAMPLE,
        agent="bazbot",
    ),
    *table(
        "the simple example: quxbot",
        "5.1",
        (),
        ("/", "/example/page.html", "/a.gif"),
        lines=RFC_EXAMPLE,
        agent="quxbot",
    ),
    *table(
        "longest match",
        "5.2",
        ("/example/page/disallowed.gif",),
        ("/example/page/", "/example/page/x"),
        lines=group("Allow: /example/page/", "Disallow: /example/page/disallowed.gif", agent="foobot"),
        agent="foobot",
    ),
    # -- 2.2.2 rules --------------------------------------------------------------------------------------------------
    *table(
        "the longest match wins, not the first",
        "2.2.2",
        ("/x/page.html",),
        ("/x/",),
        lines=group("Allow: /x/", "Disallow: /x/page.html"),
    ),
    *table(
        "the longest match wins, not the last",
        "2.2.2",
        ("/x/",),
        ("/x/page.html",),
        lines=group("Allow: /x/page.html", "Disallow: /x/"),
    ),
    *table("Allow wins among equals", "2.2.2", (), ("/x/y",), lines=group("Disallow: /x/", "Allow: /x/")),
    *table("Allow wins among equals, first named", "2.2.2", (), ("/x/y",), lines=group("Allow: /x/", "Disallow: /x/")),
    *table("an empty Disallow allows all", "2.2.2", (), ("/", "/x"), lines=group("Disallow:")),
    *table("an empty Disallow undoes no other", "2.2.2", ("/x",), ("/y",), lines=group("Disallow: /x", "Disallow:")),
    *table("an empty Allow undoes no Disallow", "2.2.2", ("/x",), (), lines=group("Disallow: /", "Allow:")),
    *table("what no rule matches is allowed", "2.2.2", (), ("/y",), lines=group("Disallow: /x")),
    *table(
        "a rule matches the path's beginning",
        "2.2.2",
        ("/x", "/xy", "/x/y", "/x?y"),
        ("/a/x", "/"),
        lines=group("Disallow: /x"),
    ),
    *table("a rule with a slash at its end", "2.2.2", ("/x/", "/x/y"), ("/x", "/x.html"), lines=group("Disallow: /x/")),
    *table("paths are case-sensitive", "2.2.2", ("/X/y",), ("/x/y",), lines=group("Disallow: /X/")),
    *table("names of lines are not", "2.2", ("/x",), ("/x/y",), lines="USER-AGENT: *\ndisALLOW: /x\nALLOW: /x/\n"),
    *table(
        "a path without a leading slash matches nothing",
        "2.2.2",
        (),
        ("/x", "/", "/tmp/x"),
        lines=group("Disallow: x", "Disallow: tmp/", "Disallow: http://h.example/x"),
    ),
    *table(
        "robots.txt itself is allowed",
        "2.2.2",
        ("/", "/robots.txt.bak", "/a/robots.txt"),
        ("/robots.txt",),
        lines=group("Disallow: /"),
    ),
    *table(
        "a query is part of the path",
        "2.2.2",
        ("/x?a=1", "/x?a=1&b"),
        ("/x", "/x?b&a=1"),
        lines=group("Disallow: /x?a=1"),
    ),
    *table(
        "the order of rules does not matter",
        "2.2.2",
        ("/a/b", "/a/b/c/d/e"),
        ("/a/x", "/a/b/c"),
        lines=group("Disallow: /a/b/c/d", "Allow: /a/b/c", "Disallow: /a/b", "Allow: /a"),
    ),
    *table(
        "fish",
        "google",
        ("/bar", "/Fish.asp", "/catfish", "/?id=fish"),
        ("/fish", "/fish.html", "/fish/salmon.html", "/fishheads", "/fish.html?id=anything"),
        lines=group("Disallow: /", "Allow: /fish"),
    ),
    *table(
        "fish with a star",
        "google",
        ("/bar", "/Fish.asp", "/catfish", "/?id=fish"),
        ("/fish", "/fish.html", "/fishheads/yummy.html", "/fish.html?id=anything"),
        lines=group("Disallow: /", "Allow: /fish*"),
    ),
    *table(
        "fish with a slash",
        "google",
        ("/fish", "/fish.html", "/Fish/Salmon.html"),
        ("/fish/", "/fish/?salmon", "/fish/salmon.html"),
        lines=group("Disallow: /", "Allow: /fish/"),
    ),
    *table("precedence: p", "google", (), ("/page",), lines=group("Allow: /p", "Disallow: /")),
    *table(
        "precedence: a star's octet counts",
        "google",
        ("/page.htm",),
        ("/page",),
        lines=group("Allow: /page", "Disallow: /*.htm"),
    ),
    *table("precedence: the root alone", "google", ("/page.html",), ("/",), lines=group("Allow: /$", "Disallow: /")),
    *table(
        "Allow of an index page allows its folder",
        "google",
        ("/a/index.htm", "/b"),
        ("/a/", "/a/index.html"),
        lines=group("Disallow: /", "Allow: /a/index.html"),
    ),
    *table(
        "Disallow of an index page is that page's",
        "google",
        ("/a/index.html",),
        ("/a/",),
        lines=group("Disallow: /a/index.html"),
    ),
    # -- 2.2.2 octets -------------------------------------------------------------------------------------------------
    *table(
        "octets beyond ASCII are escaped",
        "2.2.2",
        ("/foo/bar/%E3%83%84",),
        ("/foo/bar/",),
        lines=group("Disallow: /foo/bar/ツ"),
    ),
    *table("octets beyond ASCII in a URL", "2.2.2", ("/foo/bar/ツ",), (), lines=group("Disallow: /foo/bar/ツ")),
    *table(
        "escaped octets stay",
        "2.2.2",
        ("/foo/bar/%E3%83%84", "/foo/bar/ツ"),
        (),
        lines=group("Disallow: /foo/bar/%E3%83%84"),
    ),
    *table(
        "an escape's case does not matter",
        "2.2.2",
        ("/foo/%E3%83%84", "/foo/%e3%83%84"),
        (),
        lines=group("Disallow: /foo/%e3%83%84"),
    ),
    *table(
        "escaped unreserved octets are undone in the rule",
        "2.2.2",
        ("/foo/bar/baz", "/foo/bar/%62%61%7A"),
        (),
        lines=group("Disallow: /foo/bar/%62%61%7A"),
    ),
    *table(
        "escaped unreserved octets are undone in the URL",
        "2.2.2",
        ("/foo/bar/%62%61%7A", "/foo/b%61r/baz"),
        (),
        lines=group("Disallow: /foo/bar/baz"),
    ),
    *table(
        "an escaped tilde is a tilde",
        "2.2.2",
        ("/~joe/", "/%7Ejoe/", "/%7ejoe/"),
        (),
        lines=group("Disallow: /%7Ejoe/"),
    ),
    *table("an escaped slash is none", "2.2.2", ("/a%2Fb", "/a%2fb"), ("/a/b",), lines=group("Disallow: /a%2fb")),
    *table("a slash is no escaped one", "2.2.2", ("/a/b",), ("/a%2Fb",), lines=group("Disallow: /a/b")),
    *table(
        "queries: the table's first row",
        "2.2.2",
        ("/foo/bar?baz=quz",),
        ("/foo/bar?baz=qu",),
        lines=group("Disallow: /foo/bar?baz=quz"),
    ),
    *table(
        "queries: a URL as value",
        "2.2.2",
        ("/foo/bar?baz=https://foo.bar", "/foo/bar?baz=https%3A%2F%2Ffoo.bar", "/foo/bar?baz=https%3a%2f%2ffoo.bar"),
        (),
        lines=group("Disallow: /foo/bar?baz=https://foo.bar"),
    ),
    *table(
        "queries: an escaped URL as value",
        "2.2.2",
        ("/foo/bar?baz=https://foo.bar", "/foo/bar?baz=https%3A%2F%2Ffoo.bar"),
        (),
        lines=group("Disallow: /foo/bar?baz=https%3A%2F%2Ffoo.bar"),
    ),
    *table(
        "queries: an escaped URL after a star",
        "2.2.2",
        ("/foo/bar?baz=https%3A%2F%2Ffoo.bar", "/x/https%3A%2F%2Ffoo.bar"),
        ("/x/https%3A//foo.bar",),
        lines=group("Disallow: /*https%3A%2F%2Ffoo.bar"),
    ),
    *table(
        "an escaped slash after a star is none in a path",
        "2.2.2",
        ("/x/one%2ftwo", "/x?one%2Ftwo", "/x?one/two"),
        ("/x/one/two",),
        lines=group("Disallow: /*one%2Ftwo"),
    ),
    *table(
        "a slash after a star is no escaped one in a path",
        "2.2.2",
        ("/x/one/two.htm", "/x?one/two.htm", "/x?one%2Ftwo.htm", "/x/one/?two.htm"),
        ("/x/one%2Ftwo.htm", "/x?one/two.html"),
        lines=group("Disallow: /*one/*two.htm$"),
    ),
    *table(
        "a slash before a query is the path's, or the query's",
        "2.2.2",
        ("/shop/?page=2", "/go?to=/shop%2F?page=2"),
        ("/shop%2F?page=2",),
        lines=group("Disallow: *shop/?page="),
    ),
    *table(
        "reserved octets are equal to their escapes in the URL",
        "2.2.2",
        ("/tag:a,b;c=(d)!", "/tag%3Aa%2cb%3Bc%3d%28d%29%21", "/tag%3aa,b;c=(d)!"),
        ("/tag/a,b;c=(d)!",),
        lines=group("Disallow: /tag:a,b;c=(d)!"),
    ),
    *table(
        "reserved octets are equal to their escapes in the rule",
        "2.2.2",
        ("/u/@me/a+b&c'[d]", "/u/%40me/a%2Bb%26c%27%5bd%5d"),
        ("/u/me",),
        lines=group("Disallow: /u/%40me/a%2bb%26c%27%5Bd%5D"),
    ),
    *table(
        "an escaped question mark begins no query",
        "2.2.2",
        ("/what%3Fnow", "/what%3fnow"),
        ("/what?now",),
        lines=group("Disallow: /what%3Fnow"),
    ),
    *table(
        "a URL as value stays as it is",
        "google",
        ("/x",),
        ("/foo/bar?qux=taz&baz=http://foo.bar?tar&par",),
        lines=group("Disallow: /", "Allow: /foo/bar?qux=taz&baz=http://foo.bar?tar&par"),
    ),
    *table(
        "a percent sign that begins no escape", "ours", ("/100%", "/100%/x"), ("/100",), lines=group("Disallow: /100%")
    ),
    *table(
        "a blank within a path is escaped", "ours", ("/a%20b", "/a b"), ("/a", "/ab"), lines=group("Disallow: /a b")
    ),
    *table(
        "what browsers leave alone is escaped",
        "ours",
        ("/a|b{c}", "/a%7Cb%7Bc%7D"),
        ("/a",),
        lines=group("Disallow: /a|b{c}"),
    ),
    # -- 2.2.3 special characters -------------------------------------------------------------------------------------
    *table(
        "a comment is ignored",
        "2.2.3",
        ("/x",),
        ("/y",),
        lines="# a\nUser-agent: * # all\n#Disallow: /y\nDisallow: /x # b\n",
    ),
    *table(
        "a comment needs no blank before it",
        "2.2.3",
        ("/foo/quz",),
        ("/foo/qu",),
        lines=group("Disallow: /foo/quz#qux"),
    ),
    *table("a comment may leave an empty rule", "2.2.3", (), ("/x",), lines=group("Disallow: # /x")),
    *table(
        "a dollar ends the path",
        "2.2.3",
        ("/foo/bar",),
        ("/foo/bar/", "/foo/bar?x", "/foo/barx"),
        lines=group("Disallow: /foo/bar$"),
    ),
    *table(
        "a dollar within a pattern is a character",
        "2.2.3",
        ("/a$b", "/a$bc"),
        ("/a", "/ab"),
        lines=group("Disallow: /a$b"),
    ),
    *table(
        "a star matches anything, also nothing",
        "2.2.3",
        ("/foo//quz", "/foo/bar/quz", "/foo/a/b/quz/x"),
        ("/foo/quz", "/foo/bar"),
        lines=group("Disallow: /foo/*/quz"),
    ),
    *table("a star at the beginning", "google", ("/x.gif", "/a/x.gif?y"), ("/x.png",), lines=group("Disallow: *.gif")),
    *table("stars in a row are one", "2.2.3", ("/ab", "/axb"), ("/ba",), lines=group("Disallow: /a***b")),
    *table("a star at the end changes nothing", "2.2.3", ("/x", "/xy"), ("/y",), lines=group("Disallow: /x*")),
    *table("a star alone matches all", "google", ("/", "/x"), (), lines=group("Disallow: *")),
    *table("a dollar alone matches nothing", "google", (), ("/", "/x"), lines=group("Disallow: $")),
    *table(
        "star and dollar",
        "2.2.3",
        ("/x.php", "/a/x.php", "/x.php?y.php"),
        ("/x.php?y", "/x.php5", "/x.php/", "/x.PHP"),
        lines=group("Disallow: /*.php$"),
    ),
    *table(
        "star, dollar, and a piece that overlaps", "2.2.3", ("/aba/aba",), ("/aba",), lines=group("Disallow: /aba*aba$")
    ),
    *table(
        "php",
        "google",
        ("/", "/windows.PHP", "/php/", "/index?php"),
        ("/x.php", "/folder/x.php?p", "/folder/any.php.file.html", "/x.php/", "/index?f=filename.php/"),
        lines=group("Disallow: /", "Allow: /*.php"),
    ),
    *table(
        "fish and php",
        "google",
        ("/Fish.PHP", "/fish"),
        ("/fish.php", "/fishheads/catfish.php?parameters"),
        lines=group("Disallow: /", "Allow: /fish*.php"),
    ),
    *table(
        "an escaped star is a character",
        "2.2.3",
        ("/file-with-a-*.html", "/file-with-a-%2A.html"),
        ("/file-with-a-b.html",),
        lines=group("Disallow: /file-with-a-%2A.html"),
    ),
    *table(
        "an escaped dollar is a character",
        "2.2.3",
        ("/foo-$", "/foo-$x", "/foo-%24"),
        ("/foo-",),
        lines=group("Disallow: /foo-%24"),
    ),
    *table("several stars", "2.2.3", ("/a1b2c", "/abc", "/aXbcXc"), ("/acb", "/ab"), lines=group("Disallow: /a*b*c")),
    # -- 2.2, 2.3 the file --------------------------------------------------------------------------------------------
    *table("a byte order mark is skipped", "google", ("/x",), (), lines=b"\xef\xbb\xbfUser-agent: *\nDisallow: /x\n"),
    *table("half a byte order mark is skipped", "google", ("/x",), (), lines=b"\xef\xbbUser-agent: *\nDisallow: /x\n"),
    *table(
        "a broken byte order mark spoils its line",
        "google",
        (),
        ("/x",),
        lines=b"\xef\x11\xbfUser-agent: *\nDisallow: /x\n",
    ),
    *table(
        "a byte order mark elsewhere spoils its line",
        "google",
        (),
        ("/x",),
        lines=b"User-agent: *\n\xef\xbb\xbfDisallow: /x\n",
    ),
    *table(
        "lines end with CR", "2.2", ("/x",), ("/y",), lines="User-agent: *\rDisallow: /x\rUser-agent: b\rDisallow: /y\r"
    ),
    *table(
        "lines end with CR LF",
        "2.2",
        ("/x",),
        ("/y",),
        lines="User-agent: *\r\nDisallow: /x\r\n\r\nUser-agent: b\r\nDisallow: /y",
    ),
    *table(
        "line ends are mixed",
        "2.2",
        ("/x", "/z"),
        ("/y",),
        lines="User-agent: *\n\rDisallow: /x\rDisallow: /z\nAllow: /y",
    ),
    *table("the last line needs no end", "2.2", ("/x",), (), lines="User-agent: *\nDisallow: /x"),
    *table(
        "white space around names and values",
        "2.2",
        ("/x",),
        (),
        lines="  User-agent\t:  *  \n\tDisallow \t: \t/x \t\n",
    ),
    *table("no white space after the colon", "2.2", ("/x",), (), lines="User-agent:*\nDisallow:/x"),
    *table("a colon within the value", "2.2", ("/x:y",), ("/x",), lines=group("Disallow: /x:y")),
    *table("a missing colon", "google", ("/x",), (), lines="User-agent *\nDisallow  \t /x\n"),
    *table("a missing colon and three words", "google", (), ("/x",), lines="User-agent: *\nDisallow /x y\n"),
    *table(
        "misspelt names",
        "google",
        ("/a", "/b", "/c", "/d", "/e"),
        ("/f",),
        lines="useragent: *\ndissallow: /a\ndissalow: /b\ndisalow: /c\ndiasllow: /d\ndisallaw: /e\ndisllow: /f\n",
    ),
    *table("user agent in two words", "google", ("/x",), (), lines="User agent: *\nDisallow: /x\n"),
    *table(
        "a line that is none",
        "2.3",
        ("/x",),
        (),
        lines="<html>\n:\n: /\n \nUser-agent: *\n///\n=\nDisallow: /x\n</html>",
    ),
    *table(
        "invalid UTF-8 in another line",
        "2.2",
        ("/x",),
        (),
        lines=b"User-agent: *\nDisallow: /\xff\xfe\xc3\nDisallow: /x\n",
    ),
    *table(
        "invalid UTF-8 in a rule is escaped", "google", ("/%FF/x",), ("/x",), lines=b"User-agent: *\nDisallow: /\xff/\n"
    ),
    *table("invalid UTF-8 in a comment", "2.2", ("/x",), (), lines=b"# \xff\xc3\nUser-agent: *\nDisallow: /x\n"),
    *table("a NUL ends its line", "google", ("/xz",), ("/y",), lines=b"User-agent: *\nDisallow: /x\0y\nAllow: /y\n"),
    *table("NULs alone", "google", ("/x",), (), lines=b"\0\0\0\nUser-agent: *\n\0\nDisallow: /x\n"),
    *table(
        "NEL and NBSP end no line and are no blank", "ours", ("/x%C2%85y",), ("/x",), lines=group("Disallow: /x\x85y")
    ),
    *table("UTF-16 has no lines", "google", (), ("/x",), lines=group("Disallow: /").encode("utf-16")),
    *table("a form feed is white space", "google", ("/x",), (), lines="User-agent: *\n\f\vDisallow: /x\f\n"),
    *table(
        "a line over the limit is cut",
        "google",
        ("/" + LONG,),
        ("/x",),
        lines=group(f"Disallow: /{LONG}/y", "Allow: /x"),
    ),
    *table("a long comment harms nothing", "2.2", ("/x",), (), lines="#" + LONG * 3 + "\n" + group("Disallow: /x")),
    *table("what lies within 500 KiB counts", "2.5", ("/x",), (), lines="#\n" * 255_000 + group("Disallow: /x")),
    *table(
        "a line begun within 500 KiB counts whole",
        "2.5",
        ("/xyz",),
        ("/x",),
        lines=" " * (MAX_FILE_BYTES - 30) + "\n" + group("Disallow: /xyz" + " " * 40),
    ),
]


@pytest.mark.parametrize(("body", "agent", "path", "allowed"), CASES)
def test_rule(body, agent, path, allowed):
    assert parse(body, agent).allows("https://e.example" + path) is allowed


def test_what_lies_beyond_500_kib_is_ignored():
    beyond = b"#" * 79 + b"\n"
    rules = parse(beyond * (MAX_FILE_BYTES // 80 + 1) + b"User-agent: *\nDisallow: /\n", AGENT)
    assert rules.allows("/x")


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
    [
        ("10", 10),
        ("0.5", 0.5),
        (".5", 0.5),
        ("1.", 1),
        ("", 0),
        ("-1", 0),
        ("nan", 0),
        ("inf", 0),
        ("1e9", 0),
        ("1 s", 0),
    ],
)
def test_a_crawl_delay_is_a_plain_number_of_seconds(value, seconds):
    assert parse(group(f"Crawl-delay: {value}").encode(), AGENT).crawl_delay_s == seconds


def test_a_crawl_delay_is_the_matching_group_s_and_the_longest_of_it():
    text = (
        group("Crawl-delay: 9")
        + group("Crawl-delay: 2", "Disallow:", agent=AGENT)
        + group("crawl-DELAY: 3", agent=AGENT)
    )
    assert parse(text.encode(), AGENT).crawl_delay_s == 3
    assert parse(text.encode(), "other").crawl_delay_s == 9


def test_a_crawl_delay_counts_for_the_agents_above_it():
    text = b"User-agent: slow\nCrawl-delay: 30\n\nUser-agent: *\nDisallow: /x\n"
    assert parse(text, "slow").crawl_delay_s == 30
    assert parse(text, AGENT).crawl_delay_s == 0


def test_a_crawl_delay_is_not_that_of_the_agents_below_it():
    text = b"User-agent: *\nCrawl-delay: 2\nUser-agent: slow\nUser-agent: lazy\nCrawl-delay: 90\n"
    assert [parse(text, agent).crawl_delay_s for agent in ("any", "slow", "lazy")] == [2, 90, 90]
    broken = b"User-agent: *\nCrawl-delay: soon\nUser-agent: slow\nCrawl-delay: 90\n"
    assert parse(broken, "any").crawl_delay_s == 0


def test_a_rule_is_that_of_all_agents_above_it_whatever_their_crawl_delay():
    text = b"User-agent: quick\nCrawl-delay: 1\nUser-agent: slow\nDisallow: /x\nCrawl-delay: 90\n"
    for agent, seconds in (("quick", 1), ("slow", 90)):
        rules = parse(text, agent)
        assert rules.allows("/x") is False
        assert rules.crawl_delay_s == seconds


def test_patterns_match_as_the_regular_expressions_do_that_they_stand_for():
    rng = random.Random(22)
    for _ in range(5_000):
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
        b"".join(b"Disallow: /*%d*a*b$\n" % number for number in range(25_000)),
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
        b"*",
        b"$",
        b"/",
        b"%2",
        b"%e3",
        b"\0",
        b"\r",
        b"\n",
        b" ",
        b"\xff",
        b"#",
        b"a",
        b":",
    ]
    for _ in range(3_000):
        rules = parse(b"".join(rng.choices(pieces, k=rng.randrange(40))), rng.choice(["a", "*", "", "A/1"]))
        assert rules.allows("https://a/" + "a%/*$?" * rng.randrange(3)) in (True, False)
