"""Cleaning brings any text into one normal form, in which it stays."""

import random
import re
import unicodedata

import pytest

from crawler.base import text

PIECES = [
    *("a", "重", " ", "\n", "\t", "\r", "\x1b", "[", "31", "m", "]", "\x07", "\u200b", "\u0301", "e", "\u3000"),
    *("\u2028", "\x85", "\x00", "\ufeff", "\x1c", "\x1f", "\x0b", "\ud800", "\\", "\u00a0", "\u200d", "👨", "\u202e"),
    *("\x9b", "\x7f"),
]


@pytest.mark.parametrize(
    ("dirty", "clean"),
    [
        ("", ""),
        (" \n\t ", ""),
        ("a  b\t c\u00a0\u3000d", "a b c d"),
        (" a \r\n\r\n\n b\u2028c\x0bd ", "a\nb\nc\nd"),
        ("\x1b[31mred\x1b[0m \x1b]0;title\x07x\x1bc", "red x"),
        ("a\x00b\x07c\x7fd\x9be", "abcde"),
        ("zero\u200bwidth\ufeff soft\u00adhyphen", "zerowidth softhyphen"),
        ("\u202eevil\u202c", "evil"),
        ("lone \ud800 surrogate", "lone surrogate"),
        ("e\u0301 한 か\u3099", "é 한 が"),
        ("👨\u200d👩 joined", "👨\u200d👩 joined"),
    ],
)
def test_clean_text_has_single_blanks_plain_line_ends_and_composed_letters(dirty, clean):
    assert text.paragraphs(dirty) == clean
    assert text.line(dirty) == clean.replace("\n", " ")


def test_cleaning_is_idempotent_and_leaves_nothing_dirty():
    dice = random.Random(1)
    for _ in range(20_000):
        dirty = "".join(dice.choices(PIECES, k=dice.randint(0, 12)))
        clean = text.paragraphs(dirty)
        assert text.paragraphs(clean) == clean
        assert not set(clean) & set("\x00\x07\x1b\x7f\x85\x9b\r\t\u200b\u202e\ufeff\ud800")
        assert not any(gap in clean for gap in ("  ", "\n\n", " \n", "\n ")), ascii(dirty)
        clean.encode()


def test_clean_text_is_returned_as_it_is():
    clean = "重庆暴雨 abc\nzweite Zeile " * 500 + "x"
    assert text.paragraphs(clean) is clean


def test_no_letter_has_more_marks_than_a_script_needs():
    assert text.paragraphs("e" + "\u0301\u0316" * 500_000 + "x") == text.paragraphs("e" + "\u0301\u0316" * 15 + "x")
    assert text.paragraphs("\u2014" * 100 + "\u0e01\u0e33") == "\u2014" * 100 + "\u0e01\u0e33"


def test_usual_characters_need_no_cleaning_whatever_stands_beside_them():
    is_usual = re.compile(f"[{text._USUAL}]").match
    usual = [character for character in map(chr, range(0x110000)) if is_usual(character) and character != "\n"]
    assert all(character.isprintable() and not unicodedata.combining(character) for character in usual)
    assert not set(usual) & {character for character in usual if unicodedata.normalize("NFC", character) != character}
    composed = (unicodedata.decomposition(chr(code)).split() for code in range(0x110000))
    seconds = {chr(int(parts[1], 16)) for parts in composed if len(parts) == 2 and not parts[0].startswith("<")}
    assert not set(usual) & seconds  # none of them makes another character of the one before it


def cleaned_step_by_step(raw):
    """Cleans with every step, whether the text needs it or not: what `paragraphs` must return for any text."""
    is_tidy = raw.replace("\n", "").isprintable() and not re.search(r"  | \n|\n |\n\n", raw)
    if is_tidy and raw == raw.strip(" \n") and unicodedata.is_normalized("NFC", raw):
        return raw
    lines = text._unify_line_ends("\n", text._strip_escapes("", raw))
    blanks = text._collapse_blanks(" ", text._strip_invisible("", lines))
    return unicodedata.normalize(
        "NFC", text._mark_run.sub(text._fewer_marks, re.sub(r" ?\n[\n ]*", "\n", blanks).strip())
    )


@pytest.mark.parametrize("seed", range(8))
def test_steps_that_are_left_out_would_change_nothing(seed):
    dice = random.Random(seed)
    letters = "ab   \n\n\t\r\xa0\u3000\u200b\u200d\x1b[]0;m\x07\\\x1c\x85"
    letters += "\u2028\u0301\u0316e漢。…\ud800😀\x00\u2003\u0340ᄀ\u1161Å\u212b"
    for _ in range(1_000):
        some = dice.sample(letters, dice.randint(1, 8)) if dice.random() < 0.7 else letters
        raw = "".join(dice.choices(some, k=dice.randint(0, 60)))
        if dice.random() < 0.3:
            raw += dice.choice(("word ", "漢字\n", "x\n\n", " Ünï ")) * 60  # long enough for the shortest way
        if dice.random() < 0.2:
            place = dice.randint(0, len(raw))
            raw = raw[:place] + "".join(dice.choices("\u0301\u0316\u0489", k=dice.randint(25, 70))) + raw[place:]
        assert text.paragraphs(raw) == cleaned_step_by_step(raw), repr(raw)
