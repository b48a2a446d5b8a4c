"""A reading is held against the conditions of feedparser's tests, which are never run."""

from __future__ import annotations

import pytest

from testbed.truth.feeds import feedparser_folders

FEED = (
    "<!--\nDescription: made up\nExpect:      {}\n-->\n<rss><channel><title>own</title><item>"
    "<title>a &lt;b&gt;c&lt;/b&gt;</title><link>/1</link>"
    "<pubDate>Thu, 05 Jan 2017 13:34:51 +0100</pubDate></item></channel></rss>"
)


@pytest.mark.parametrize(
    ("condition", "verdict"),
    [
        ("not bozo and entries[0]['title'] == 'a <b>c</b>'", "right"),
        ("not bozo and entries[0].link == 'http://127.0.0.1:8097/1'", "right"),
        ("entries[0]['published_parsed'] == (2017, 1, 5, 12, 34, 51, 3, 5, 0)", "right"),
        ("encoding == 'utf-8'", "right"),
        ("not entries[0].has_key('id')", "right"),
        ("entries[0]['title'] == 'c'", "wrong"),
        ("entries[1]['title'] == 'a c'", "wrong"),
        ("not bozo and feed['title'] == 'own'", "the feed's own fields"),
        ("__import__('os').abort()", "whether it is well-formed, and other forms of conditions"),
    ],
)
def test_a_file_is_read_as_its_comment_says_or_not(tmp_path, condition, verdict):
    (tmp_path / "rss").mkdir()
    (tmp_path / "rss" / "made_up.xml").write_text(FEED.format(condition))
    folder = feedparser_folders(tmp_path)["rss"]
    assert (folder.right, len(folder.wrong), list(folder.not_ours)) == {
        "right": (1, 0, []),
        "wrong": (0, 1, []),
    }.get(verdict, (0, 0, [verdict]))
