"""What a plan's logic yields, against a slow and obvious reference."""

from itertools import chain, combinations, product
from random import Random

import pytest

from crawler.plans import match
from crawler.plans.combinations import TooManyError, combine, count
from crawler.plans.plan_file import KeywordClass

PLENTY = 10_000


def words(*optional, required=(), choose=1):
    return KeywordClass(required=tuple(required), optional=optional, choose=choose)


def yielded(text, limit=PLENTY, **classes):
    return combine(match.parse(text, classes), classes, limit)


R, S = words("x", "y", required=("r", "s")), words(required=("r", "s"))
XY, NUMBERS = words("x", "y"), words("1", "2")


@pytest.mark.parametrize(
    ("match", "classes", "expected"),
    [
        pytest.param("a", {"a": XY}, [("x",), ("y",)], id="optional words one at a time"),
        pytest.param("a", {"a": R}, [("r", "s", "x"), ("r", "s", "y")], id="required words in each"),
        pytest.param("a", {"a": S}, [("r", "s")], id="only required words are one"),
        pytest.param("a", {"a": words("x", "y", "z", choose=2)}, [("x", "y"), ("x", "z"), ("y", "z")], id="choose"),
        pytest.param("b and a", {"a": XY, "b": NUMBERS}, [*product("12", "xy")], id="and multiplies in its order"),
        pytest.param("a or b", {"a": words("x"), "b": NUMBERS}, [("x",), ("1",), ("2",)], id="or unites"),
        pytest.param("a and b", {"a": XY, "b": XY}, [("x",), ("x", "y"), ("y",)], id="equal sets count once"),
        pytest.param("a", {"a": words("r", "x", "x", required="rr")}, [("r",), ("r", "x")], id="a word stands once"),
        pytest.param("a", {"a": words("Flood", "flood")}, [("Flood",), ("flood",)], id="letter case counts"),
        pytest.param("a and none", {"a": XY, "none": words()}, [], id="and with no words"),
        pytest.param("a or none", {"a": words("x"), "none": words()}, [("x",)], id="or with no words"),
        pytest.param("none", {"none": words()}, [], id="no words"),
    ],
)
def test_a_match_yields_the_combinations_that_its_logic_means(match, classes, expected):
    assert yielded(match, **classes) == tuple(expected)


def test_the_limit_is_the_last_number_allowed():
    assert len(yielded("a", 3, a=words("x", "y", "z"))) == 3
    with pytest.raises(TooManyError) as caught:
        yielded("a", 2, a=words("x", "y", "z"))
    assert caught.value.count == 3


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("many", 75_287_520),
        ("many and many and many", 75_287_520**3),
        ("two and many", 2 * 75_287_520),
        ("many or two", 75_287_522),
        ("(pairs or pairs) and (pairs or pairs)", (2 * 4_950) ** 2),
        (" or ".join(["half"] * 200), 200 * 12_870),
    ],
)
def test_too_many_are_counted_and_not_built(text, expected):
    hundred = [f"w{number}" for number in range(100)]
    classes = {
        "many": words(*hundred, choose=5),
        "pairs": words(*hundred, choose=2),
        "two": words("x", "y"),
        "half": words(*hundred[:16], choose=8),
    }
    with pytest.raises(TooManyError) as caught:
        yielded(text, **classes)
    assert caught.value.count == expected == count(match.parse(text, classes), classes)


def test_many_duplicates_collapse_on_the_way():
    found = yielded(" and ".join(["a"] * 60), a=words("x", "y"))  # 2 ** 60 before they collapse
    assert {frozenset(each) for each in found} == {frozenset("x"), frozenset("y"), frozenset("xy")}


def reference(expression, classes):
    """Every combination as a set, by the book."""
    if isinstance(expression, str):
        kind = classes[expression]
        if not kind.optional:
            return {frozenset(kind.required)} - {frozenset()}
        return {frozenset(kind.required + chosen) for chosen in combinations(dict.fromkeys(kind.optional), kind.choose)}
    parts = [reference(part, classes) for part in expression.parts]
    if expression.operator == "or":
        return set().union(*parts)
    return {frozenset(chain(*chosen)) for chosen in product(*parts)}


def random_expression(random, names, depth):
    if depth == 0 or random.random() < 0.3:
        return random.choice(names)
    parts = [random_expression(random, names, depth - 1) for _ in range(random.randint(2, 3))]
    return "(" + f" {random.choice(['and', 'or'])} ".join(parts) + ")"


@pytest.mark.parametrize("number", range(40))
def test_any_plan_yields_what_the_reference_yields(number):
    random = Random(number)
    vocabulary = [f"w{index}" for index in range(8)]  # few words, so that duplicates are common
    classes = {}
    for name in "abcd":
        optional = random.sample(vocabulary, random.randint(0, 4))
        required = random.sample(vocabulary, random.choice([0, 0, 1, 2]))
        classes[name] = words(*optional, required=required, choose=random.randint(1, max(1, len(optional))))
    expression = match.parse(random_expression(random, list(classes), 3), classes)
    found = combine(expression, classes, PLENTY)
    assert len({frozenset(each) for each in found}) == len(found)
    assert {frozenset(each) for each in found} == reference(expression, classes)
    assert all(len(set(each)) == len(each) for each in found)
    assert count(expression, classes) >= len(found)
