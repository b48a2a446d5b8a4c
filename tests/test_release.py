"""The version of the code, the changelog's, and the release that upgrades are tried from agree."""

from __future__ import annotations

import re
from datetime import date

from packaging.version import Version
from releases import PREVIOUS, ROOT

from crawler import __version__

HEADINGS = re.findall(r"^## (.*)$", (ROOT / "CHANGELOG.md").read_text("utf-8"), re.MULTILINE)


def test_the_changelog_has_what_is_unreleased_and_then_dated_versions_newest_first():
    unreleased, *released = HEADINGS
    assert unreleased == "Unreleased"
    versions, dates = zip(*(heading.split(" - ") for heading in released), strict=True)
    assert [Version(one) for one in versions] == sorted(map(Version, versions), reverse=True)
    assert [date.fromisoformat(one) for one in dates] == sorted(map(date.fromisoformat, dates), reverse=True)


def test_upgrades_are_tried_from_the_newest_release_before_this_code():
    released = [heading.split(" - ")[0] for heading in HEADINGS[1:]]
    before = [version for version in released if Version(version) < Version(__version__)]
    assert before[0] == PREVIOUS
    assert Version(__version__).is_devrelease or __version__ in released
