"""HTML that turbohtml can read safely."""

from __future__ import annotations

import re

HIDDEN_TEMPLATE = "x-template"  # stands for a `<template>` that might crash the parser


def without_foreign_templates(data: bytes) -> bytes:
    """Returns HTML, in an encoding that has ASCII's letters, without the templates that turbohtml can't read safely.

    A `<template>` in SVG or MathML lets turbohtml (until 1.15.4 at least) read and write where it must not. To tell
    such a template from others takes a parser, so each behind the first `<svg` or `<math` gets another name.
    """
    lower = data.lower()
    foreign = min((at for at in (lower.find(b"<svg"), lower.find(b"<math")) if at >= 0), default=len(data))
    if lower.find(b"<template", foreign) < 0:
        return data
    opened: list[bool] = []  # of each open template, whether it has another name

    def renamed(tag: re.Match[bytes]) -> bytes:
        if tag[1]:
            is_renamed = bool(opened) and opened.pop()
        else:
            is_renamed = tag.start() > foreign
            opened.append(is_renamed)
        return b"<" + tag[1] + HIDDEN_TEMPLATE.encode() if is_renamed else tag[0]

    return _template_tag.sub(renamed, data)


_template_tag = re.compile(rb"<(/?)template", re.IGNORECASE)
