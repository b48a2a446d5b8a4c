"""The files sink: JSON lines, one file per worker and site, with no half line after a kill."""

from __future__ import annotations

import asyncio
import fcntl
import logging
import os
import platform
import re
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from pathlib import Path
from tempfile import TemporaryFile
from typing import TYPE_CHECKING, Any, ClassVar, Self

from crawler import config
from crawler.base import log_events, reasons
from crawler.base.errors import ConfigError, UnavailableError
from crawler.base.seldom import Seldom
from crawler.pipelines.sink import Record, Sink

if TYPE_CHECKING:
    from collections.abc import Mapping

    from crawler.base.log_events import EventLogger
    from crawler.base.reasons import Reason

REPAIR_BLOCK_BYTES = 64 * 1024  # how much of a file's end is read at a time in search of its last newline
MAX_PARTS = 1_000  # most lines and line ends in one system call; Linux takes 1,024

logger: EventLogger = logging.getLogger(__name__)


class FilesSink(Sink):
    """Appends each item as one line of JSON to `SITE.NODE.N.jsonl`, with `fsync` through to the disk.

    The word that further plans want an item goes to `SITE.also.NODE.N.jsonl`.

    N is the first number whose file no living process has locked, so a restarted worker goes on with the file of a dead
    one. What that one left of a line without its newline is cut off first. A batch is one write per site; when the disk
    is full, the file is cut back to its last whole line and the batch waits.
    """

    takes_also: ClassVar[bool] = True
    is_nodes_own: ClassVar[bool] = True
    in_flight: ClassVar[int] = 1  # one thread writes: two batches at once would tear each other's lines

    def __init__(self, folder: Path, node: str, *, fsync: bool) -> None:
        self._folder, self._node, self._fsync = folder, node, fsync
        self._files: dict[str, LinesFile] = {}  # by the beginning of their names, which is `SITE` or `SITE.also`
        self._warn = Seldom(logger.warning)
        self._repaired = False  # whether the files of dead workers were looked through
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="files-sink")  # the disk must not stop the event loop

    @classmethod
    def from_settings(cls, settings: Mapping[str, Any]) -> Self:
        """Builds the sink, and makes its folder.

        Raises:
            ConfigError: ITEMS_DIR can't be made or written to, or FILES_FSYNC is neither on nor off.
        """
        folder = _folder(settings)
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise ConfigError("ITEMS_DIR", str(folder), f"a folder ({error.strerror})") from None
        if not os.access(folder, os.W_OK | os.X_OK):
            raise ConfigError("ITEMS_DIR", str(folder), "a folder that may be written to")
        node = re.sub(r"[^a-z0-9_-]+", "-", platform.node().lower()) or "node"
        return cls(folder, node, fsync=config.FILES_FSYNC.of(settings))

    @classmethod
    def place(cls, settings: Mapping[str, Any]) -> str:
        """Returns the names of the files."""
        return f"{_folder(settings) / 'SITE'}.*.jsonl (ITEMS_DIR): an item on each line, a file for each worker"

    async def send(self, batch: list[Record]) -> Mapping[int, Reason]:
        """Writes a batch.

        Returns:
            The records of sites whose file can't be opened.

        Raises:
            UnavailableError: The disk takes no more. The files end with whole lines.
        """
        return await asyncio.get_running_loop().run_in_executor(self._thread, self._write, batch)

    async def prove(self) -> None:
        """Writes a line to a file without a name, which nobody sees and a kill doesn't leave behind.

        Raises:
            UnavailableError: The folder takes no new file.
        """
        await asyncio.get_running_loop().run_in_executor(self._thread, self._write_proof)

    async def close(self) -> None:
        """Closes the files, which lets other workers go on with them."""
        await asyncio.get_running_loop().run_in_executor(self._thread, self._close_files)
        self._thread.shutdown()

    def _write(self, batch: list[Record]) -> dict[int, Reason]:
        positions: dict[str, list[int]] = {}
        for position, record in enumerate(batch):
            if not record.done:
                stem = f"{record.site}.also" if record.is_also else record.site
                positions.setdefault(stem, []).append(position)
        refused: dict[int, Reason] = {}
        try:
            if not self._repaired:
                repair_folder(self._folder, self._node)
                self._repaired = True
            for stem, of_stem in positions.items():
                try:
                    file = self._open(stem)
                except OSError as error:
                    self._write_proof()
                    self._warn(log_events.FILES_NONE, stem, self._folder, error.strerror)
                    refused |= dict.fromkeys(of_stem, reasons.NO_FILE)
                    continue
                self._append(stem, file, [batch[position].value for position in of_stem])
                for position in of_stem:
                    batch[position].done = True
        except OSError as error:
            raise UnavailableError(f"{self._folder}: {error.strerror}") from None
        return refused

    def _open(self, stem: str) -> LinesFile:
        file = self._files.get(stem)
        if file is not None and file.gone:
            file.close()
            del self._files[stem]
            file = None
        if file is None:
            file = self._files[stem] = LinesFile.claim(self._folder, stem, self._node)
        return file

    def _append(self, stem: str, file: LinesFile, lines: list[bytes]) -> None:
        try:
            file.append(lines, fsync=self._fsync)
        except OSError:
            del self._files[stem]  # the next try opens it anew, which also repairs it
            file.close()
            raise

    def _write_proof(self) -> None:
        try:
            with TemporaryFile(dir=self._folder) as file:
                os.write(file.fileno(), b"\n")
        except OSError as error:
            raise UnavailableError(f"{self._folder}: {error.strerror}") from None

    def _close_files(self) -> None:
        for file in self._files.values():
            file.close()
        self._files.clear()


class LinesFile:
    """An open file of whole lines, locked against other processes until it is closed or this process is dead."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    @classmethod
    def claim(cls, folder: Path, stem: str, node: str) -> LinesFile:
        """Opens the first file of this stem and node that nobody has locked, made if need be, without a half line.

        Raises:
            OSError: The file can't be made or read.
        """
        for number in count(1):
            file = cls._lock(folder / f"{stem}.{node}.{number}.jsonl", os.O_CREAT)
            if file is not None:
                return file
        raise AssertionError  # count() has no end

    @classmethod
    def _lock(cls, path: Path, flags: int = 0) -> LinesFile | None:
        """Opens a file, locks it and cuts a half line off its end; None when another process has locked it."""
        descriptor = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW | flags, 0o644)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            _cut_tail(descriptor)
        except BlockingIOError:
            os.close(descriptor)
            return None
        except OSError:
            os.close(descriptor)
            raise
        return cls(descriptor)

    @classmethod
    def repair(cls, path: Path) -> None:
        """Cuts a half line off a file's end, unless a living process has locked the file.

        Raises:
            OSError: The file can't be read or cut.
        """
        file = cls._lock(path)
        if file is not None:
            file.close()

    @property
    def gone(self) -> bool:
        """Whether somebody has deleted the file: what is written to it would be lost."""
        return os.fstat(self._descriptor).st_nlink == 0

    def append(self, lines: list[bytes], *, fsync: bool) -> None:
        """Writes lines, which have no line ends yet.

        They aren't joined first: that would take their memory once more.

        Raises:
            OSError: The file is as it was.
        """
        start = os.fstat(self._descriptor).st_size
        parts = [part for line in lines for part in (line, b"\n")]
        first = 0  # the first of the parts that aren't written yet
        try:
            while first < len(parts):
                written = os.writev(self._descriptor, parts[first : first + MAX_PARTS])
                while first < len(parts) and written >= len(parts[first]):
                    written -= len(parts[first])
                    first += 1
                if written:  # a nearly full disk takes a part before it refuses
                    parts[first] = parts[first][written:]
            if fsync:
                os.fsync(self._descriptor)
        except OSError:
            os.ftruncate(self._descriptor, start)
            raise

    def close(self) -> None:
        """Closes the file, which unlocks it."""
        os.close(self._descriptor)


def _folder(settings: Mapping[str, Any]) -> Path:
    return Path(config.ITEMS_DIR.of(settings)).resolve()


def repair_folder(folder: Path, node: str) -> None:
    """Cuts half lines off the files that this machine's dead workers left. Living workers' files stay as they are.

    Raises:
        OSError: A file can't be read or cut.
    """
    ours = re.compile(rf"[a-z0-9_-]+(\.also)?\.{re.escape(node)}\.\d+\.jsonl")
    for path in folder.iterdir():
        if ours.fullmatch(path.name) and path.is_file() and not path.is_symlink():
            LinesFile.repair(path)


def _cut_tail(descriptor: int) -> None:
    """Cuts a file after its last newline; to nothing when it has none."""
    end = os.fstat(descriptor).st_size
    keep = end
    while keep > 0:
        start = max(0, keep - REPAIR_BLOCK_BYTES)
        newline = os.pread(descriptor, keep - start, start).rfind(b"\n")
        if newline >= 0:
            keep = start + newline + 1
            break
        keep = start
    if keep < end:
        os.ftruncate(descriptor, keep)
