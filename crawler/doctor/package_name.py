"""Other packages called `crawler`: of several, Python imports the one that it finds first."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import crawler
from crawler.doctor.finding import Finding, advice, ok

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

OURS = Path(crawler.__file__).resolve().parent


async def package_name(_settings: Mapping[str, Any]) -> Finding:
    """Looks through the folders in which this process looks for packages."""
    return await asyncio.to_thread(judge_package_name, sys.path)


def judge_package_name(folders: Iterable[str]) -> Finding:
    """Returns what it means that Python looks into these folders, one after the other."""
    for folder in folders:
        for place in (Path(folder, "crawler"), Path(folder, "crawler.py")):
            is_package = (place / "__init__.py").is_file() or (place.suffix == ".py" and place.is_file())
            if is_package and place.resolve() != OURS:
                return advice(
                    f"Headroom's package `crawler` at {OURS} hides another one at {place.resolve()}: a process that "
                    "starts in another folder may get that one; rename it, or give Headroom an environment of its own"
                )
    return ok(f"no other package is called `crawler` ({OURS})")
