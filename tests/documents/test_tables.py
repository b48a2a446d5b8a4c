"""The tables of pages that repeat what the code says."""

from __future__ import annotations

import pytest
from documents.tables import TABLES, with_table
from documents.walk import ROOT


@pytest.mark.parametrize("page", TABLES)
def test_a_table_says_what_the_code_says(page):
    assert (ROOT / "docs" / page).read_text("utf-8") == with_table(page), "run: make reference"
