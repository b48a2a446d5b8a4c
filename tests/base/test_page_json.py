"""JSON with halves of surrogate pairs, as applications write that cut texts short."""

from __future__ import annotations

import time

import orjson
import pytest

from crawler.base import page_json


@pytest.mark.parametrize(
    ("written", "value"),
    [
        (rb'{"a": "cut \ud83d"}', {"a": "cut \ufffd"}),
        (rb'["\uD83D\uD83D\ude00", "\ude00\ude00x"]', ["\ufffd😀", "\ufffd\ufffdx"]),
        (
            rb'["\\ud83d", "\\\ud83d", "\ud83d\\ude00", "\"\ud83d\""]',
            ["\\ud83d", "\\\ufffd", "\ufffd\\ude00", '"\ufffd"'],
        ),
        (rb'{"\udfff": "\u0041\n"}', {"\ufffd": "A\n"}),
    ],
)
def test_half_a_pair_is_replaced_and_nothing_else(written, value):
    assert page_json.loads(written) == value
    assert page_json.may_be_json(written)


@pytest.mark.parametrize("written", [b"", b"{", b"NaN", rb'["\ud83d"', b"[" * 2_000, rb'"\ud83"', b'"\\'])
def test_what_is_no_json_is_refused(written):
    with pytest.raises(orjson.JSONDecodeError):
        page_json.loads(written)


@pytest.mark.parametrize("written", [b"", b"{", b"NaN", b"<p>"])
def test_what_is_none_at_a_glance(written):
    assert not page_json.may_be_json(written)


def test_hostile_escapes_take_bounded_time():
    begun_s = time.process_time()
    assert len(page_json.loads(b'"' + rb"\ud83d" * 500_000 + b'"')) == 500_000
    assert time.process_time() - begun_s < 5


LONG = "12345678901234567890123"


@pytest.mark.parametrize(
    ("body", "value"),
    [
        (f'{{"id": {LONG}, "of": [-{LONG}]}}', {"id": LONG, "of": [f"-{LONG}"]}),
        (f"[0.{LONG}, {LONG}e1, {LONG}]", [float(f"0.{LONG}"), float(f"{LONG}0"), LONG]),
        (rf'[": {LONG},\"", 9223372036854775807]', [f': {LONG},"', 2**63 - 1]),
    ],
)
def test_a_long_integer_keeps_its_digits(body, value):
    assert page_json.loads(body.encode()) == value
