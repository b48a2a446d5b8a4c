"""Bodies decoded to text as browsers do: by byte order mark, HTTP header, `<meta>`, or the bytes themselves.

turbohtml knows the encodings of browsers and their labels, decodes them, and guesses where nothing is declared, all by
the WHATWG's standard (https://encoding.spec.whatwg.org/). A label of another one of Python's codecs (`utf-7`, `zlib`,
`punycode`, `unicode-escape`) is ignored, as in browsers.
"""

from __future__ import annotations

import re
from contextlib import suppress
from functools import lru_cache
from typing import TYPE_CHECKING

import turbohtml
from turbohtml.detect import detect  # registers the codecs `whatwg-...`, too

if TYPE_CHECKING:
    from crawler.base.models import Fetched

UNICODE = frozenset({"utf-8", "utf-16-le", "utf-16-be"})  # browsers send the queries of such pages as UTF-8
DECLARATION_BYTES = 65_536  # are looked through for a `<meta>`; browsers promise 1,024 and read on
DETECT_BYTES = 32_768  # enough text to tell all encodings of the tests apart; 0.6 us each where they are no UTF-8
DETECT_BEFORE = 64  # bytes before one beyond ASCII: the letters around it are evidence, too
UTF8_MIN = 32  # continuation bytes; a valid UTF-8 text with as many is hardly in another encoding
MISREAD_MIN, MISREAD_SHARE = 10, 0.01  # a text with more U+FFFD than both is in another encoding than declared
BROKEN_SHARE = 0.02  # of the bytes beyond ASCII in a UTF-8 text, such as those of a character that was cut

_BYTE_ORDER_MARKS = ((b"\xef\xbb\xbf", "utf-8"), (b"\xfe\xff", "utf-16be"), (b"\xff\xfe", "utf-16le"))
_MARKS = tuple(mark for mark, _ in _BYTE_ORDER_MARKS)
# How an XML declaration begins in UTF-16 without a byte order mark, by the WHATWG's standard.
_XML_IN_UTF16 = {b"<\0?\0x\0": "utf-16le", b"\0<\0?\0x": "utf-16be"}
_NO_TEXT = frozenset({"replacement", "x-user-defined"})  # as browsers read these, nothing is left of what was written
# Python's names where it doesn't know the WHATWG's, or knows a narrower encoding by them.
_PYTHON_NAMES = {
    "big5": "big5hkscs",
    "euc-kr": "cp949",
    "gbk": "gb18030",
    "iso-8859-8-i": "iso8859-8",
    "shift_jis": "cp932",
    "utf-16be": "utf-16-be",
    "utf-16le": "utf-16-le",
    "windows-874": "cp874",
    "x-mac-cyrillic": "mac-cyrillic",
}
# Labels of feeds that no browser knows, of encodings that are never guessed.
_MORE_LABELS = {"maccyrillic": "x-mac-cyrillic", "macroman": "macintosh"}
_DECLARES_NO_TEXT = b"<meta charset=replacement>"  # what the detector answers to a tag that declares nothing
_NO_DECLARATION = b" " * 1_024  # before bytes whose `<meta>` was wrong: the detector looks for one in the first 1,024
_http_charset = re.compile(r"charset\s*=\s*[\"']?\s*([\w.:-]{1,40})", re.IGNORECASE).search
_xml_encoding = re.compile(rb"\s*<\?xml\s[^>]{0,200}?encoding\s*=\s*[\"']\s*([\w.:-]{1,40})").match
_comments = re.compile(rb"<!--.*?(?:-->|\Z)", re.DOTALL).sub
_meta_tags = re.compile(rb"<meta[\s/][^<>]{0,500}?charset[^<>]{0,500}>", re.IGNORECASE).findall
_beyond_ascii = re.compile(rb"[\x80-\xff\x1b]+")  # an escape changes the alphabet in ISO-2022-JP


def decode(page: Fetched) -> tuple[str, str]:
    """Returns the text of a body, and Python's name of the encoding in which it was read.

    A byte order mark decides. Nobody sees here that any other label is wrong, as a browser's user does, so a label that
    the bytes contradict is ignored: text in another encoding is hardly ever valid UTF-8, and the right one leaves few
    U+FFFD, which stand for bytes that can't be decoded.
    """
    body = page.body
    for mark, encoding in _BYTE_ORDER_MARKS:
        if body.startswith(mark):
            return _read(body[len(mark) :], encoding)
    text, name = _read(body, _encoding(page))
    misread = text.count("\ufffd")
    if misread > max(MISREAD_MIN, len(text) * MISREAD_SHARE):
        other, other_name = _read(body, _detected(body))
        if name in UNICODE or other.count("\ufffd") < misread:
            return other, other_name
    return text, name


def utf8(page: Fetched) -> tuple[bytes, str]:
    """Returns the body in UTF-8, unchanged if it is UTF-8 already, and the encoding in which `decode` reads it."""
    body = page.body
    if not body.startswith(_MARKS) and _encoding(page) == "utf-8":
        with suppress(UnicodeDecodeError):
            if body.isascii() or "\ufffd" not in body.decode():  # faster to find in text than in bytes
                return body, "utf-8"
    text, encoding = decode(page)
    return text.encode(errors="replace"), encoding


def _read(body: bytes, encoding: str) -> tuple[str, str]:
    """Returns the text of bytes in one of the WHATWG's encodings, and Python's name of it."""
    name = _PYTHON_NAMES.get(encoding, encoding)
    return body.decode(name if name in UNICODE else f"whatwg-{encoding}", "replace"), name


def _encoding(page: Fetched) -> str:
    """Returns the WHATWG's name of the encoding of a body without a byte order mark."""
    label = _http_charset(page.content_type)
    known = _known(label[1]) if label else None
    if known and known.startswith("utf"):
        return known
    return "utf-8" if _is_utf8(page.body) else known or _declared(page.body) or _detected(page.body)


def _declared(body: bytes) -> str | None:
    """Returns the encoding that a page itself names; None if it names none of browsers."""
    if encoding := _XML_IN_UTF16.get(body[:6]):
        return encoding
    head = body[:DECLARATION_BYTES]
    for tag in _meta_tags(_comments(b"", head)):  # no tree is built to find out how to read the page
        label = detect(tag + _DECLARES_NO_TEXT).encoding
        if known := label and _known(label):
            return known
    xml = _xml_encoding(head)
    known = _known(xml[1].decode("ascii", "replace")) if xml else None
    return "utf-8" if known and known.startswith("utf") else known  # a label read as ASCII can't be in UTF-16


@lru_cache(maxsize=1_000)  # there are some 230 labels; bounded, since a site may send anything
def _known(label: str) -> str | None:
    """Returns the encoding of a label; None if browsers know none, or none that holds text."""
    label = label.lower()
    try:
        name = turbohtml.parse(b"", encoding=_MORE_LABELS.get(label, label)).encoding
    except LookupError:
        return None
    return name.lower() if name and name.lower() not in _NO_TEXT else None


def _is_utf8(body: bytes) -> bool:
    """Returns whether a body is UTF-8. In other encodings, a few characters may be valid UTF-8 by chance."""
    try:
        return len(body) - len(body.decode()) >= UTF8_MIN
    except UnicodeDecodeError:
        pass
    text = body.decode(errors="ignore")
    read = len(text.encode())
    continuations, broken = read - len(text), len(body) - read
    return continuations >= UTF8_MIN and broken <= continuations * BROKEN_SHARE


def _detected(body: bytes) -> str:
    """Guesses the encoding of a page by its characters beyond ASCII; UTF-8 where it has none."""
    sample = _telling(body)
    detected = detect(_NO_DECLARATION + sample).encoding if sample else None
    return detected.lower() if detected else "utf-8"


def _telling(body: bytes) -> bytes:
    """Returns the characters beyond ASCII with what stands around them, which may be far from the page's beginning."""
    first = _beyond_ascii.search(body)
    if first is None:
        return b""
    begin = max(0, first.start() - DETECT_BEFORE)
    if begin + DETECT_BYTES >= len(body):
        return body[begin:]
    parts, size, end = [], 0, begin
    for run in _beyond_ascii.finditer(body, first.start()):
        start = max(end, run.start() - DETECT_BEFORE)
        end = min(run.end() + DETECT_BEFORE, start + DETECT_BYTES)
        parts.append(body[start:end])
        size += end - start
        if size >= DETECT_BYTES:
            break
    return b"".join(parts)
