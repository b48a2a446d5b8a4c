"""Tables as a terminal of a given width gets them, and as a pipe does."""

from __future__ import annotations

import io
import re
import sys

import pytest

from crawler.cli.text_tables import print_pairs, print_table

NAMES = ("frontier", "state", "pages", "url")
URL = "https://forum.example/search?q=" + "%E6%B4%AA%E6%B0%B4" * 10 + "&page=2"
ROW = ("content", "failed", 1_200, URL)


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture
def printed_on(monkeypatch):
    """Returns a function that gives the lines that a function prints on a terminal, without their colours."""

    def run(columns, show):
        with monkeypatch.context() as patch:
            patch.setattr(sys, "stdout", terminal := Terminal())
            patch.setenv("COLUMNS", str(columns))
            show()
        return re.sub(r"\x1b\[[0-9;]*m", "", terminal.getvalue()).splitlines()

    return run


def test_a_pipe_gets_each_row_as_one_line(capsys):
    print_table(NAMES, [ROW, ("nav", None, 7, "https://forum.example/")])
    assert capsys.readouterr().out.splitlines() == [
        "frontier  state   pages  url",
        f"content   failed  1,200  {URL}",
        "nav                   7  https://forum.example/",
    ]


def test_a_terminal_gets_the_url_whole_as_the_last_column(printed_on):
    lines = printed_on(60, lambda: print_table(NAMES, [ROW]))
    assert lines == ["frontier  state   pages  url", f"content   failed  1,200  {URL}"]


def test_a_terminal_too_narrow_for_the_columns_gets_lists(printed_on):
    assert printed_on(30, lambda: print_table(NAMES, [ROW])) == [f"content  state failed, pages 1,200, url {URL}"]
    numbers = printed_on(20, lambda: print_table(("", "offered", "failed"), [("flood board", 6, 12_345)]))
    assert numbers == ["flood board  offered 6, failed 12,345"]


def test_wide_characters_take_two_columns(capsys):
    print_table(("word", "number"), [("洪水", 1), ("flood", 2)])
    assert capsys.readouterr().out == "word   number\n洪水        1\nflood       2\n"


def test_a_value_is_broken_between_words_and_on_terminals_only(printed_on, capsys):
    text = f"see {URL} for\nmore"
    pairs = [("fields", text), ("url", URL)]
    assert printed_on(40, lambda: print_pairs(pairs)) == [
        "fields  see",
        f"        {URL}",
        "        for",
        "        more",
        f"url     {URL}",
    ]
    print_pairs(pairs)
    assert capsys.readouterr().out.splitlines() == [f"fields  see {URL} for", "        more", f"url     {URL}"]


def test_a_table_within_a_value_keeps_its_columns_apart(capsys):
    print_pairs([("content", "Place\tPeople\na\t3")])
    assert capsys.readouterr().out.splitlines() == ["content  Place   People", "         a   3"]
