"""Where the whole of an item is found of which Kafka has only a part: in MongoDB, or as a file in the media store."""

from __future__ import annotations

import os
from hashlib import blake2b
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import TYPE_CHECKING, Any, Self

import orjson

from crawler import config
from crawler.base.errors import ConfigError, UnavailableError

if TYPE_CHECKING:
    from collections.abc import Mapping

FOLDER = "items"  # the folder within FILES_STORE; the folders of media have two characters


class WholeItems:
    """Keeps whole items, one file for each, and says where they are.

    Args:
        store: The media store's folder; None: MongoDB has each item before Kafka is asked to take it.
    """

    def __init__(self, store: Path | None) -> None:
        self._store = store

    @classmethod
    def from_settings(cls, settings: Mapping[str, Any]) -> Self:
        """Finds the place; nothing is written yet.

        Raises:
            ConfigError: There is none.
        """
        if "mongo" in config.ITEM_SINKS.of(settings) and "mongo" not in _own_sinks(settings):
            return cls(None)
        store = config.FILES_STORE.of(settings)
        if not store or "://" in store:
            expected = "cut or fail, where neither ITEM_SINKS has mongo nor FILES_STORE is a folder"
            raise ConfigError("KAFKA_TOO_LARGE", "reference", expected)
        return cls(Path(store))

    def keep(self, value: bytes) -> bytes:
        """Returns an item's message with the reference by which the whole item is found, and sees that it is there.

        A later version of the item takes the place of this one, so that there is one file for each page at most.

        Raises:
            UnavailableError: The folder takes nothing.
        """
        message: dict[str, Any] = orjson.loads(value)
        if self._store is None:
            return orjson.dumps(message | {"whole": f"mongo:items/{message['id']}"})
        # A digest, since an item may come from a spider that takes its id from a page.
        name = blake2b(message["id"].encode(), digest_size=16).hexdigest()
        path = f"{FOLDER}/{name[:2]}/{name}.json"
        try:
            _write(self._store / path, value)
        except OSError as error:
            raise UnavailableError(f"the media store takes no whole items: {error.strerror}") from error
        return orjson.dumps(message | {"whole": f"file:{path}"})


def _own_sinks(settings: Mapping[str, Any]) -> set[str]:
    """Returns the names of sinks that the project has put in the place of others."""
    own = config.SINKS.of(settings)
    return {name for name, path in own.items() if config.SINKS.default.get(name) != path}


def _write(path: Path, value: bytes) -> None:
    """Writes a file through to the disk; whoever reads it meanwhile finds the one before, or none."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with NamedTemporaryFile(dir=path.parent, prefix=".", delete=False) as file:
        try:
            file.write(value)
            file.flush()
            os.fsync(file.fileno())
            # Other files of the store have this mode; temporary ones are their owner's alone.
            Path(file.name).chmod(0o644)
            Path(file.name).replace(path)
        except BaseException:
            Path(file.name).unlink(missing_ok=True)
            raise
