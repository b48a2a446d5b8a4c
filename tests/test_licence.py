"""What is said of the licence reaches whoever installs the wheel."""

from __future__ import annotations

import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

ROOT = Path(__file__).parent.parent
BUILD = "from setuptools import build_meta; print(build_meta.build_wheel('dist'))"


def test_the_wheel_holds_the_licence_and_names_it(tmp_path):
    (tmp_path / "crawler").mkdir()
    for path in ("pyproject.toml", "README.md", "LICENSE", "crawler/__init__.py"):  # a build writes beside its sources
        shutil.copy(ROOT / path, tmp_path / path)
    done = subprocess.run([sys.executable, "-c", BUILD], cwd=tmp_path, capture_output=True, text=True, check=True)
    with zipfile.ZipFile(tmp_path / "dist" / done.stdout.splitlines()[-1]) as wheel:
        (licence,) = (name for name in wheel.namelist() if name.endswith(".dist-info/licenses/LICENSE"))
        assert "the Headroom authors" in wheel.read(licence).decode()
        assert "License-Expression: MIT" in wheel.read(licence.replace("licenses/LICENSE", "METADATA")).decode()
