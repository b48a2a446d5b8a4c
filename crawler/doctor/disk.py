"""The folders that a worker writes to: may it, and is there room?"""

from __future__ import annotations

import asyncio
import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

from crawler import config
from crawler.doctor.finding import Finding, advice, ok, stop, worst

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

GIGABYTE = 1_000_000_000
# A page's item is some 10 kB, so this is some ten minutes of a busy worker; an image, or a log, takes more.
FULL_BYTES = 100_000_000
ANSWER_SECONDS = 2.0  # how long a disk may take, which answers within ms; a file server that is away never does
LITTLE_BYTES = 5 * GIGABYTE  # less free space than this is little: a day or so of one worker without images


async def disk(settings: Mapping[str, Any]) -> Finding:
    """Looks at the folders of items, of images and videos, and of JOBDIR."""
    folders = dict(_folders(settings))
    names = ", ".join(f"{name} {folder}" for name, folder in folders.items())
    findings = await asyncio.gather(*(_look_at(name, folder) for name, folder in folders.items()))
    return worst(findings, f"room in {names}" if names else "none is written to")


async def _look_at(name: str, folder: Path) -> Finding:
    """Returns how it stands with a folder, also where its disk, such as a file server's, doesn't answer."""
    try:
        async with asyncio.timeout(ANSWER_SECONDS):
            return await asyncio.to_thread(judge_folder, name, folder)
    except TimeoutError:
        return stop(
            f"{name}: the disk of {folder} doesn't answer within {ANSWER_SECONDS:g} s, and a worker would wait, too: "
            "see the server that it is on, or name another folder"
        )


def _folders(settings: Mapping[str, Any]) -> Iterator[tuple[str, Path]]:
    if "files" in config.ITEM_SINKS.of(settings):
        yield "ITEMS_DIR", Path(config.ITEMS_DIR.of(settings))
    store = config.FILES_STORE.of(settings)
    if store and "://" not in store:
        yield "FILES_STORE", Path(store)
    if jobs := settings.get("JOBDIR"):
        yield "JOBDIR", Path(str(jobs))


def judge_folder(name: str, folder: Path) -> Finding:
    """Returns how it stands with a folder, which needn't be there yet, that a setting names."""
    there = next(place for place in (folder, *folder.absolute().parents) if os.path.exists(place))  # noqa: PTH110 -- False in a folder that this user may not look into
    if not there.is_dir() or not os.access(there, os.W_OK | os.X_OK):
        return stop(f"{name}: {there} can't be written to: claims stop; make it a folder that this user may write to")
    free = shutil.disk_usage(there).free
    room = f"{name}: {free / GIGABYTE:,.1f} GB are free on the disk of {folder}"
    if free < FULL_BYTES:
        return stop(f"{room}: when it is full, claims stop; make room, or name another folder")
    if free < LITTLE_BYTES:
        return advice(f"{room}: make room before it is full, or name another folder")
    return ok(room)
