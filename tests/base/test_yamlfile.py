"""Any file is read or refused with one line, and none exhausts the process."""

import contextlib
import itertools
import os
import random
from typing import Annotated, Literal

import pytest
from pydantic import BaseModel, ConfigDict, Field

from crawler.base import yamlfile
from crawler.base.errors import InputError

MEGABYTE = 1_000_000


def refusal(text):
    with pytest.raises(InputError) as caught:
        yamlfile.parse(text, "f.yaml")
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 500
    return str(caught.value)


def nested(first, opening, closing, levels=9, width=9):
    """The billion laughs: each line holds the one before `width` times."""
    aliases = (", ".join([f"*a{level}"] * width) for level in range(levels))
    later = [f"a{level}: &a{level} {opening}{names}{closing}" for level, names in enumerate(aliases, 1)]
    return "\n".join([f"a0: &a0 {first}", *later])


SYNTAX = [
    ("a: [", ":2", "'did not find expected node content (while parsing a flow node)'"),
    ("x: 1\na: [b\nc: d", ":3", "\"did not find expected ',' or ']' (while parsing a flow sequence from line 2)\""),
    ("a: *nowhere", ":1", "'found undefined alias'"),
    ("a: 1\n---\nb: 2", ":2", "'but found another document (expected a single document in the stream from line 1)'"),
]
ENCODING = [
    (b"a: 1\nb: \xff\xfe", ":2", "'invalid leading UTF-8 octet'"),
    (b"\x7fELF\x02\x01\x01\x00\x00\x00", ":1", "'control characters are not allowed'"),
    (b"\x89PNG\r\n\x1a\n\x00", ":1", "'invalid leading UTF-8 octet'"),
]
SHAPE = [
    ("", "", "'an empty file'"),
    ("- a", ":1", "['a']"),
    ("\n\nword", ":3", "'word'"),
]
TAGS = [
    ("a: !!python/object:os.system x", ":1: a", "'the tag tag:yaml.org,2002:python/object:os.system'"),
    ("a: !!set {b}", ":1: a", "'the tag tag:yaml.org,2002:set'"),
    ("a: !mine b", ":1: a", "'the tag !mine'"),
]
TOO_LARGE = [
    (b"a: " + b"x" * MEGABYTE, "", "'more than 1000000 bytes'"),
    ("a: " + "长" * (MEGABYTE // 3), "", "'more than 1000000 bytes'"),
]


@pytest.mark.parametrize(
    ("text", "where", "got", "expected"),
    [
        *((*case, "valid YAML") for case in SYNTAX),
        *((*case, "YAML in UTF-8") for case in ENCODING),
        *((*case, "a mapping of keys to values") for case in SHAPE),
        *((*case, "a value without a tag") for case in TAGS),
        *((*case, "at most 1000000 bytes") for case in TOO_LARGE),
        ("[" * 400_000, ":1", "'more than 20 levels'", "at most 20 levels"),
        ("a: 1\nb: {c: 1, c: 2}", ":2: b.c", "'c'", "each key once"),
        ("a: 1\nno: 2", ":2", "'no'", 'text as key: put it in quotes, "no"'),
        ("a: {1: 2}", ":1: a", "'1'", 'text as key: put it in quotes, "1"; a decimal number has a point'),
        ("? [a]\n: b", ":1", "'a list or mapping as key'", "a word as key"),
        (
            "a:\n\t- b",
            ":2",
            "'found character that cannot start any token (while scanning for the next token)'",
            "valid YAML (indent with spaces, not with tabs)",
        ),
        (
            "search:\n  url: {base}/search?q={query}\n  body: {}",
            ":2",
            "'did not find expected key (while parsing a block mapping)'",
            "valid YAML (a value that begins with { stands in quotes)",
        ),
        (
            "a: b: c",
            ":1",
            "'mapping values are not allowed in this context'",
            "valid YAML (a value with a colon and a blank in it stands in quotes)",
        ),
        (
            "politeness: {delay: 0,5}",
            ":1: politeness",
            "'5'",
            'text as key: put it in quotes, "5"; a decimal number has a point',
        ),
    ],
    ids=map(str, itertools.count()),
)
def test_what_can_not_be_read_is_refused_with_its_line(text, where, got, expected):
    assert refusal(text) == f"f.yaml{where}: got {got}, expected {expected}"


@pytest.mark.parametrize(
    "text",
    [
        "a: &a [*a]",
        "a: &a {b: *a}",
        nested("[x]", "[", "]"),
        nested("{x: y}", "{<<: [", "]}"),
        "words:\n" + "- flood\n" * 999,
    ],
)
def test_no_document_unfolds_into_more_entries_than_the_limit(monkeypatch, text):
    monkeypatch.setattr(yamlfile, "MAX_ENTRIES", 1_000)
    assert refusal(text).endswith("got 'more entries', expected at most 1000 entries, aliases unfolded")


def test_a_document_with_as_many_entries_as_the_limit_is_read(monkeypatch):
    monkeypatch.setattr(yamlfile, "MAX_ENTRIES", 1_000)
    assert len(yamlfile.parse("words:\n" + "- flood\n" * 998, "f").value["words"]) == 998


@pytest.mark.parametrize("text", ["a: '\ud800'", 'a: "\\ud800"', "a: !!int b", "a: " + "9" * 5_000, "%TAG ! x", "\0"])
def test_surrogates_control_characters_and_false_tags_are_refused(text):
    refusal(text)


def test_bytes_at_random_are_read_or_refused():
    rng = random.Random(3)
    alphabet = [bytes([byte]) for byte in b"ab:-[]{}&*!|>'\"%@`#,? \n\t0\\~<=\xff\x00"] + ["长".encode(), b"a: b\n"]
    read = 0
    for _ in range(5_000):
        with contextlib.suppress(InputError):  # anything else fails the test
            yamlfile.parse(b"".join(rng.choices(alphabet, k=rng.randrange(30))), "f.yaml")
            read += 1
    assert 0 < read < 5_000


def test_values_are_plain_and_dates_stay_text():
    text = "a: 2026-11-01\nb: [1, 1.5, true, ~]\nc: =\nd: '119'\ne: 2026-99-99"
    expected = {"a": "2026-11-01", "b": [1, 1.5, True, None], "c": "=", "d": "119", "e": "2026-99-99"}
    assert yamlfile.parse(text, "f").value == expected


@pytest.mark.parametrize(
    "raw", [b"\xef\xbb\xbfa: \xe6\xb4\xaa", "a: 洪".encode("utf-16"), "a: 洪\r\n".encode(), "a: 洪"]
)
def test_byte_order_marks_and_line_ends_do_not_matter(raw):
    assert yamlfile.parse(raw, "f").value == {"a": "洪"}


def test_anchors_and_merges_are_unfolded():
    document = yamlfile.parse("a: &x {p: 1}\nb:\n  <<: *x\n  q: 2", "f")
    assert document.value["b"] == {"p": 1, "q": 2}
    assert document.line(("b", "q")) == 4
    assert document.line(("b", "p")) == 2  # the line of the merge


def test_a_full_megabyte_is_read():
    text = "words:\n" + f"- {'flood ' * 16}\n" * 10_000
    assert len(yamlfile.parse(text, "f").value["words"]) == 10_000


def test_lines_are_those_of_keys_and_entries():
    document = yamlfile.parse("# comment\na: 1\nb:\n  - x\n  - c:\n      d\n", "f")
    assert [document.line(path) for path in (("a",), ("b",), ("b", 0), ("b", 1), ("b", 1, "c"))] == [2, 3, 4, 5, 5]
    assert document.line(("b", 7, "missing")) == 3
    assert document.line(("missing",)) == 2


def test_errors_about_values_from_no_file_have_no_line():
    error = yamlfile.YamlDocument("stored plan", {"a": 1}).error(("a",), 1, "text")
    assert str(error) == "stored plan: a: got 1, expected text"


def test_paths_of_no_readable_file_are_refused(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    big = tmp_path / "big"
    big.write_bytes(b"a" * (MEGABYTE + 1))
    for path, expected in (
        (tmp_path / "none", "got 'no such file', expected a file that exists"),
        (tmp_path, "got 'a directory', expected a file"),
        (pipe, "got 'a device or a pipe', expected a file"),
        ("/dev/zero", "got 'a device or a pipe', expected a file"),
        (big, "got 'more than 1000000 bytes', expected at most 1000000 bytes"),
        (tmp_path / "none" / "deeper", "got 'no such file', expected a file that exists"),
        (big / "deeper", "got 'Not a directory', expected a readable file"),
        ("a\0b", "got 'embedded null byte', expected a readable file"),
    ):
        with pytest.raises(InputError) as caught:
            yamlfile.read(str(path))
        assert str(caught.value) == f"{path}: {expected}"


def test_a_file_is_read(tmp_path):
    (tmp_path / "f.yaml").write_text("a: 1")
    assert yamlfile.read(str(tmp_path / "f.yaml")).value == {"a": 1}


INNER_KEYS = "choice, flag, is, letters, number, ratio, required"


class Inner(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)
    required: str
    number: int = Field(1, ge=1, le=5)
    choice: Literal["x", "y"] = "x"
    flag: bool = False
    ratio: float = 0.5
    letters: str = Field("a", pattern="^[a-z]+$")
    aliased: int = Field(0, alias="is")


class Outer(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)
    one: Inner | None = None
    many: list[Inner] = []
    named: dict[str, Annotated[Inner, Field()]] = {}
    pair: tuple[str, ...] = Field((), strict=False, max_length=2)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("one: {required: a, number: 9}", "f:1: one.number: got 9, expected at most 5"),
        ("one: {required: a, number: 0}", "f:1: one.number: got 0, expected at least 1"),
        ("one: {required: a, number: x}", "f:1: one.number: got 'x', expected a whole number"),
        ("one: {required: a, choice: z}", "f:1: one.choice: got 'z', expected 'x' or 'y'"),
        ("one: {required: a, flag: 1}", "f:1: one.flag: got 1, expected true or false"),
        ("one: {required: a, ratio: x}", "f:1: one.ratio: got 'x', expected a number"),
        ("one: {required: a, letters: A1}", "f:1: one.letters: got 'A1', expected text that matches '^[a-z]+$'"),
        ("one: {required: on}", "f:1: one.required: got 'on', expected text: put it in quotes, \"on\""),
        ("one: {required: [a]}", "f:1: one.required: got ['a'], expected text"),
        ("one: {required: }", "f:1: one.required: got nothing, expected text"),
        (
            "one: 5",
            "f:1: one: got 5, expected a mapping, whose keys may be choice, flag, is, letters, number, ratio, required",
        ),
        ("many: 5", "f:1: many: got 5, expected a list"),
        ("pair: 5", "f:1: pair: got 5, expected a list"),
        ("pair: [a, b, c]", "f:1: pair: got ['a', 'b', 'c'], expected at most 2 items"),
        ("many:\n- required: a\n- {}", "f:3: many.1.required: got nothing, expected this key"),
        (
            "many:\n- required: a\n  numbr: 1",
            "f:3: many.0.numbr: got 'numbr', expected number (did you mean it?); keys here: " + INNER_KEYS,
        ),
        (
            "named:\n  k:\n    requird: a",
            "f:3: named.k.requird: got 'requird', expected required (did you mean it?); keys here: " + INNER_KEYS,
        ),
        (
            "named: {k: {required: a, iss: 1}}",
            "f:1: named.k.iss: got 'iss', expected is (did you mean it?); keys here: " + INNER_KEYS,
        ),
        ("zzz: 1", "f:1: zzz: got 'zzz', expected one of many, named, one, pair"),
        ("one: {required: a, number: 9}\nzzz: 1", "f:1: one.number: got 9, expected at most 5"),
    ],
)
def test_the_first_thing_that_does_not_fit_is_named(text, expected):
    with pytest.raises(InputError) as caught:
        yamlfile.validate(yamlfile.parse(text, "f"), Outer)
    assert str(caught.value) == expected


def test_all_that_does_not_fit_is_named_in_the_order_of_the_file():
    text = "many:\n- {requird: a, number: 9}\n- {}\nzzz: 1\npair: 5"
    with pytest.raises(InputError) as caught:
        yamlfile.validate(yamlfile.parse(text, "f"), Outer)
    errors = (caught.value, *caught.value.further)
    assert [(error.line, error.key) for error in errors] == [
        (2, "many.0.requird"),  # and not that many.0.required is missing
        (2, "many.0.number"),
        (4, "zzz"),
        (5, "pair"),
        (3, "many.1.required"),
    ]


def test_a_valid_document_becomes_the_model():
    document = yamlfile.parse("named: {k: {required: a}}\npair: [x]", "f")
    assert yamlfile.validate(document, Outer) == Outer(named={"k": Inner(required="a")}, pair=("x",))
