import math

import pytest

from crawler import config
from crawler.errors import ConfigError


@pytest.mark.parametrize("value", [5, 5.0, "5", " 5 ", "5.0", "5e0"])
def test_numbers_from_the_command_line_are_text(value):
    assert config.number({"N": value}, "N", 0, 10) == 5.0
    assert config.whole({"N": value}, "N", 0, 10) == 5
    assert isinstance(config.whole({"N": value}, "N", 0, 10), int)


def test_both_ends_of_a_range_belong_to_it():
    assert [config.number({"N": value}, "N", 0, 10) for value in (0, 10)] == [0, 10]


@pytest.mark.parametrize("value", [None, "", "x", -0.1, 10.1, "10,5", [5], math.nan, "nan", math.inf, "-inf", b"x"])
def test_what_is_no_number_in_range_is_refused_by_name(value):
    with pytest.raises(ConfigError) as caught:
        config.number({"N": value}, "N", 0, 10)
    assert str(caught.value) == f"setting N: got {value!r}, expected a number from 0 to 10"
    assert caught.value.key == "N"


def test_a_fraction_is_not_whole():
    with pytest.raises(ConfigError, match=r"^setting N: got '5\.5', expected a whole number from 0 to 10$"):
        config.whole({"N": "5.5"}, "N", 0, 10)


def test_a_setting_that_is_missing_is_refused():
    with pytest.raises(ConfigError, match="setting N: got None"):
        config.whole({}, "N", 0, 10)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        *((word, True) for word in (True, 1, "1", "true", "YES", " On ")),
        *((word, False) for word in (False, 0, "0", "False", "no", "OFF", "", None, "None")),
    ],
)
def test_flags_are_read_in_any_case(value, expected):
    assert config.flag({"F": value}, "F") is expected


@pytest.mark.parametrize("value", ["2", "maybe", 2, "1 0", []])
def test_what_is_no_flag_is_refused(value):
    with pytest.raises(ConfigError, match=r"setting F: got .*, expected 1 or 0"):
        config.flag({"F": value}, "F")


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("files", ("files",)),
        (" files , kafka,,", ("files", "kafka")),
        (["files", " kafka "], ("files", "kafka")),
        (("mongo",), ("mongo",)),
        ("", ()),
        (None, ()),
        ([], ()),
    ],
)
def test_lists_are_lists_or_words_with_commas(value, expected):
    assert config.words({"L": value}, "L", ("files", "kafka", "mongo")) == expected


def test_a_word_that_is_not_allowed_is_refused():
    with pytest.raises(ConfigError, match=r"^setting L: got 'kafak', expected any of files, kafka$"):
        config.words({"L": "files,kafak"}, "L", ("files", "kafka"))


@pytest.mark.parametrize("value", [5, 1.5, {"files": 1}, b"files"])
def test_what_is_no_list_is_refused(value):
    with pytest.raises(ConfigError, match=r"setting L: got .*, expected a list, or words with commas between them"):
        config.words({"L": value}, "L")
