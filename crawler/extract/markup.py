"""HTML text becomes the tree that a browser makes of it, by turbohtml, at bounded cost.

turbohtml takes linear time for any page, and nests no more than 512 elements, as browsers do. What it takes of memory
is bounded by counting what costs most: elements, and errors in the markup, which it keeps.
"""

from __future__ import annotations

import re

import re2
import turbohtml

from crawler.base import reasons
from crawler.base.errors import ExtractError

MAX_TAGS = 250_000  # some 1 us and 250 bytes each: 60 MB. The HTML standard on one page has 150,000
MAX_ROOTS = 8  # tags of <html> and <body>; each that has a new attribute copies all that there are
MAX_COPIED_BYTES = 20_000_000  # with more roots than that: a page's bytes, times its roots
HIDDEN_TEMPLATE = "x-template"  # stands for a `<template>` that might crash the parser
SHADOW_ROOT = "x-shadow-root"  # stands for a `<template shadowrootmode>`, whose text browsers show


def parse_html(data: bytes) -> turbohtml.Document:
    """Returns the tree of HTML, whatever is in it. Entities that it defines and files that it names aren't read.

    Args:
        data: In UTF-8.

    Raises:
        ExtractError: `too-many-tags` or `too-many-attributes`.
    """
    tags = data.count(b"<")
    if tags > MAX_TAGS:
        raise ExtractError(reasons.TOO_MANY_TAGS, f"{tags}, at most {MAX_TAGS} are read")
    data = data.replace(b"\0", b"")  # each would be an error, of 48 bytes
    dear_tags = _dear_tags(data)
    roots = sum(tag.lower() != b"<template" for tag in dear_tags)
    if roots > MAX_ROOTS and roots * len(data) > MAX_COPIED_BYTES:
        raise ExtractError(reasons.TOO_MANY_ATTRIBUTES, f"{roots} tags of <html> and <body>")
    if roots < len(dear_tags):
        data = with_plain_templates(data)
    return turbohtml.parse(data, encoding="utf-8", positions=False)


def with_plain_templates(data: bytes) -> bytes:
    """Returns HTML, in an encoding that has ASCII's letters, with other names for some templates.

    A `<template>` in SVG or MathML lets turbohtml (until 1.15.4 at least) read and write where it must not. To tell
    such a template from others takes a parser, so each behind the first `<svg` or `<math` gets another name.
    One that declares a shadow root holds what browsers show in its place: it becomes an element like any other.

    Args:
        data: HTML without NULs, which browsers leave out.
    """
    lower = data.lower()
    last = lower.rfind(b"<template")
    foreign = min((at for at in (lower.find(b"<svg"), lower.find(b"<math")) if at >= 0), default=last)
    if foreign >= last and b"shadowrootmode" not in lower:
        return data
    opened: list[bytes] = []  # the name of each open template

    def renamed(tag: re.Match[bytes]) -> bytes:
        if tag[1]:
            name = opened.pop() if opened else b"template"
        else:
            name = HIDDEN_TEMPLATE.encode() if tag.start() > foreign else b"template"
            if _declares_shadow_root(data, tag.end()):
                name = SHADOW_ROOT.encode()
            opened.append(name)
        return tag[0] if name == b"template" else b"<" + tag[1] + name

    return _template_tag.sub(renamed, data)


_dear_tags = re2.compile(rb"(?i)<(?:html|body|template)").findall  # in half the time of a look through `data.lower()`
_template_tag = re.compile(rb"<(/?)template", re.IGNORECASE)
_declares_shadow_root = re.compile(rb"[^>]{0,300}?\sshadowrootmode\s*=\s*[\"']?(?:open|closed)\b", re.IGNORECASE).match
