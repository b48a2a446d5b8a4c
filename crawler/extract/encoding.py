"""Bytes become text. Witnesses in the WHATWG's order: byte order mark, HTTP header, `<meta>`, the bytes themselves.

Only the encodings that browsers read count (https://encoding.spec.whatwg.org/): a label that names another one of
Python's codecs (`utf-7`, `zlib`, `punycode`, `unicode-escape`) is no label, as in a browser, whatever it would decode.
"""

from __future__ import annotations

import codecs
from functools import cache, lru_cache
from typing import TYPE_CHECKING

from w3lib.encoding import html_body_declared_encoding, http_content_type_encoding, resolve_encoding

if TYPE_CHECKING:
    from crawler.models import Fetched

UNICODE = frozenset({"utf-8", "utf-16-le", "utf-16-be"})  # pages in one of them send their forms' fields as UTF-8
DETECT_BYTES = 8_192  # enough text to tell encodings apart
UTF8_MIN = 32  # continuation bytes that make it no accident that a text is valid UTF-8
MAX_TYPE_CHARACTERS = 100  # of a Content-Type that is remembered
MISREAD_MIN, MISREAD_SHARE = 10, 0.01  # more U+FFFD than that, and the page is in another encoding than it says

_BYTE_ORDER_MARKS = ((b"\xef\xbb\xbf", "utf-8"), (b"\xfe\xff", "utf-16-be"), (b"\xff\xfe", "utf-16-le"))
_MARKS = tuple(mark for mark, _ in _BYTE_ORDER_MARKS)
# Python's names, as w3lib resolves the WHATWG's labels to them (it takes gb2312 for gb18030, latin-1 for cp1252 ...).
_KNOWN = UNICODE | frozenset(
    """gbk gb18030 big5 big5hkscs euc_jp iso2022_jp shift_jis cp932 euc_kr cp949 koi8-r koi8-u mac-roman mac-cyrillic
    cp866 cp874 cp1250 cp1251 cp1252 cp1253 cp1254 cp1255 cp1256 cp1257 cp1258 iso8859-2 iso8859-3 iso8859-4 iso8859-5
    iso8859-6 iso8859-7 iso8859-8 iso8859-10 iso8859-13 iso8859-14 iso8859-15 iso8859-16""".split()  # noqa: SIM905
)


def decode(page: Fetched) -> tuple[str, str]:
    """Returns the body's text and the encoding that it was read in, one of Python's names.

    A byte order mark decides. Unlike a browser's user, nobody here sees that another label is wrong, so one that the
    bytes contradict is dropped: text in some other encoding is no valid UTF-8, and UTF-8 text has next to no U+FFFD.
    What can't be decoded becomes U+FFFD.
    """
    body = page.body
    for mark, encoding in _BYTE_ORDER_MARKS:
        if body.startswith(mark):
            return _text(body[len(mark) :], encoding), encoding
    encoding = _declared(page) or _detected(body) or "utf-8"
    if encoding not in UNICODE and _is_utf8(body):
        return body.decode(), "utf-8"
    text = _text(body, encoding)
    if encoding in UNICODE and text.count("\ufffd") > max(MISREAD_MIN, len(text) * MISREAD_SHARE):
        encoding = _detected(body) or encoding
        text = _text(body, encoding)
    return text, encoding


def utf8(page: Fetched) -> tuple[bytes, str]:
    """Returns the body as UTF-8, and the encoding that `decode` reads it in. A body that is UTF-8 stays as it is."""
    body = page.body
    if b"\xef\xbf\xbd" not in body and not body.startswith(_MARKS) and _declared(page) == "utf-8":
        try:
            body.decode()
        except UnicodeDecodeError:
            pass
        else:
            return body, "utf-8"
    text, encoding = decode(page)
    return text.encode(errors="replace"), encoding


def _text(body: bytes, encoding: str) -> str:
    """Decodes, with U+FFFD for what can't be. In a table for single bytes that costs nothing; an error is 0.2 us."""
    table = _table(encoding)
    return codecs.charmap_decode(body, "strict", table)[0] if table else body.decode(encoding, "replace")


@cache
def _table(encoding: str) -> str:
    """Returns the characters of a single-byte encoding's 256 bytes; empty for other encodings."""
    single = encoding.startswith(("cp125", "cp8", "iso8859", "koi8", "mac-"))
    return bytes(range(256)).decode(encoding, "replace") if single else ""


def _declared(page: Fetched) -> str | None:
    """Returns what the header says, or else the page itself; None when neither names an encoding that browsers read."""
    if known := _of_header(page.encoding, page.content_type):
        return "utf-16-le" if known == "utf-16" else known
    meta = _known(html_body_declared_encoding(page.body))
    return "utf-8" if meta and meta.startswith("utf-16") else meta  # it was read as ASCII: it can't be UTF-16


def _of_header(encoding: str | None, content_type: str) -> str | None:
    if encoding:
        return _known(encoding)
    is_usual = len(content_type) <= MAX_TYPE_CHARACTERS
    return (_of_type if is_usual else _of_type.__wrapped__)(content_type)


@lru_cache(256)  # servers have few
def _of_type(content_type: str) -> str | None:
    return _known(http_content_type_encoding(content_type))


def _known(label: str | None) -> str | None:
    name = resolve_encoding(label) if label else None
    return name if name in _KNOWN or name == "utf-16" else None


def _is_utf8(body: bytes) -> bool:
    """Other encodings' texts are no valid UTF-8, but for a few characters by chance."""
    try:
        return len(body) - len(body.decode()) >= UTF8_MIN
    except UnicodeDecodeError:
        return False


def _detected(body: bytes) -> str | None:
    """Guesses the encoding of a page that doesn't say; None leaves it at UTF-8."""
    sample = body[:DETECT_BYTES]
    end = max(sample.rfind(b"<"), sample.rfind(b"\n"))  # not inside a character
    sample = sample[:end] if len(body) > DETECT_BYTES and end > 0 else sample
    try:
        sample.decode()
    except UnicodeDecodeError:
        import charset_normalizer  # few pages need it

        best = charset_normalizer.from_bytes(sample).best()
        return _known(best.encoding) if best else None
    return None
