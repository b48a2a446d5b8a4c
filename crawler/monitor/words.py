"""What the monitor says, in each of its languages: a file of messages for each in `messages/`."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import Any

import yaml

from crawler.cli import host_status
from crawler.cluster import troubles

# Code -> how the language calls itself; the first is that of whoever asks for none.
LANGUAGES = {"en": "English", "zh": "中文"}


class Messages:
    """The messages of one language.

    Args:
        messages: Key -> text, in which `{name}` stands for a value.
    """

    def __init__(self, language: str, messages: dict[str, str]) -> None:
        self.language = language
        self.messages = messages

    def __call__(self, key: str, **values: Any) -> str:
        """Returns a message with its values; they are put in as they are, so whoever shows the text escapes it."""
        return self.messages[key].format(**values)

    def known(self, key: str, otherwise: str) -> str:
        """Returns a message that may be missing, such as that of a reason that another version has."""
        return self.messages.get(key, otherwise)


@cache
def words_of(language: str) -> Messages:
    """Returns the messages of one of LANGUAGES."""
    text = files("crawler.monitor").joinpath("messages", f"{language}.yaml").read_text(encoding="utf-8")
    messages: dict[str, str] = yaml.safe_load(text)
    if language == "en":
        messages |= {f"trouble.{kind}": sentence for kind, sentence in troubles.WORDS.items()}
        messages |= {f"why.{kind}": sentence for kind, sentence in host_status.WHY.items()}
    return Messages(language, messages)


def preferred(accept_language: str) -> str:
    """Returns the first of LANGUAGES that a browser's header asks for, in the order of its preference."""
    languages = []
    for position, part in enumerate(accept_language[:1000].split(",")):
        name, _, weight = part.strip().partition(";q=")
        try:
            languages.append((-float(weight or 1), position, name.partition("-")[0].lower()))
        except ValueError:
            continue
    return next((name for _weight, _position, name in sorted(languages) if name in LANGUAGES), next(iter(LANGUAGES)))
