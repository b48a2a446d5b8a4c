"""What the monitor says, in each of its languages."""

from __future__ import annotations

import re
import string
from pathlib import Path

import pytest

from crawler import monitor
from crawler.monitor.words import LANGUAGES, preferred, words_of

FOLDER = Path(monitor.__file__).parent
ENGLISH = words_of("en").messages


def values_of(text):
    return {name for _text, name, _form, _conversion in string.Formatter().parse(text) if name}


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_language_has_all_messages_with_the_same_values(language):
    messages = words_of(language).messages
    assert messages.keys() == ENGLISH.keys()
    for key, text in messages.items():
        assert isinstance(text, str), key
        assert values_of(text) == values_of(ENGLISH[key]), key


def test_every_message_that_is_asked_for_is_there_and_none_is_left_over():
    sources = "".join(path.read_text("utf-8") for path in FOLDER.rglob("*.*") if path.suffix in (".py", ".html"))
    asked = set(re.findall(r"""(?:\bt|words)\(\s*["']([\w.-]+)["']""", sources))
    assert asked - ENGLISH.keys() == {name for name in asked if name.endswith(".")}
    beginnings = set(re.findall(r"""["']([\w-]+\.)["'] ~""", sources)) | set(re.findall(r'f"([\w-]+\.){', sources))
    named = set(re.findall(r"""["']([\w.-]+)["']""", sources))
    for key in ENGLISH:
        assert key in named or any(key.startswith(beginning) for beginning in beginnings), key


@pytest.mark.parametrize(
    ("header", "language"),
    [
        ("", "en"),
        ("zh-TW,zh;q=0.9", "zh"),
        ("fr;q=x, zh", "zh"),
        ("zh;q=0.1,en;q=0.2", "en"),
        ("de", "en"),
        (",;", "en"),
    ],
)
def test_the_language_that_a_browser_prefers(header, language):
    assert preferred(header) == language
