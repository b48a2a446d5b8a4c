"""Bodies decoded to text, in the WHATWG's order: by byte order mark, HTTP header, `<meta>`, or the bytes themselves.

Only the encodings of browsers count (https://encoding.spec.whatwg.org/). A label of another one of Python's codecs
(`utf-7`, `zlib`, `punycode`, `unicode-escape`) is ignored, as in browsers.
"""

from __future__ import annotations

import codecs
from functools import cache
from typing import TYPE_CHECKING

from w3lib.encoding import html_body_declared_encoding, http_content_type_encoding, resolve_encoding

if TYPE_CHECKING:
    from crawler.models import Fetched

UNICODE = frozenset({"utf-8", "utf-16-le", "utf-16-be"})  # browsers send the queries of such pages as UTF-8
DETECT_BYTES = 8_192  # enough text to tell encodings apart
UTF8_MIN = 32  # continuation bytes; a valid UTF-8 text with as many is hardly in another encoding
MISREAD_MIN, MISREAD_SHARE = 10, 0.01  # a text with more U+FFFD than both is in another encoding than declared

_BYTE_ORDER_MARKS = ((b"\xef\xbb\xbf", "utf-8"), (b"\xfe\xff", "utf-16-be"), (b"\xff\xfe", "utf-16-le"))
_MARKS = tuple(mark for mark, _ in _BYTE_ORDER_MARKS)
# Python's names of the WHATWG's encodings, as w3lib resolves their labels (gb2312 to gb18030, latin-1 to cp1252 ...).
_KNOWN = UNICODE | frozenset(
    """gbk gb18030 big5 big5hkscs euc_jp iso2022_jp shift_jis cp932 euc_kr cp949 koi8-r koi8-u mac-roman mac-cyrillic
    cp866 cp874 cp1250 cp1251 cp1252 cp1253 cp1254 cp1255 cp1256 cp1257 cp1258 iso8859-2 iso8859-3 iso8859-4 iso8859-5
    iso8859-6 iso8859-7 iso8859-8 iso8859-10 iso8859-13 iso8859-14 iso8859-15 iso8859-16""".split()  # noqa: SIM905
)


def decode(page: Fetched) -> tuple[str, str]:
    """Returns the text of a body, and Python's name of the encoding in which it was read.

    A byte order mark decides. Nobody sees here that any other label is wrong, as a browser's user does, so a label that
    the bytes contradict is ignored: text in another encoding is hardly ever valid UTF-8, and UTF-8 has few U+FFFD.
    Bytes that can't be decoded become U+FFFD.
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
    """Returns the body in UTF-8, unchanged if it is UTF-8 already, and the encoding in which `decode` reads it."""
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
    """Decodes a body. By a table, U+FFFD costs nothing; by a codec, each takes 0.2 us."""
    table = _table(encoding)
    return codecs.charmap_decode(body, "strict", table)[0] if table else body.decode(encoding, "replace")


@cache
def _table(encoding: str) -> str:
    """Returns the characters of the 256 bytes of a single-byte encoding; empty for other encodings."""
    single = encoding.startswith(("cp125", "cp8", "iso8859", "koi8", "mac-"))
    return bytes(range(256)).decode(encoding, "replace") if single else ""


def _declared(page: Fetched) -> str | None:
    """Returns the encoding that the header names, or else the page; None if neither names one of browsers."""
    if known := _known(http_content_type_encoding(page.content_type)):
        return "utf-16-le" if known == "utf-16" else known
    meta = _known(html_body_declared_encoding(page.body))
    return "utf-8" if meta and meta.startswith("utf-16") else meta  # a label read as ASCII can't be in UTF-16


def _known(label: str | None) -> str | None:
    name = resolve_encoding(label) if label else None
    return name if name in _KNOWN or name == "utf-16" else None


def _is_utf8(body: bytes) -> bool:
    """Returns whether a body is UTF-8. In other encodings, a few characters may be valid UTF-8 by chance."""
    try:
        return len(body) - len(body.decode()) >= UTF8_MIN
    except UnicodeDecodeError:
        return False


def _detected(body: bytes) -> str | None:
    """Guesses the encoding of a page that declares none; None for UTF-8 and for no idea."""
    sample = body[:DETECT_BYTES]
    end = max(sample.rfind(b"<"), sample.rfind(b"\n"))  # a place that isn't inside a character
    sample = sample[:end] if len(body) > DETECT_BYTES and end > 0 else sample
    try:
        sample.decode()
    except UnicodeDecodeError:
        import charset_normalizer  # late, since few pages need it

        best = charset_normalizer.from_bytes(sample).best()
        return _known(best.encoding) if best else None
    return None
