"""How the words of the ledger are explained."""

from __future__ import annotations

from crawler.base.reasons import NOTES, PARTIAL_CONTENT, REASONS
from crawler.cli.ledger_words import legend, meaning


def test_a_status_and_a_word_of_a_users_own():
    assert meaning("http-404") == "its host answers with status 404: there is no such page for us"
    assert meaning("http-503") == "its host answers with status 503: its host is in trouble"
    assert meaning("http-206") == PARTIAL_CONTENT.meaning
    assert meaning("not-about-dogs") == ""


def test_the_legend_has_every_word_within_its_width():
    lines = legend(60).splitlines()
    assert max(map(len, lines)) <= 60
    assert {*REASONS, *NOTES} <= {line.split()[0] for line in lines if line.startswith("  ") and line.split()}
