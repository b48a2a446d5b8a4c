"""What a server can do to a client, and how the seed ends: `finish`, or the reason that it fails for.

One line a case.
"""

from __future__ import annotations

import gzip
from dataclasses import dataclass
from itertools import chain

from hostile.hostile_wire_bodies import (
    MIB,
    PAGE,
    answer,
    brotli_bomb,
    chunk,
    chunked,
    deflate_bomb,
    encoded,
    forever,
    gzip_bomb,
    repeated,
    zstd_bomb,
    zstd_window,
)
from hostile.hostile_wire_server import HOLD, NO_RULES, RESET, Script

FINISH = "finish"
STATUS = b"HTTP/1.1 200 OK\r\n"
HEAD = STATUS + b"Content-Type: text/html\r\n"
CHUNKED = HEAD + b"Transfer-Encoding: chunked\r\n\r\n"
FIRST = PAGE.replace(b"</article>", b'</article><a class="next" href="x/">next</a>')
FILL = b"x" * 65_536
SLOW_WORDS = ("slow-", "never-comes", "by-the-byte")  # in the names of cases that take their time


@dataclass(frozen=True)
class Case:
    """Args: steps: what the server does, see hostile_wire_server.py."""

    name: str
    ends: str
    script: Script
    robots: Script = lambda _path: [NO_RULES]

    @property
    def slow(self):
        """Whether it ends, or a part of it does, because time is up."""
        return "timeout" in self.ends or any(word in self.name for word in SLOW_WORDS)


def case(name, ends, *steps, then=()):
    """Returns a case that does the same for each path; `then` comes after the steps and may have no end."""
    return Case(name, ends, lambda _path: chain(steps, then))


def robots(name, ends, *steps, then=()):
    """Returns a case whose page is a good one."""
    return Case(f"robots-{name}", ends, lambda _path: [answer()], lambda _path: chain(steps, then))


def moved(location):
    """Returns a redirect, for `/page` only; what it leads to is a page."""
    there = answer(b"", b"Location: " + location, status=b"302 Found")
    return lambda path: [there if path == "/page" else answer()]


def with_media(name, **images):
    """Returns a case whose page shows images, each with steps of its own."""
    shown = b"".join(b'<img src="/%b.png">' % image.encode() for image in images)
    page = answer(PAGE.replace(b"</article>", shown + b"</article>"))
    return Case(name, FINISH, lambda path: [page] if path == "/page" else images[path[1:].removesuffix(".png")])


def further(name, ends, then):
    """Returns a case whose page has a next one, which comes so."""
    return Case(name, ends, lambda path: [answer(FIRST)] if path == "/page" else then)


def length(value, body=PAGE):
    """Returns an answer with a Content-Length of that text."""
    return HEAD + b"Content-Length: " + value + b"\r\n\r\n" + body


def nested(times):
    """Returns an answer in gzip of gzip of gzip ..."""
    return encoded(repeated(gzip.compress, PAGE, times), b", ".join([b"gzip"] * times))


CASES = [
    # -- More than there should be ------------------------------------------------------------------------------------
    case("over-the-cap-with-a-length", "too-large", length(b"%d" % (64 * MIB), b""), then=forever(FILL)),
    case("over-the-cap-without-a-length", "too-large", HEAD + b"\r\n", then=forever(FILL)),
    case("endless-chunks", "too-large", CHUNKED, then=forever(chunk(FILL))),
    case("a-chunk-of-a-terabyte", "too-large", CHUNKED + b"10000000000\r\n", then=forever(FILL)),
    case("endless-chunks-of-a-byte", "bad-response", CHUNKED, then=forever(chunk(b"x") * 10_000)),
    case("a-chunk-extension-without-end", "timeout", CHUNKED + b"1;", then=forever(FILL)),  # libcurl keeps none of it
    case("trailers-without-end", "bad-response", CHUNKED + chunk(PAGE) + b"0\r\n", then=forever(b"A: b\r\n" * 1_000)),
    # -- Slower than there is time for --------------------------------------------------------------------------------
    case("slow-headers", "timeout", STATUS, then=forever(b"X-A: b\r\n", 0.2)),
    case("slow-headers-by-the-byte", "timeout", STATUS + b"X-A: ", then=forever(b"b", 0.2)),
    case("slow-body-by-the-byte", "timeout", length(b"1000", b""), then=forever(b"x", 0.2)),
    case("slow-chunks", "timeout", CHUNKED, then=forever(chunk(b"x"), 0.2)),
    case("slow-informational-answers", "timeout", then=forever(b"HTTP/1.1 102 Processing\r\n\r\n", 0.5)),
    case("no-answer", "timeout", HOLD),
    case("no-body", "timeout", length(b"1000", b""), HOLD),
    Case(
        "slow-redirects",
        "page-timeout",
        # What sets a cookie is no page by itself, so its redirects are followed.
        lambda path: [2, answer(b"", b"Location: %sx" % path.encode(), b"Set-Cookie: a=b", status=b"302 Found")],
    ),
    # -- Bombs, and bodies that aren't what they say ------------------------------------------------------------------
    case("gzip-bomb", "too-large", encoded(gzip_bomb(), b"gzip")),
    case("deflate-bomb", "too-large", encoded(deflate_bomb(), b"deflate")),
    case("br-bomb", "too-large", encoded(brotli_bomb(), b"br")),
    case("zstd-bomb", "too-large", encoded(zstd_bomb(), b"zstd")),
    case("gzip-bomb-in-gzip", "too-large", encoded(gzip.compress(gzip_bomb()), b"gzip, gzip")),
    case("zstd-that-asks-for-128-MiB", "bad-encoding", encoded(zstd_window(), b"zstd")),
    case("gzip-of-100,000-empty-members", "bad-encoding", encoded(gzip.compress(b"") * 100_000, b"gzip")),
    case("gzip-four-times", "bad-encoding", nested(4)),
    case("says-gzip-is-plain", "bad-encoding", encoded(PAGE, b"gzip")),
    case("an-unknown-coding", "bad-encoding", encoded(PAGE, b"lzma")),
    case("gzip-cut-off", "truncated", encoded(gzip.compress(PAGE)[:-20], b"gzip")),
    case("broken-coding-of-no-page", "http-404", answer(PAGE, b"Content-Encoding: gzip", status=b"404 Not Found")),
    case("gzip", FINISH, encoded(gzip.compress(PAGE) + b"trailing", b"x-gzip")),
    # -- Lengths that lie ---------------------------------------------------------------------------------------------
    case("length-too-long", "truncated", length(b"100000")),
    case("length-too-short", FINISH, length(b"%d" % (len(PAGE) - 20))),
    case("length-negative", "bad-response", length(b"-1")),
    case("length-of-5,000-digits", "bad-response", length(b"9" * 5_000)),
    case("length-of-20-digits", "too-large", length(b"9" * 20)),
    case("two-lengths", "bad-response", length(b"10\r\nContent-Length: 2000")),
    case(
        "length-and-chunks",
        FINISH,
        HEAD + b"Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n" + chunk(PAGE) + b"0\r\n\r\n",
    ),
    # -- Broken chunks ------------------------------------------------------------------------------------------------
    case("chunks", FINISH, chunked(PAGE[:9], PAGE[9:])),
    case("chunk-size-no-number", "bad-response", CHUNKED + b"many\r\n" + PAGE),
    case("chunk-longer-than-it-says", "bad-response", CHUNKED + b"5\r\n" + PAGE),
    case("odd-trailers", FINISH, chunked(PAGE, end=b"0\r\nno colon\r\nA: \0\r\n\r\n")),
    case("chunks-cut-off", "truncated", chunked(PAGE, end=b"ff\r\nab")),
    case("unknown-transfer-coding", "bad-response", HEAD + b"Transfer-Encoding: zip\r\n\r\n" + PAGE),
    # -- Heads --------------------------------------------------------------------------------------------------------
    case("a-header-of-1-MB", "bad-headers", STATUS + b"X-A: " + b"b" * MIB + b"\r\n\r\n" + PAGE),
    case(
        "100,000-headers",
        "bad-headers",
        STATUS,
        *(b"X-%d: b\r\n" % number for number in range(100_000)),
        b"\r\n" + PAGE,
    ),
    case("endless-headers", "bad-headers", STATUS, then=forever(b"X-A: b\r\n" * 5_000)),
    case("an-endless-header", "bad-headers", STATUS + b"X-A: ", then=forever(FILL)),
    case("an-endless-folded-header", "bad-headers", STATUS + b"X-A: b\r\n", then=forever(b" b\r\n" * 5_000)),
    case("endless-lines-without-a-colon", "bad-headers", STATUS, then=forever(b"x\r\n" * 5_000)),
    case("a-few-odd-header-lines", FINISH, answer(PAGE, b"no colon", b": no name", b"X A : b", b"\xff: \x00", b"X-A:")),
    case("no-status-line", "bad-response", HEAD.removeprefix(STATUS) + b"\r\n" + PAGE),
    case("an-odd-status-line", "bad-response", b"HTTP/1.1 two hundred\r\n\r\n" + PAGE),
    case("another-protocol", "bad-response", b"SSH-2.0-OpenSSH_9.2\r\n", HOLD),
    case("a-version-of-5,000-digits", "bad-response", b"HTTP/1." + b"9" * 5_000 + b" 200 OK\r\n\r\n" + PAGE),
    case("http-0.9", "bad-response", b"<html>\n" + PAGE),
    case("random-bytes-without-end", "bad-response", then=forever(bytes(range(128, 256)) * 512)),
    case("status-099", "bad-response", answer(status=b"099 Odd")),
    case("status-999", "http-999", answer(status=b"999 Go away")),
    case("endless-100-continue", "bad-headers", then=forever(b"HTTP/1.1 100 Continue\r\n\r\n" * 1_000)),
    case(
        "endless-103-early-hints", "bad-headers", then=forever(b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n" * 100)
    ),
    case("a-few-informational-answers", FINISH, b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n" * 5 + answer()),
    case("switching-protocols", "bad-response", b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: h2c\r\n\r\n", HOLD),
    # -- Connections that end -----------------------------------------------------------------------------------------
    case("an-empty-answer", "connection"),
    case("reset-at-once", "connection", RESET),
    case("ended-within-the-headers", "truncated", HEAD),
    case("reset-within-the-body", "truncated", length(b"%d" % (2 * len(PAGE))), 0.2, RESET),
    case("reset-within-a-body-without-a-length", "truncated", HEAD + b"\r\n" + PAGE, 0.2, RESET),
    case("ended-by-the-connection", FINISH, answer(length=False)),
    # -- Redirects ----------------------------------------------------------------------------------------------------
    Case("redirect-of-1-MB", "bad-headers", moved(b"/" + b"a" * MIB)),
    Case("redirect-of-100-KB", "bad-redirect", moved(b"/" + b"a" * 100_000)),
    Case("redirect-with-CRLF", FINISH, moved(b"/a%0d%0aX-Injected:%20b")),
    Case("redirect-with-CR", FINISH, moved(b"/a\rX-Injected: b")),
    Case("redirect-with-NUL", FINISH, moved(b"/a\x00b")),
    Case("redirect-to-a-host-with-NUL", "bad-redirect", moved(b"http://a\x00b.test/")),
    Case("redirect-to-a-file", "bad-redirect", moved(b"file:///etc/passwd")),
    Case("redirect-to-nowhere", "bad-redirect", lambda _path: [answer(status=b"302 Found")]),
    Case(
        "redirect-to-itself", "too-many-redirects", lambda _path: [answer(b"", b"Location: /page", status=b"302 Found")]
    ),
    # -- Further pages: half a thread is none -------------------------------------------------------------------------
    further("further-pages", FINISH, then=[answer()]),
    further("further-page-of-no-http", FINISH, then=[b"odd\r\n"]),
    further("further-page-as-a-bomb", FINISH, then=[encoded(gzip_bomb(), b"gzip")]),
    further("further-page-that-never-comes", FINISH, then=[HOLD]),
    further("slow-further-pages", FINISH, then=[2, answer(FIRST)]),
    # -- Media: the page is kept ---------------------------------------------------------------------------------------
    with_media("hostile-media", bomb=[encoded(gzip_bomb(), b"gzip")], odd=[b"odd\r\n"], headers=[b"x" * MIB]),
    with_media("media-that-never-comes", never=[HOLD]),
    with_media("slow-media", **{f"image-{number}": [2, answer(b"PNG")] for number in range(6)}),
    # -- robots.txt: the same bounds ----------------------------------------------------------------------------------
    robots("that-never-comes", "robots-unreachable", HOLD),
    robots("by-the-byte", "robots-unreachable", length(b"1000", b"User-agent: *\n"), then=forever(b"#", 0.2)),
    robots("as-a-bomb", "robots-unreachable", encoded(gzip_bomb(), b"gzip")),
    robots("that-is-no-http", "robots-unreachable", b"User-agent: *\nDisallow:\n"),
    robots("without-end", FINISH, HEAD + b"\r\nUser-agent: *\n", then=forever(b"Disallow: /x\n" * 5_000)),
]
