"""Cells of CSV that spreadsheets open without harm."""

from __future__ import annotations

import pytest

from crawler.cli.csv_text import cell


@pytest.mark.parametrize("begin", [*"=+-@\t\r\n", *"＝＋－＠", *"﹦﹢﹣﹫", " =", "  ＝"])
def test_what_a_spreadsheet_may_work_out_is_made_a_text(begin):
    """As it is typed, in the wide forms of East Asian fonts and in the small ones, and behind blanks."""
    assert cell(f"{begin}1+1") == f"'{begin}1+1"


@pytest.mark.parametrize(
    ("value", "expected"), [("a=1", "a=1"), ("", ""), (-5, -5), (None, None), (["-a", "b"], "'-a b")]
)
def test_all_else_is_as_it_is(value, expected):
    assert cell(value) == expected
