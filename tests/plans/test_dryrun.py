"""What a plan would cost."""

import pytest

from crawler import plans
from crawler.plans import Overlap
from crawler.plans.dryrun import OVERLAPS_SHOWN


def test_the_numbers_are_those_of_the_seeds(plan):
    made = plan(
        "{a: {optional: [x, y]}, b: {optional: [z]}}",
        "match: a or b",
        "schedule: every 2h",
        sites="[board, {use: board, name: other, base: 'https://other.example'}]",
    )
    check = plans.check(made)
    assert check.combinations == made.combinations()
    assert check.nav_seeds == sum(1 + seed.more for seed in made.nav_seeds(1)) == 30
    assert [(share.site, share.host, share.nav_seeds) for share in check.sites] == [
        ("board", "board.example", 15),
        ("other", "other.example", 15),
    ]
    assert (check.interval_s, check.match_text) == (7_200, ())


def test_pages_and_hours_are_bounds_at_the_sites_politeness(plan):
    check = plans.check(plan("{a: {optional: [x]}}", "pages: 10", "per_page: 50"))
    (share,) = check.sites
    assert share.pages_at_most == check.pages_at_most == 10 + 10 * 50
    assert share.hours_at_most == check.hours_at_most == pytest.approx(510 * 2 / 2 / 3_600)  # delay 2 s, 2 at once


def test_a_site_s_own_most_per_page_counts(plan):
    assert plans.check(plan("{a: {optional: [x]}}", "pages: 1", "per_page: 500")).pages_at_most == 51


def test_pages_behind_cursors_count(plan):
    check = plans.check(plan("{a: {optional: [x]}}", "pages: 4", "per_page: 10", sites="[stream]"))
    assert (check.nav_seeds, check.pages_at_most) == (1, 4 + 40)


def test_hosts_work_side_by_side_and_sites_on_one_host_in_turn(plan):
    keywords, more = "{a: {optional: [x]}}", ("pages: 1", "per_page: 9")
    beside = plans.check(plan(keywords, *more, sites="[board, {use: board, name: b, base: 'https://b.example'}]"))
    shared = plans.check(plan(keywords, *more, sites="[board, {use: board, name: b, base: 'https://board.example/b'}]"))
    assert beside.hours_at_most == beside.sites[0].hours_at_most
    assert shared.hours_at_most == pytest.approx(2 * beside.hours_at_most)


def test_a_site_that_repeats_another_s_requests_has_no_seeds(plan):
    check = plans.check(
        plan("{a: {optional: [x]}}", sites="[board, {use: board, name: b, base: 'https://board.example'}]")
    )
    assert [share.nav_seeds for share in check.sites] == [5, 0]


@pytest.mark.parametrize(
    ("keywords", "match", "expected"),
    [
        ("{a: {optional: [A]}, b: {optional: [B]}}", "a or a and b", [(("A",), ("A", "B"))]),
        ("{a: {required: [B, A]}, b: {required: [A, C, B]}}", "a or b", [(("B", "A"), ("A", "C", "B"))]),
        ("{a: {optional: [Flood, flood]}}", "a", [(("Flood",), ("flood",))]),
        ("{a: {optional: [A, B, C], choose: 2}}", "a", []),
    ],
    ids=["fewer words find more", "in any order", "in any letter case", "different words don't"],
)
def test_combinations_that_find_the_same_overlap(plan, keywords, match, expected):
    assert plans.check(plan(keywords, f"match: {match}")).overlaps == tuple(Overlap(*pair) for pair in expected)


def test_overlaps_have_an_end(plan):
    many = "[" + ", ".join(f"w{number}" for number in range(60)) + "]"
    check = plans.check(plan(f"{{a: {{optional: {many}}}, b: {{optional: {many}, choose: 2}}}}", "match: a or b"))
    assert len(check.overlaps) == OVERLAPS_SHOWN
    assert check.more_overlaps


def test_words_that_match_leaves_out_are_named(plan):
    check = plans.check(plan("{a: {optional: [x]}, b: {optional: [y]}, none: {}}", "match: a"))
    assert check.unused == ("b",)
