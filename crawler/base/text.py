"""Clean text: the normal form of every string that leaves the crawler.

Clean text is in Unicode NFC and has no control, escape or invisible characters, no two blanks in a row, and no blank at
either end of a line. Cleaning is idempotent, and cheap for text that is clean already, so every layer may clean again.
Code and rows of tables in a page's text have blanks and tabs of their own (`extract/shape.py`), as has what a site's
rule keeps: `verbatim` cleans them.
"""

from __future__ import annotations

import re
from unicodedata import combining, is_normalized, normalize

import re2

# ECMA-48's sequences: CSI, OSC, others.
_ESCAPES = r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[ -/]*[0-~])"
_LINE_ENDS = r"\r\n?|[\x0b\x0c\x1c-\x1e\x85\u2028\u2029]"  # those of str.splitlines(); they become \n
# C0 and C1 controls, soft hyphen, zero-width space, direction overrides, word joiners and invisible operators, byte
# order mark, interlinear notes, surrogates, non-characters, and tags, which can spell whole texts that nobody sees.
_INVISIBLE = (
    r"[\x00-\x08\x0e-\x1b\x1f\x7f-\x9f\u00ad\u200b\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff\ufff9-\ufffb"
    r"\ud800-\udfff\ufffe\uffff\U000e0000-\U000e007f]"
)
_BLANKS = r"[^\S\n]+"
_MAX_MARKS = 30  # most marks on one letter, by Unicode's Stream-Safe Text Format (UAX 15); NFC sorts 100,000 in 8 s
_MAYBE_MARK = r"[^\w\s\x00-\x7f]"

# Characters that cleaning leaves as they are whatever stands beside them, visible and in NFC with any neighbour: Latin,
# Greek, Cyrillic, Hebrew, Arabic and Persian without marks, punctuation, symbols, kana, ideographs, Hangul, wide forms.
_USUAL = (
    " -~\n\u00a1-\u00ac\u00ae-\u02ff\u0391-\u03a1\u03a3-\u03ce\u0400-\u0482\u048a-\u052f\u05d0-\u05ea\u0621-\u063a"
    "\u0641-\u064a\u0660-\u0669\u0671-\u06d3\u1e00-\u1eff\u2010-\u2027\u2030-\u205e\u20a0-\u20bf\u2116\u2122"
    "\u2190-\u2328\u232b-\u23ff\u2460-\u27ff\u3001-\u3029\u3030-\u303e\u3041-\u3096\u30a1-\u30ff\u3105-\u312f\u3400-\u9fff"
    "\uac00-\ud7a3\uff01-\uffbe\U0001f300-\U0001f64f\U0001f680-\U0001f6c5\U0001f90c-\U0001f9ff"
)
_SHORT = 200  # the longest text, in characters, for which the other steps take less time than re2's call, some 2 us

_unusual = re2.compile(f"[^{_USUAL}]|  ").search  # matches a character that needs a look, or two blanks in a row
_strip_escapes = re.compile(_ESCAPES).sub
_unify_line_ends = re.compile(_LINE_ENDS).sub
_strip_invisible = re.compile(_INVISIBLE).sub
_collapse_blanks = re.compile(_BLANKS).sub
_maybe_mark = re.compile(_MAYBE_MARK)
_mark_run = re.compile(rf"{_MAYBE_MARK}{{{_MAX_MARKS + 1},}}")


def paragraphs(text: str) -> str:
    r"""Returns the clean text with a single `\n` between its paragraphs; empty if nothing is left.

    Most texts need few of the steps, and each step is left out where a cheap test shows that it would change nothing:
    the posts of a page of `benchmarks/side_by_side` take 23 us instead of 442.
    """
    if len(text) <= _SHORT:
        if _is_clean_line(text):
            return text
    elif _is_usual(text):
        clean = _without_empty(text.split("\n"))
        return text if clean == text else clean
    plain = _plain_blanks(_strip_escapes("", text) if "\x1b" in text else text)
    if plain.replace("\n", "").isprintable():  # there is nothing to take out, and " " is the only blank
        clean = _joined_lines(plain)
        if clean == text and is_normalized("NFC", text):
            return text
    else:
        clean = _joined_lines("\n".join(map(_visible, plain.split("\n"))))
    if clean.isascii():
        return clean
    if _maybe_mark.search(clean[:: _MAX_MARKS + 1]):  # the step is so small that it meets every run that is too long
        clean = _mark_run.sub(_fewer_marks, clean)
    return normalize("NFC", clean)


def line(text: str) -> str:
    """Returns the clean text as one line; empty if nothing is left."""
    return paragraphs(text).replace("\n", " ")


def verbatim(text: str) -> str:
    r"""Returns the text with its lines, blanks and indentation, without what nobody sees and blanks at lines' ends.

    Lines end in `\n`; there is no empty line before the first or after the last one. Idempotent, as cleaning is.
    """
    unified = _unify_line_ends("\n", _strip_escapes("", text)).replace("\xa0", " ")
    lines = [_strip_invisible("", line).rstrip() for line in unified.split("\n")]
    plain = "\n".join(lines).strip("\n")
    if plain.isascii():
        return plain
    return normalize("NFC", _mark_run.sub(_fewer_marks, plain))


def inert(text: str) -> str:
    r"""Returns text that can't act on a terminal or in a log: what isn't printable becomes U+FFFD, except `\n`.

    Controls, escapes, direction overrides and line separators aren't printable. Unlike cleaning, this removes nothing.
    """
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() or char == "\n" else "\N{REPLACEMENT CHARACTER}" for char in text)


def one_line(text: str) -> str:
    """Returns inert text on one line: each run of blanks and line ends becomes one blank."""
    return inert(" ".join(text.split()))


def _fewer_marks(run: re.Match[str]) -> str:
    """Returns a run of characters without the combining marks that come after `_MAX_MARKS` others."""
    kept, marks = [], 0
    for character in run[0]:
        marks = marks + 1 if combining(character) else 0
        if marks <= _MAX_MARKS:
            kept.append(character)
    return "".join(kept)


def _is_clean_line(text: str) -> bool:
    """Returns whether a text is clean and has one line; `" "` is the only blank that is printable."""
    return (
        text.isprintable()
        and "  " not in text
        and text.strip(" ") == text
        and (text.isascii() or is_normalized("NFC", text))
    )


def _is_usual(text: str) -> bool:
    """Returns whether a text is clean but for blanks at the ends of its lines, and empty lines; False if in doubt."""
    try:
        return _unusual(text) is None
    except UnicodeEncodeError:  # re2 reads UTF-8, which has no surrogates
        return False


def _plain_blanks(text: str) -> str:
    """Returns the text with the most usual other blanks replaced by `" "`."""
    for blank in ("\t", "\xa0", "\u3000"):
        if blank in text:
            text = text.replace(blank, " ")
    return text


def _joined_lines(text: str) -> str:
    """Returns the text without superfluous blanks and empty lines; `" "` must be its only blank."""
    lines = text.split("\n")
    if "  " in text:
        lines = [" ".join(line.split()) for line in lines]
    return _without_empty(lines)


def _without_empty(lines: list[str]) -> str:
    """Returns the lines, without blanks at their ends, that have anything else."""
    return "\n".join([kept for line in lines if (kept := line.strip(" "))])


def _visible(line: str) -> str:
    """Returns a line without invisible characters and with `" "` for each blank; other line ends may split it."""
    if line.isprintable():
        return line
    return _collapse_blanks(" ", _strip_invisible("", _unify_line_ends("\n", line)))
