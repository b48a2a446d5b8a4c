"""Runs the tests that touch Scrapy on each version of Scrapy and of Python, and Scrapy's own on ours: `make matrix`.

Each pair has a virtual environment of its own in .cache/matrix, with the packages that requirements-dev.txt pins, but
for Scrapy. One pair runs after the other, since tests wait for each other's processor time otherwise. By default each
version of Scrapy runs on the oldest Python found, and the newest Scrapy on each other Python; `--all` runs all pairs.
Scrapy's own tests (scrapy_suite.py) run on each version that has the fast engine, with the oldest Python.
Prints tables; the exit status is 1 if a pair or an engine fails.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import scrapy_suite

ROOT = Path(__file__).parent.parent
CACHE = ROOT / ".cache" / "matrix"
UV = ROOT / ".cache" / "lock" / "bin" / "uv"  # the Makefile installs it
SUITE_TOOLS = Path(__file__).with_name("scrapy_suite.txt")
SCRAPY_VERSIONS = ("2.16.0", "2.17.0", "2.18.0", "2.19.0")  # the newest release of each minor version, oldest first
PYTHON_VERSIONS = ("3.11", "3.12", "3.13", "3.14")
# What runs Scrapy, or a part of ours in Scrapy's place. The tests of the frontier, plans, sites and extraction don't.
TESTS = (
    "tests/fast",
    "tests/spiders",
    "tests/middlewares",
    "tests/from_scrapy_redis",
    "tests/own_spiders",
    "tests/pipelines/test_media.py",
    "tests/download/test_handler.py",
    "tests/commands/test_crawl.py",
    "tests/test_addon.py",
    "tests/config/test_crawl_settings.py",
    "tests/test_scheduler.py",
    "tests/base/test_scrapy_private.py",
    "tests/end_to_end/test_workers.py",
)
PAIR_SECONDS = 3_600  # ten times what a pair takes on an idle machine
PINNED = re.compile(r"([A-Za-z0-9._-]+)(\[.*\])?==")  # a line of a package; its hashes follow on lines of their own


def main() -> int:
    """Runs the pairs that the command line chooses."""
    parser = argparse.ArgumentParser(description="the tests that touch Scrapy, on several versions of it and of Python")
    parser.add_argument("--all", action="store_true", help="all pairs of versions, not a row and a column")
    parser.add_argument("--scrapy", nargs="+", default=SCRAPY_VERSIONS, metavar="VERSION", help="only these")
    parser.add_argument("--python", nargs="+", default=PYTHON_VERSIONS, metavar="VERSION", help="only these")
    parser.add_argument("tests", nargs="*", metavar="TEST", help="other tests than the usual ones")
    parser.add_argument("--only", choices=["ours", "scrapys"], help="these tests alone; the others need all of an hour")
    options = parser.parse_args()
    pythons = {version: path for version in options.python if (path := find_python(version))}
    if not pythons:
        parser.error(f"no Python of these is here: {', '.join(options.python)}")
    oldest = next(iter(pythons))
    rows = []
    for scrapy, python in pairs(options.scrapy, list(pythons), whole=options.all):
        folder = CACHE / f"scrapy{scrapy}-python{python}"
        folder.mkdir(parents=True, exist_ok=True)
        verdicts = []
        if options.only != "scrapys":
            verdicts.append(("ours", *run_ours(folder, scrapy, pythons[python], options.tests or TESTS)))
        if options.only != "ours" and python == oldest and scrapy in scrapy_suite.SDIST_SHA256:
            verdicts += run_scrapys(folder, scrapy, pythons[python], options.tests or scrapy_suite.TESTS)
        for verdict in verdicts:
            print(f"Scrapy {scrapy}, Python {python}, {': '.join(verdict)}", flush=True)
            rows.append((scrapy, python, *verdict))
    print("\n| Scrapy | Python | tests | | |\n|---|---|---|---|---|")
    for row in rows:
        print("| {} | {} | {} | {} | {} |".format(*row))
    if missing := [version for version in options.python if version not in pythons]:
        print(f"\nNot on this machine: Python {', '.join(missing)}")
    return int(any(row[3] != "pass" for row in rows))


def pairs(scrapys, pythons, *, whole):
    """Returns the pairs to run: all, or each Scrapy on the oldest Python and the newest Scrapy on each Python."""
    oldest, newest = pythons[0], scrapys[-1]
    return [
        (scrapy, python) for scrapy in scrapys for python in pythons if whole or python == oldest or scrapy == newest
    ]


def find_python(version):
    """Returns a Python of that version, of the PATH or of pyenv; None where there is none that can make a venv."""
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    found = [shutil.which(f"python{version}"), *map(str, sorted(pyenv.glob(f"{version}.*/bin/python"), reverse=True))]
    probe = f"import ensurepip, sys; sys.exit(sys.version_info[:2] != {tuple(map(int, version.split('.')))})"
    for path in filter(None, found):
        if subprocess.run([path, "-c", probe], check=False, capture_output=True).returncode == 0:
            return path
    return None


def run_ours(folder, scrapy, interpreter, tests):
    """Installs a pair and runs our tests; returns `pass` or `FAIL`, and how they ended in a line."""
    with (folder / "log.txt").open("w") as log:
        try:
            install(folder, scrapy, interpreter, log)
        except subprocess.CalledProcessError:
            return "FAIL", f"can't be installed: {log.name}"
        bin_folder = folder / "venv" / "bin"
        command = [
            bin_folder / "python",
            "-m",
            "pytest",
            "-q",
            "-m",
            "not faults or matrix",
            "-p",
            "no:cacheprovider",
            *tests,
        ]
        environment = os.environ | {"PATH": os.pathsep.join([str(bin_folder), os.environ["PATH"]])}
        options = {"cwd": ROOT, "stdout": log, "stderr": log, "env": environment, "timeout": PAIR_SECONDS}
        try:
            status = subprocess.run(command, check=False, **options).returncode
        except subprocess.TimeoutExpired:
            return "FAIL", f"not done after {PAIR_SECONDS} s: {log.name}"
    summary = Path(log.name).read_text(errors="replace").rstrip().rpartition("\n")[2].strip("= ")
    place = "" if status == 0 else f"; {Path(log.name).relative_to(ROOT)}"
    return "pass" if status == 0 else "FAIL", f"{summary}{place}"


def run_scrapys(folder, scrapy, interpreter, tests):
    """Installs a pair, with what Scrapy's own tests need, and runs those; returns rows of (tests, verdict, summary)."""
    tools = ["pip", "install", "--quiet", "--require-hashes", "--requirements", str(SUITE_TOOLS)]
    try:
        with (folder / "log.txt").open("a") as log:
            install(folder, scrapy, interpreter, log)
            python = folder / "venv" / "bin" / "python"
            subprocess.run([UV, *tools, "--python", python], check=True, stdout=log, stderr=log)
        return scrapy_suite.run(scrapy, python, folder / "suite", tests)
    except (subprocess.SubprocessError, RuntimeError) as error:
        return [("Scrapy's", "FAIL", f"{error}; {log.name}")]


def install(folder, scrapy, interpreter, log):
    """Makes the pair's environment: what requirements-dev.txt pins, with another Scrapy, and this tree."""
    lines = (ROOT / "requirements-dev.txt").read_text(encoding="utf-8").splitlines()
    pinned = [(pin[1], line.rstrip(" \\")) for line in lines if (pin := PINNED.match(line))]
    pins = [f"scrapy=={scrapy}", *(pin for name, pin in pinned if name.lower() != "scrapy")]
    (folder / "pins.txt").write_text("\n".join(pins) + "\n")
    venv = folder / "venv"
    python = ["--python", str(venv / "bin" / "python")]
    for words in (
        ["venv", "--quiet", "--allow-existing", "--python", interpreter, str(venv)],
        ["pip", "sync", "--quiet", *python, str(folder / "pins.txt")],
        ["pip", "install", "--quiet", "--no-deps", "--no-build-isolation", *python, "--editable", str(ROOT)],
    ):
        subprocess.run([UV, *words], check=True, stdout=log, stderr=log)


if __name__ == "__main__":
    sys.exit(main())
