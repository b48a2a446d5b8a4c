"""Dates in longer texts become a pattern and a format, where the texts tell which; else nothing is said."""

from __future__ import annotations

import re

import pytest

from crawler.discovery.cut_dates import PATTERNS, rule_of


@pytest.mark.parametrize(
    ("texts", "form"),
    [
        (["See timeline at 02/03/24 12:05:17", "See timeline at 02/21/24 12:05:17"], "%m/%d/%y %H:%M:%S"),
        (["See timeline at 03/02/2024", "See timeline at 21/02/2024"], "%d/%m/%Y"),
        (["Asked 10/12/2026 - 12:00", "Asked 10/13/2026 - 9:30"], "%m/%d/%Y - %H:%M"),
        (["Asked 10/12/2026 3:05 PM", "Asked 10/13/2026 9:30 AM"], "%m/%d/%Y %I:%M %p"),
        (["Asked 10/12/2026, 3:05PM", "Asked 10/13/2026, 9:30AM"], "%m/%d/%Y, %I:%M%p"),
        (["Asked 10/12/2026 at 12:00:01", "Asked 10/13/2026 at 9:30:00"], "%m/%d/%Y at %H:%M:%S"),
    ],
)
def test_what_is_cut_out_can_be_read(texts, form):
    rule = rule_of(texts, "en")
    assert rule is not None
    assert rule.get("format") == form


def test_no_clock_is_left_behind():
    rule = rule_of(["seq 1, 2026-11-03T09:15:00+08:00, end 7", "seq 2, 2026-11-04T09:15:00+08:00, end 8"], "")
    assert rule == {} or re.search(rule["pattern"], "2026-11-03T09:15:00+08:00, end 7")[0].endswith("+08:00")


@pytest.mark.parametrize("date", ["3 November 2026 3:05 PM", "2026-11-03 3:05 pm", "11/13/2026 3:05 PM"])
def test_the_half_of_the_day_is_cut_out_with_its_clock(date):
    assert any(found[0] == date for form in PATTERNS if (found := re.search(form, f"seq 1 by Ann, {date}, end")))


@pytest.mark.parametrize(
    ("texts", "form"),
    [
        (["01/02/2026 3:05 PM", "01/13/2026 9:30 AM"], "%m/%d/%Y %I:%M %p"),
        (["01-02-26", "13-02-26"], "%d-%m-%y"),
        (["01/02/2026,  13:05:00", "01/13/2026, 9:30:00"], "%m/%d/%Y, %H:%M:%S"),
    ],
)
def test_dates_in_figures_alone_have_the_format_that_fits_them_all(texts, form):
    assert rule_of(texts, "") == {"format": form}


def test_a_text_that_is_read_as_it_is_needs_no_rule():
    assert rule_of(["2026-11-03 09:15:00Z", "asked 2026-11-04 09:15"], "") == {}


@pytest.mark.parametrize("texts", [["at 02/03/24", "at 04/05/24"], ["at 2026-11-03", "at noon"], ["", ""]])
def test_what_could_be_two_days_is_none(texts):
    assert rule_of(texts, "") is None
