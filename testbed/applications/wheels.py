"""Applications from Python's package index, each in an environment of its own in the project's cache."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

from crawler.base.errors import UnavailableError
from testbed.servers.process import ROOT

CACHE = ROOT / ".cache" / "applications"
INSTALL_SECONDS = 300.0  # of some twenty wheels; 10 to 20 s where the registry is near


def programs_of(name: str) -> Path:
    """Returns the folder of an application's programs; the first time, installs what `NAME.txt` beside this file pins.

    Raises:
        UnavailableError: It couldn't be installed.
    """
    pins = Path(__file__).with_name(f"{name}.txt")
    folder = CACHE / name
    stamp = folder / pins.name
    if not stamp.exists() or stamp.read_bytes() != pins.read_bytes():
        environment = [sys.executable, "-m", "venv", "--clear", str(folder)]
        pip = [str(folder / "bin" / "python"), "-m", "pip", "--quiet", "--disable-pip-version-check", "install"]
        for command in (environment, [*pip, "--no-deps", "--require-hashes", "-r", str(pins)]):
            done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=INSTALL_SECONDS)  # noqa: S603 -- constants
            if done.returncode:
                raise UnavailableError(f"{name}: {' '.join(command)}: {done.stderr.strip()[-300:]}")
        shutil.copy(pins, stamp)
    return folder / "bin"
