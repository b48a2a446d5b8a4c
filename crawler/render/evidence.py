"""Pictures of pages on which a step failed, for the person who wrote the steps."""

from __future__ import annotations

import contextlib
import logging
from pathlib import Path
from typing import TYPE_CHECKING

from crawler.base import log_events
from crawler.base.seldom import Seldom

if TYPE_CHECKING:
    from crawler.base.log_events import EventLogger
    from crawler.render.errors import StepFailedError

logger: EventLogger = logging.getLogger(__name__)

MAX_PICTURES = 200  # most pictures in a folder; with at most 1 MB each they take 200 MB
SUFFIX = ".step.jpg"  # the end of a picture's name; no other file of the folder is ever removed
_warn = Seldom(logger.warning).__call__


def save(error: StepFailedError, folder: str, name: str) -> str:
    """Writes the picture of a failed step, over that of the step's last failure; the oldest ones make room.

    Args:
        folder: The setting BROWSER_EVIDENCE_DIR; empty: no picture is kept.
        name: Of the steps: a site's, and for which of its pages they are. The step's number makes it the file's.

    Returns:
        Where it is; empty: there is none.
    """
    if not folder or not error.screenshot:
        return ""
    path = Path(folder, f"{name}-{error.number}{SUFFIX}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(error.screenshot)
        _make_room(path.parent)
    except OSError as failure:
        _warn(log_events.EVIDENCE_NOT_KEPT, folder, failure.strerror)
        return ""
    return str(path)


def _make_room(folder: Path) -> None:
    pictures = list(folder.glob(f"*{SUFFIX}"))
    if len(pictures) <= MAX_PICTURES:
        return
    by_age: list[tuple[float, Path]] = []
    for picture in pictures:
        with contextlib.suppress(FileNotFoundError):  # another worker has just removed it
            by_age.append((picture.stat().st_mtime, picture))
    for _, picture in sorted(by_age)[:-MAX_PICTURES]:
        picture.unlink(missing_ok=True)
