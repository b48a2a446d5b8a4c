"""This project's settings module: it stands in for no other code."""

from __future__ import annotations

import sys
import zipfile

import pytest

from crawler import settings


@pytest.mark.parametrize("package", ["crawler", "shop"])
def test_it_hides_no_egg_that_holds_headroom(tmp_path, monkeypatch, package):
    egg = tmp_path / "1.egg"
    with zipfile.ZipFile(egg, "w") as file:
        file.writestr(f"{package}/__init__.py", "")
    monkeypatch.setattr(sys, "path", [*sys.path, str(egg)])
    if package == "shop":
        settings._refuse_to_hide_an_egg()
        return
    with pytest.raises(SystemExit, match=f"hides the one in the egg {egg}"):
        settings._refuse_to_hide_an_egg()
