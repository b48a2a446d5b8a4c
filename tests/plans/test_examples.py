"""The plans that analysts copy work as they stand."""

from pathlib import Path

import pytest

from crawler import plans
from testbed.forum.content import expected_results

FOLDER = Path(__file__).parents[2] / "plans"
EXAMPLES = sorted(FOLDER.glob("*.yaml"))


@pytest.mark.parametrize("file", EXAMPLES, ids=lambda file: file.stem)
def test_every_example_is_a_plan(file):
    check = plans.check(plans.load(str(file), max_seeds=1_000))
    assert check.nav_seeds or check.start_pages
    assert not check.overlaps
    assert not check.unused


def test_no_two_examples_have_one_name():
    names = [plans.load(str(file), max_seeds=1_000).name for file in EXAMPLES]
    assert len(set(names)) == len(names) >= 4


def test_the_numbers_in_the_comments_are_right():
    counts = {file.stem: len(plans.load(str(file), max_seeds=1_000).combinations()) for file in EXAMPLES}
    searching = {"demo": 3 * 2 + 2 * 2 + 1, "template": 14, "watch-person": 6, "wiki-background": 3}
    assert counts == searching | {"from-addresses": 0}


@pytest.mark.parametrize("board", ["html", "ajax"])
def test_every_search_of_the_demo_finds_something(board):
    demo = plans.load(str(FOLDER / "demo.yaml"), max_seeds=1_000)
    for words in demo.combinations():
        assert expected_results(words, board)
