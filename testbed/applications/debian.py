"""Debian's packages, unpacked into the project's cache: nothing of the machine changes, and nobody needs to be root."""

from __future__ import annotations

import shutil
import subprocess
from typing import TYPE_CHECKING

from crawler.base.errors import UnavailableError
from testbed.servers.process import ROOT

if TYPE_CHECKING:
    from pathlib import Path

CACHE = ROOT / ".cache" / "applications"
FETCH_SECONDS = 120.0


def unpacked(package: str, *needed: str) -> Path:
    """Returns the folder in which a package lies as it would under `/`; the first time, fetches it.

    Args:
        needed: Further packages that are unpacked into the same folder, such as its libraries.

    Raises:
        UnavailableError: This isn't Debian, or a package can't be had.
    """
    folder = CACHE / package
    if folder.exists():
        return folder
    if not (shutil.which("apt-get") and shutil.which("dpkg-deb")):
        raise UnavailableError(f"{package}: it comes from Debian's packages, and there is no apt-get here")
    fetched = CACHE / f"{package}.part"
    shutil.rmtree(fetched, ignore_errors=True)
    (fetched / "root").mkdir(parents=True)
    _run(["apt-get", "download", package, *needed], fetched)
    for file in fetched.glob("*.deb"):
        _run(["dpkg-deb", "--extract", str(file), "root"], fetched)
    (fetched / "root").rename(folder)  # the last step, so that what stops it lets the next one begin again
    shutil.rmtree(fetched)
    return folder


def _run(command: list[str], folder: Path) -> None:
    done = subprocess.run(  # noqa: S603 -- constants
        command, cwd=folder, capture_output=True, text=True, check=False, timeout=FETCH_SECONDS
    )
    if done.returncode:
        raise UnavailableError(f"{' '.join(command)}: {done.stderr.strip()[-300:]}; `apt-get update` may be needed")
