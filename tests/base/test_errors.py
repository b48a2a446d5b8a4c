import pytest

from crawler.base.errors import InputError, existing


def test_what_exists_is_the_nearest_name_or_else_some():
    assert existing("Demo_form", ["web", "demo_forum"], "known") == "did you mean demo_forum?"
    assert existing("x", ["b", "a"], "known") == "known: a, b"
    assert existing("x", [], "known") == "known: none"
    many = existing("x", [f"plan-{number:03}" for number in range(30)], "plans")
    assert many.startswith("plans: plan-000, ")
    assert many.endswith(", plan-019 and 10 more")
    assert existing("x" * 100_000, ["y" * 100_000], "known")


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (("plan.yaml", 3, "pages", "x", "a number"), "plan.yaml:3: pages: got 'x', expected a number"),
        (("plan.yaml", 3, "", "x", "valid YAML"), "plan.yaml:3: got 'x', expected valid YAML"),
        (("plan.yaml", 0, "", "no such file", "a file"), "plan.yaml: got 'no such file', expected a file"),
        (("plan.yaml", 1, "name", None, "this key"), "plan.yaml:1: name: got nothing, expected this key"),
        (("plan.yaml", 1, "a", "x\ny", "one line"), r"plan.yaml:1: a: got 'x\ny', expected one line"),
    ],
)
def test_an_input_error_says_file_line_key_value_and_expectation(arguments, expected):
    error = InputError(*arguments)
    assert str(error) == expected
    assert (error.file, error.line, error.key, error.value, error.expected) == arguments
