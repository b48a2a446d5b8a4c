"""Every word that the ledger counts by is there once, with its meaning, and Lua says no other."""

from __future__ import annotations

import copy
import re
from pathlib import Path

import orjson
import pytest

from crawler.base import reasons
from crawler.base.reasons import HandBack, Note, Reason, own_reason, status_reason
from crawler.frontier.ledger import COUNTS

LUA = "".join(path.read_text("utf-8") for path in (Path(__file__).parents[2] / "crawler").rglob("*.lua"))


@pytest.mark.parametrize("kind", [Reason, HandBack, Note])
def test_words_are_unique_and_explained(kind):
    words = [value for value in vars(reasons).values() if type(value) is kind]
    assert len(set(words)) == len(words) > 10
    for word in words:
        assert re.fullmatch("[a-z0-9]+(-[a-z0-9]+)*", word)
        assert len(word) <= reasons.MAX_REASON_CHARACTERS
        assert word.meaning


def test_the_words_that_lua_says_are_among_them():
    said = re.findall(r"make_failed\(.*'([a-z-]+)'\)", LUA) + re.findall(r"reasons, fingerprint\) or '([a-z]+)'", LUA)
    assert {"cancelled", "crashed-worker", "damaged", "unknown"} <= {*said} <= {*reasons.REASONS}
    counted = {*re.findall(r"book(?:_all)?\([^,]+, '([a-z-]+)'", LUA)} - {*COUNTS}
    assert {"retried", "reclaimed", "visits", "missed"} <= counted <= {*reasons.NOTES}


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("Not about  dogs!", "not-about-dogs"),
        ("x" * 50, "x" * 40),
        ("timeout", reasons.TIMEOUT),
        ("!", reasons.NO_PAGE),
    ],
)
def test_a_users_words_become_a_reason(text, word):
    assert own_reason(text, reasons.NO_PAGE) == word


def test_a_reason_is_written_as_its_word():
    reason = status_reason(503)
    assert orjson.dumps([reason, copy.deepcopy(reason)]) == b'["http-503","http-503"]'
    assert copy.deepcopy(reason).meaning == reason.meaning == "its host answers with status 503: its host is in trouble"
