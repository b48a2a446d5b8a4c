"""Everybody's environments: each in a folder of its own, with exactly the versions that its requirements pin."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from crawler.base.errors import UnavailableError

HERE = Path(__file__).parent
ROOT = HERE.parent.parent
CACHE = ROOT / ".cache" / "bench"
INSTALL_SECONDS = 600.0  # over a slow line
GO_FOLDER = "/usr/local/go/bin"  # where Go's own archive puts it


def peer_python(peer: str) -> str:
    """Returns the Python of a peer's environment, which is made where it isn't there as its requirements say.

    Raises:
        UnavailableError: It can't be made.
    """
    return _python(peer, HERE / "requirements" / f"{peer}.txt")


def our_python() -> str:
    """Returns the Python of an environment with what Headroom needs to run, and nothing of what its developers do.

    Tools for tests are in the way of a fair measurement: some add commands to Scrapy, which imports them all.

    Raises:
        UnavailableError: It can't be made.
    """
    return _python("headroom", ROOT / "requirements.txt")


def run_folder(benchmark: str) -> Path:
    """Makes a folder for one run of a benchmark, with what it is above it: nothing may have been installed yet."""
    CACHE.mkdir(parents=True, exist_ok=True)
    return Path(tempfile.mkdtemp(prefix=f"{benchmark}-", dir=CACHE))


def _python(name: str, pins: Path) -> str:
    folder = CACHE / name
    program, stamp = folder / "bin" / "python", folder / "installed.txt"
    if not stamp.exists() or stamp.read_text() != pins.read_text():
        print(f"Installing {name}", flush=True)
        _run([sys.executable, "-m", "venv", "--clear", str(folder)])
        _run([str(program), "-m", "pip", "-q", "--disable-pip-version-check", "install", "--no-deps", "-r", str(pins)])
        shutil.copyfile(pins, stamp)  # last: what stops an install, lets the next one begin again
    return str(program)


def colly() -> str:
    """Returns the crawler on colly, built anew where its source has changed.

    Raises:
        UnavailableError: There is no Go, or it can't be built.
    """
    path = os.pathsep.join((os.environ.get("PATH", os.defpath), GO_FOLDER))
    go = shutil.which("go", path=path)
    if go is None:
        raise UnavailableError(f"go is neither on PATH nor in {GO_FOLDER}")
    source, folder = HERE / "peers" / "colly", CACHE / "colly"
    # Its caches are here, whatever HOME is, and writable, so that `make clean` can remove them.
    environment = {
        **os.environ,
        "GOPATH": str(folder / "go"),
        "GOCACHE": str(folder / "cache"),
        "GOFLAGS": "-mod=readonly -modcacherw -buildvcs=false",
        "GOTOOLCHAIN": "local",
        "CGO_ENABLED": "0",
    }
    program = folder / "crawl"
    _run([go, "build", "-o", str(program), "."], directory=source, environment=environment)
    return str(program)


def _run(words: list[str], *, directory: Path | None = None, environment: dict[str, str] | None = None) -> None:
    try:
        done = subprocess.run(
            words, cwd=directory, env=environment, capture_output=True, timeout=INSTALL_SECONDS, check=False
        )
    except subprocess.TimeoutExpired:
        raise UnavailableError(f"{' '.join(words)} takes more than {INSTALL_SECONDS:g} s") from None
    if done.returncode:
        last = done.stderr.decode(errors="replace").strip().splitlines()[-1:]
        raise UnavailableError(f"{' '.join(words)} failed: {' '.join(last)}")
