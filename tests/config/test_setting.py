"""The types of settings, and where a value comes from."""

from __future__ import annotations

import math
import re

import pytest
from scrapy.settings import Settings

from crawler.base.errors import ConfigError, HeadroomError
from crawler.config.setting import Address, Choice, Flag, Line, Location, Number, Options, Whole, Words

NUMBER = Number("N", 3, "", low=0, high=10)
WHOLE = Whole("N", 3, "", low=0, high=10)
FLAG = Flag("F", default=False, why="")
WORDS = Words("L", (), "")


@pytest.mark.parametrize("value", [5, 5.0, "5", " 5 ", "5.0", "5e0"])
def test_numbers_from_the_command_line_are_text(value):
    assert NUMBER.of({"N": value}) == 5.0
    assert WHOLE.of({"N": value}) == 5
    assert isinstance(WHOLE.of({"N": value}), int)


@pytest.mark.parametrize("value", ["", "x", -0.1, 10.1, "10,5", [5], math.nan, "nan", math.inf, "-inf", b"x"])
def test_what_is_no_number_in_range_is_refused_by_name(value):
    with pytest.raises(ConfigError) as caught:
        NUMBER.of({"N": value})
    assert str(caught.value) == f"setting N: got {value!r}, expected a number from 0 to 10"
    assert caught.value.key == "N"


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        *((word, True) for word in (True, 1, "1", "true", "YES", " On ")),
        *((word, False) for word in (False, 0, "0", "False", "no", "OFF", "", "None")),
    ],
)
def test_flags_are_read_in_any_case(value, expected):
    assert FLAG.of({"F": value}) is expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("files", ("files",)),
        (" files , kafka,,", ("files", "kafka")),
        (["files", " kafka "], ("files", "kafka")),
        (("mongo",), ("mongo",)),
        ("", ()),
        ([], ()),
    ],
)
def test_lists_are_lists_or_words_with_commas(value, expected):
    assert WORDS.of({"L": value}) == expected


@pytest.mark.parametrize(
    ("setting", "value", "expected"),
    [
        *((WHOLE, value, "a whole number from 0 to 10") for value in ("5.5", math.nan, math.inf, "1e400")),
        *((FLAG, value, "1 or 0") for value in ("2", "maybe", 2, "1 0", [])),
        *((WORDS, value, "a list, or words with commas between them") for value in (5, 1.5, {"files": 1}, b"files")),
        (Words("L", ("a",), "", least=1, each="host:port"), " , ", "host:port, several with commas"),
        (Line("T", "", "", pattern="[a-z]+", form="letters"), "a b", "letters"),
        (Choice("C", "", "", choices=("", "SSL")), "ssl", "nothing or SSL"),
        (Location("P", "", ""), 5, "a folder"),
        (Options("O", {}, "", form="options"), "[1]", "options, as a dict or as JSON"),
        (Options("O", {}, "", form="options"), "{", "options, as a dict or as JSON"),
    ],
)
def test_a_wrong_value_is_refused_with_what_was_expected(setting, value, expected):
    with pytest.raises(ConfigError) as caught:
        setting.of({setting.name: value})
    assert str(caught.value) == f"setting {setting.name}: got {value!r}, expected {expected}"


def test_a_secret_is_not_shown_when_it_is_refused():
    for setting in (
        Address("A", "", "", schemes=("redis",), secret=True),
        Options("A", {}, "", form="options", secret=True),
        Line("A", "", "", pattern="x", secret=True),
    ):
        with pytest.raises(ConfigError) as caught:
            setting.of({"A": "http://user:hunter22@h/0?password=hunter22"})
        assert "hunter22" not in str(caught.value)


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("127.0.0.1:6379/0", "127.0.0.1:6379/0"),
        ("redis.example.org:6379", "redis.example.org:6379"),
        ("localhost", "localhost"),
        ("hunter22", "***"),
        ("ann:hunter22@h:6379", "***"),
    ],
)
def test_an_address_without_its_scheme_is_shown_unless_it_may_be_a_password(value, shown):
    with pytest.raises(ConfigError, match=f"got '?{re.escape(shown)}'?, expected"):
        Address("A", "", "", schemes=("redis",), secret=True).of({"A": value})


@pytest.fixture
def scrapy_cfg(tmp_path, monkeypatch):
    """A project's folder with a scrapy.cfg, below which the process stands; returns a function that writes it."""
    (tmp_path / "deep").mkdir()
    monkeypatch.chdir(tmp_path / "deep")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "user"))

    def write(text, folder=tmp_path):
        folder.mkdir(exist_ok=True)
        (folder / "scrapy.cfg").write_text(text, encoding="utf-8")
        return folder / "scrapy.cfg"

    return write


def test_the_command_line_wins_over_the_project_the_environment_the_file_and_the_default(monkeypatch, scrapy_cfg):
    settings = Settings()
    assert NUMBER.of(settings) == 3
    scrapy_cfg("[headroom]\nN = 4\n")
    assert NUMBER.of(settings) == 4
    monkeypatch.setenv("N", "5")
    assert NUMBER.of(settings) == 5
    settings.set("N", 6, "project")
    assert NUMBER.of(settings) == 6
    settings.set("N", 7, "spider")
    assert NUMBER.of(settings) == 7
    settings.set("N", "8", "cmdline")
    assert NUMBER.of(settings) == 8


def test_a_credential_goes_between_the_environment_and_scrapy_cfg(monkeypatch, scrapy_cfg, tmp_path):
    scrapy_cfg("[headroom]\nN = 4\n")
    monkeypatch.setenv("CREDENTIALS_DIRECTORY", str(tmp_path / "none"))
    assert NUMBER.of({}) == 4
    monkeypatch.setenv("CREDENTIALS_DIRECTORY", str(tmp_path))
    (tmp_path / "N").write_text("5\n")
    assert NUMBER.of({}) == 5
    monkeypatch.setenv("N", "6")
    assert NUMBER.of({}) == 6


def test_a_credential_that_is_wrong_or_can_t_be_read_is_told_by_its_file(monkeypatch, tmp_path):
    monkeypatch.setenv("CREDENTIALS_DIRECTORY", str(tmp_path))
    (tmp_path / "N").write_text("much\n")
    with pytest.raises(ConfigError, match=rf"^setting N in {tmp_path}/N: got 'much', expected a number from 0 to 10$"):
        NUMBER.of({})
    (tmp_path / "N").write_text("\n")
    with pytest.raises(
        HeadroomError, match=rf"^{tmp_path}/N: is empty; write the value of N into it, or take it away$"
    ):
        NUMBER.of({})
    (tmp_path / "N").write_bytes(b"\xff")
    with pytest.raises(HeadroomError, match=rf"^{tmp_path}/N: isn't UTF-8$"):
        NUMBER.of({})
    (tmp_path / "N").unlink()
    (tmp_path / "N").mkdir()
    with pytest.raises(HeadroomError, match=rf"^{tmp_path}/N: can't be read: Is a directory$"):
        NUMBER.of({})


def test_an_empty_variable_counts_as_none(monkeypatch):
    monkeypatch.setenv("N", "")
    assert NUMBER.of({}) == 3


def test_a_name_of_scrapys_is_read_from_no_environment_and_no_file(monkeypatch, scrapy_cfg):
    monkeypatch.setenv("DOWNLOAD_TIMEOUT", "5")
    scrapy_cfg("[headroom]\nDOWNLOAD_TIMEOUT = 6\n")
    setting = Number("DOWNLOAD_TIMEOUT", 60, "", low=0, high=100, owner="Scrapy")
    assert setting.of(Settings()) == 60  # nor is Scrapy's own default one that somebody chose
    assert setting.of(Settings({"DOWNLOAD_TIMEOUT": 7})) == 7


def test_an_error_says_where_the_wrong_value_stands(monkeypatch, scrapy_cfg):
    file = scrapy_cfg("[headroom]\nN = much\n")
    with pytest.raises(ConfigError, match=rf"^setting N in {file}: got 'much', expected a number from 0 to 10$"):
        NUMBER.of({})
    monkeypatch.setenv("N", "more")
    with pytest.raises(ConfigError, match=r"^setting N in the environment: got 'more', expected"):
        NUMBER.of({})


def test_a_path_in_a_file_is_relative_to_the_file(scrapy_cfg, tmp_path):
    folder = Location("P", "sites", "")
    assert folder.of({}) == "sites"
    scrapy_cfg("[headroom]\nP = sites\nPCT = 50%\n")
    assert folder.of({}) == str(tmp_path / "sites")
    for text in ("/sites", "s3://bucket/path", ""):
        scrapy_cfg(f"[headroom]\nP = {text}\n")
        assert folder.of({}) == text


def test_the_projects_file_wins_over_the_users(scrapy_cfg, tmp_path):
    user = scrapy_cfg("[headroom]\nN = 1\nL = a\n", tmp_path / "user")
    scrapy_cfg("[settings]\ndefault = x\n")
    assert (NUMBER.of({}), WORDS.of({})) == (1, ("a",)), user
    scrapy_cfg("[headroom]\nN = 2\n")
    assert (NUMBER.of({}), WORDS.of({})) == (2, ("a",))


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("PASSWORD hunter22\n", 1),
        ("[headroom]\nN = 1\nPASSWORD hunter22\n", 3),
        ("[headroom]\nhunter22 = 1\nhunter22 = 2\n", 3),
        ("[hunter22]\n[hunter22]\n", 2),
    ],
)
def test_a_file_that_is_none_is_refused_by_name_and_line_and_not_quoted(scrapy_cfg, text, line):
    file = scrapy_cfg(text)
    with pytest.raises(HeadroomError) as caught:
        NUMBER.of({})
    assert str(caught.value).startswith(f"{file}, line {line}: ")
    assert "hunter22" not in str(caught.value)


def test_a_file_that_cannot_be_read_is_refused(tmp_path, scrapy_cfg):
    scrapy_cfg("", tmp_path / "user").unlink()
    (tmp_path / "user" / "scrapy.cfg").mkdir()
    with pytest.raises(HeadroomError, match=r"scrapy.cfg: can't be read: Is a directory$"):
        NUMBER.of({})
    (tmp_path / "user" / "scrapy.cfg").rmdir()
    (tmp_path / "user" / "scrapy.cfg").write_bytes(b"[headroom]\nN = \xe9\n")
    with pytest.raises(HeadroomError, match=r"scrapy.cfg: isn't UTF-8$"):
        NUMBER.of({})
