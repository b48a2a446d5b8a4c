"""What `make truth` counts as right and wrong, and that it sees what is wrong."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from crawler.sites import load
from testbed.applications import Remark, TruePage
from testbed.truth.compare import compare, words
from testbed.truth.marks import short_with_file, short_without_selectors
from testbed.truth.run import SITES, write_sites

WRITTEN = datetime(2024, 1, 2, 3, 4, 5, tzinfo=UTC)
COMMENT = {"author": "Li", "published": "2024-01-02T05:00:00Z", "text": "Thank\nyou", "parent": None}
PAGE = TruePage(
    "http://h/%E6%B4%AA?p=1",
    "Flood",
    "The flood came",
    WRITTEN,
    author="Yara",
    comments=(Remark("Li", WRITTEN.replace(hour=5, minute=0, second=0), "Thank you"),),
    other_urls=("http://h/last",),
)
ITEM = {
    "url": "http://h/洪?p=1",
    "title": "Flood",
    "author": "Yara",
    "published": "2024-01-02T03:04:05Z",
    "content": "The flood came",
    "comments": [COMMENT],
    "sureness": {},
}


def short(*items, page=PAGE):
    """Returns what items of one page fall short of."""
    return "; ".join(short_with_file(compare(items, [page])))


def test_words_are_letters_and_digits_and_each_chinese_sign_is_one():
    assert words("Die Flut, 3 Häuser") == {"Die": 1, "Flut": 1, "3": 1, "Häuser": 1}
    assert words("洪水洪水2024年bulletin") == {"洪": 2, "水": 2, "2024": 1, "年": 1, "bulletin": 1}


def test_what_is_all_true_falls_short_of_nothing():
    assert short(ITEM) == ""
    assert short_without_selectors(compare([ITEM], [PAGE])) == []


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"url": "http://h/other"}, "1 pages not found; 0 pages twice, 1 items of no page (http://h/other)"),
        ({"title": "Flood!"}, "title exact on 0 of 1 pages, wrong on 1"),
        ({"title": ""}, "title exact on 0 of 1 pages, wrong on 0"),
        ({"published": "2024-01-02T03:04:00Z"}, "time exact on 0 of 1 pages, wrong on 1"),
        ({"published": None}, "time exact on 0 of 1 pages, wrong on 0"),
        ({"author": "Yara M"}, "author exact on 0 of 1 pages, wrong on 1"),
        ({"content": "The flood"}, "text F1 0.800 in the median"),
        ({"comments": []}, "comments exact on 0 of 1 pages, wrong on 0"),
        ({"comments": [COMMENT, COMMENT]}, "comments exact on 0 of 1 pages, wrong on 1"),
        ({"comments": [COMMENT | {"parent": 0}]}, "comments exact on 0 of 1 pages, wrong on 1"),
    ],
)
def test_each_kind_of_fault_is_seen(changed, said):
    assert said in short(ITEM | changed)


def test_a_page_under_two_addresses_is_one_page():
    assert short(ITEM | {"url": "http://h/last"}) == ""
    assert "1 pages twice" in short(ITEM, ITEM | {"url": "http://h/last"})


def test_an_author_whom_the_page_does_not_name_is_wrong():
    assert "author exact on 0 of 0 pages, wrong on 1" in short(ITEM, page=PAGE._replace(author=""))


def test_without_selectors_little_may_be_wrong():
    bare = compare([ITEM | {"published": "2024-01-02T00:00:00Z", "author": "Li", "title": "x", "content": "y"}], [PAGE])
    said = "; ".join(short_without_selectors(bare))
    for part in ("title exact on 0%", "time wrong on 1", "time there on 0%", "author wrong on 100%", "text F1 0.000"):
        assert part in said


@pytest.mark.parametrize("file", sorted(SITES.glob("*.yaml")), ids=lambda file: file.stem)
def test_the_site_files_are_right_with_selectors_and_without(file, tmp_path, monkeypatch):
    write_sites(tmp_path, file.stem, file.read_text(), "http://127.0.0.1:1")
    names = {site.stem for site in (tmp_path / "sites").iterdir()}
    assert names == {file.stem, f"{file.stem}-bare"}
    told, bare = (load(name, str(tmp_path / "sites")) for name in sorted(names))
    assert told.content
    assert not bare.content
