"""The names of months and units that the crawler reads are those of CLDR."""

from testbed import cldr_names


def test_the_file_is_what_cldr_says():
    assert cldr_names.FILE.read_text(encoding="utf-8") == cldr_names.cldr_names()
