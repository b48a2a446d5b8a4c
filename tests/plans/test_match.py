import pytest

from crawler.plans.match import MAX_NESTING, Group, MatchError, join, parse

CLASSES = ("a", "b", "c", "or_else")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a", "a"),
        ("((a))", "a"),
        ("a and b", Group("and", ("a", "b"))),
        ("a or b and c", Group("or", ("a", Group("and", ("b", "c"))))),
        ("(a or b) and c", Group("and", (Group("or", ("a", "b")), "c"))),
        ("a AND b Or c", Group("or", (Group("and", ("a", "b")), "c"))),
        ("a and(b)or\nc", Group("or", (Group("and", ("a", "b")), "c"))),
        ("a and a and a", Group("and", ("a", "a", "a"))),
        ("or_else or a", Group("or", ("or_else", "a"))),
    ],
)
def test_and_binds_tighter_than_or(text, expected):
    assert parse(text, CLASSES) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "a class at character 1, where it ends"),
        ("   ", "a class at character 4, where it ends"),
        ("(", "a class at character 2, where it ends"),
        ("()", "a class at character 2, before ')'"),
        ("a and (b or c", "a closing parenthesis for the one at character 7"),
        ("(a", "a closing parenthesis for the one at character 1"),
        ("a)", "an opening parenthesis before the closing one at character 2"),
        ("a and", "a class at character 6, where it ends"),
        ("and a", "a class at character 1, before 'and'"),
        ("a and or b", "a class at character 7, before 'or'"),
        ("a AND and b", "a class at character 7, before 'and'"),
        ("a b", "and, or, or the end at character 3, before 'b'"),
        ("a (b)", "and, or, or the end at character 3, before '('"),
        ("(a b)", "and, or, or a closing parenthesis at character 4, before 'b'"),
        ("a & b", "and, or, or the end at character 3, before '&'"),
        ("a and person", "a class under keywords (a, b, c, or_else) at character 7, not 'person'"),
        ("not a", "a class under keywords (a, b, c, or_else) at character 1, not 'not'"),
        ("A", "a class under keywords (a, b, c, or_else) at character 1, not 'A'"),
        ("a, b", "and, or, or the end at character 2, before ','"),
    ],
)
def test_what_is_no_expression_names_the_place_and_what_is_missing(text, expected):
    with pytest.raises(MatchError) as caught:
        parse(text, CLASSES)
    assert str(caught.value) == expected


def test_nesting_has_an_end():
    deep = "(" * MAX_NESTING + "a" + ")" * MAX_NESTING
    assert parse(deep, CLASSES) == "a"
    with pytest.raises(MatchError, match="at most 20 parentheses"):
        parse(f"({deep})", CLASSES)


def test_a_class_alone_needs_no_group():
    assert join("and", ["a"]) == "a"
    assert join("and", ["a", "b"]) == Group("and", ("a", "b"))
