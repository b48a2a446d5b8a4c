"""Patterns that say nothing, or leave nothing, are named; all are tried on the plan's start pages."""

from crawler import plans
from crawler.plans.pattern_trial import PatternTrial, trials, useless_patterns

PLAN = """
name: city
start: [https://a.test/, https://a.test/news/1]
follow: {allow: [/news/, .], deny: ['^/print$'], list: ['/$|x', 'https?:']}
scope: {deny: [news]}
"""


def test_each_pattern_is_tried_and_those_that_match_all_or_none_are_named():
    plan = plans.parse(PLAN, "city.yaml", max_seeds=1)
    assert list(useless_patterns(plan)) == [
        "follow.allow: . matches every address, so the key says nothing",
        "follow.deny: ^/print$ matches no address: they begin with http:// or https://",
        "follow.list: https?: matches every address, so no page makes an item",
    ]
    assert [(trial.key, trial.matched) for trial in trials(plan)] == [
        ("follow.allow", 1),
        ("follow.allow", 2),
        ("follow.deny", 0),
        ("follow.list", 1),
        ("follow.list", 2),
        ("scope.deny", 1),
    ]
    assert plans.check(plan).patterns[0] == PatternTrial("follow.allow", "/news/", 1, 2)


def test_a_plan_without_start_pages_has_none_to_try():
    words = "{name: city, sites: [demo_forum], keywords: {a: {required: [x]}}, scope: {deny: [x]}}"
    assert trials(plans.parse(words, "city.yaml", max_seeds=10)) == []
